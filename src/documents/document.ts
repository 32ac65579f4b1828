/**
 * The documents that REST serves, one schema each. The types of the server, the page and netctl, the OpenAPI
 * document and the tables of docs/rest.md come from it. A schema and its type have one name.
 */
import { type Static, type TSchema, Type } from 'typebox';

/** The type of a document, which is read-only. The server may set a field to undefined to leave it out. */
export type DocumentOf<S extends TSchema> = ReadOnly<Static<S>>;

type ReadOnly<T> = T extends readonly (infer E)[]
  ? readonly ReadOnly<E>[]
  : T extends object
    ? { readonly [K in keyof T]: ReadOnly<T[K]> | UndefinedIfOptional<T, K> }
    : T;

type UndefinedIfOptional<T, K extends keyof T> = object extends Pick<T, K> ? undefined : never;

/** @param description what the value is, and what null means */
export function orNull<T extends TSchema>(schema: T, description: string) {
  return Type.Union([schema, Type.Null()], { description });
}

/** Names by which something is listed, such as policies. */
export function texts(description: string) {
  return Type.Array(Type.String(), { description });
}

/** @param description what the text says, and what an empty one means */
export function text(description: string) {
  return Type.String({ description });
}

export function count(description: string) {
  return Type.Integer({ minimum: 0, description });
}
