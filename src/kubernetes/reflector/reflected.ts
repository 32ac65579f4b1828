/** Results of reflection: values of the datastore, and what they are made for. */
import type { AnyResource, Resource } from '../resources/resources.ts';

/** One value as it stands in the datastore. */
export interface Reflected {
  readonly resource: AnyResource;
  /** Without the reflector's prefix. */
  readonly key: string;
  /** Canonical. */
  readonly value: object;
}

export function reflected<T extends object>(resource: Resource<T>, value: T): Reflected {
  return { resource, key: resource.model.key(value), value };
}

/**
 * Who reads the values.
 * - `mixed`: also agents of the original, which refuse a value with a field that they do not know.
 *   Fields of ours are written where the object asks for something that must be so and that the
 *   original cannot express, and nowhere else.
 * - `own`: agents of this project only. Also written are preferences, and what nearly every object
 *   has: neither would be worth a value that the others refuse.
 */
export type Readers = 'mixed' | 'own';
