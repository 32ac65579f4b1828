/** Results of reflection: values for the datastore, and the kind of their readers. */
import type { AnyResource, Resource } from '../resources/resources.ts';

/** One value for the datastore. */
export interface Reflected {
  readonly resource: AnyResource;
  /** Without the reflector's prefix. */
  readonly key: string;
  /** Canonical. */
  readonly value: object;
  /** Preference of the object that the value leaves out, for `mixed` readers. */
  readonly omitted?: string | undefined;
}

export function reflected<T extends object>(resource: Resource<T>, value: T): Reflected {
  return { resource, key: resource.model.key(value), value };
}

/**
 * The agents that read the values.
 * - `mixed`: also agents of the original, which reject a value with an unknown field. New fields are
 *   written only if the object has a requirement that the original cannot express.
 * - `own`: only agents of this project. New fields are also written for preferences, and for data of
 *   nearly all objects: neither justifies a value that agents of the original reject.
 */
export type Readers = 'mixed' | 'own';
