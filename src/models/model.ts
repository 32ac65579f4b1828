/**
 * A model is one kind of configuration value: its protobuf message, the keys of its values, and their
 * canonical form. Canonical means: all scalars and lists are present (defaults are filled in), unset
 * sub-messages are absent, enums are their names, addresses and MACs have one spelling, unordered
 * lists are sorted, and values are immutable. Two values are equal exactly when their canonical
 * forms are deeply equal.
 * Field names are those of the .proto files, as in etcd.
 */
import { defineError } from '#infra/errors/errors.ts';
import type { Secret } from './secret.ts';

export interface Model<T extends object> {
  /** Full protobuf name, for example `ligato.vpp.interfaces.Interface`. */
  readonly typeName: string;
  /** Common prefix of all keys of the model, without agent or reflector prefix. */
  readonly keyPrefix: string;
  /** The key of this value. */
  key(value: T): string;
  /**
   * The canonical form of JSON data (proto or lowerCamel field names, as Go's jsonpb accepts) or of an
   * incomplete object. Deeply frozen.
   * @param where the key, file or request for the error
   * @throws InvalidModelError for unknown fields, wrong types, unknown enum names, bad addresses
   */
  canonical(input: DeepInput<T>, where?: string): T;
  /** `canonical` for data of unknown shape, such as JSON from the datastore. */
  parse(input: unknown, where?: string): T;
  /** JSON as the Go agent writes it: proto names, without defaults, 64-bit integers as strings. Secrets are masked. */
  toJson(value: T): unknown;
  /** The same with the texts of secrets: for the datastore. */
  toStored(value: T): unknown;
}

/** Input for a canonical value: all fields are optional. */
export type DeepInput<T> = T extends readonly (infer E)[]
  ? readonly DeepInput<E>[]
  : T extends object
    ? { readonly [K in keyof T]?: InputField<T[K]> | undefined }
    : T;

type InputField<V> = V extends Secret ? Secret | string : DeepInput<V>;

// biome-ignore lint/suspicious/noExplicitAny: models of many value types are in one list
export type AnyModel = Model<any>;

export const InvalidModelError = defineError({
  name: 'InvalidModelError',
  code: 'CV_MODEL_INVALID',
  remedy: 'Correct the value under the named key or file; it is ignored until it changes.',
});
