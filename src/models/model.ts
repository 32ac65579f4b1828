/**
 * A model is one kind of configuration value: its protobuf message, the keys under which its values
 * stand, and its canonical form. Canonical means: every scalar and list is present (defaults filled
 * in), sub-messages that are not set are absent, enums are their names, addresses and MACs have
 * their one spelling, lists without an order are sorted, and nothing is ever changed after it was
 * made. Two values are equal exactly when their canonical forms are deeply equal.
 * Field names are those of the .proto files, as in etcd.
 */
import { defineError } from '#infra/errors/errors.ts';

export interface Model<T extends object> {
  /** Full protobuf name, for example `ligato.vpp.interfaces.Interface`. */
  readonly typeName: string;
  /** All keys of the model begin with it; no agent or reflector prefix. */
  readonly keyPrefix: string;
  /** The key under which this value stands. */
  key(value: T): string;
  /**
   * Makes the canonical form from JSON data (proto or lowerCamel field names, as Go's jsonpb reads
   * them) or from an incomplete object in code. Frozen deeply.
   * @param where the key, file or request to name in the error
   * @throws InvalidModelError for unknown fields, wrong types, unknown enum names, bad addresses
   */
  canonical(input: DeepInput<T>, where?: string): T;
  /** `canonical` for data of unknown shape, such as JSON out of the datastore. */
  parse(input: unknown, where?: string): T;
  /** JSON as the Go agent writes it: proto names, defaults left out, 64-bit integers as strings. */
  toJson(value: T): unknown;
}

/** What code may hand in where a canonical value is wanted: any part may be left out. */
export type DeepInput<T> = T extends readonly (infer E)[]
  ? readonly DeepInput<E>[]
  : T extends object
    ? { readonly [K in keyof T]?: DeepInput<T[K]> | undefined }
    : T;

// biome-ignore lint/suspicious/noExplicitAny: models of many value types stand in one list
export type AnyModel = Model<any>;

export const InvalidModelError = defineError({
  name: 'InvalidModelError',
  code: 'CV_MODEL_INVALID',
  remedy: 'Correct the value under the named key or file; it is skipped until it changes.',
});
