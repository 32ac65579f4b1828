import type { ObjectName } from '../api-server/api.ts';

export interface DatedObject {
  readonly name: ObjectName;
  /** `metadata.creationTimestamp`, which no change of the object changes. */
  readonly created: string;
}

/**
 * Of objects that have one name in several namespaces, and therefore one record, the one that the record is
 * made from: the oldest, of equally old ones that of the first namespace. Events of the others change nothing.
 */
export function objectInUse<T extends DatedObject>(objects: Iterable<T>): T | undefined {
  let first: T | undefined;
  for (const one of objects) if (first === undefined || isBefore(one, first)) first = one;
  return first;
}

function isBefore(one: DatedObject, other: DatedObject): boolean {
  if (one.created !== other.created) return one.created < other.created;
  return one.name.namespace < other.name.namespace;
}
