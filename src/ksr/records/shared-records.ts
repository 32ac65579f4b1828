import type { ObjectName } from '../api-server/api.ts';
import { type DatedObject, objectInUse } from './object-in-use.ts';
import type { RecordTable, UNREADABLE } from './record-table.ts';

export interface RecordCandidate extends DatedObject {
  readonly text: string | typeof UNREADABLE;
}

/** Records whose keys lack the namespace of their objects: objects of several namespaces may have one key. */
export class SharedRecords {
  readonly #table: RecordTable;
  readonly #onConflict: (candidate: RecordCandidate, inUse: ObjectName) => void;
  /** By key, then by namespace. */
  readonly #candidates = new Map<string, Map<string, RecordCandidate>>();
  /** Objects that the list in progress has shown so far. */
  #listed: Set<RecordCandidate> | undefined;

  /** @param onConflict called once for each object that has come to a key of others */
  constructor(
    table: RecordTable,
    onConflict: (candidate: RecordCandidate, inUse: ObjectName) => void,
  ) {
    this.#table = table;
    this.#onConflict = onConflict;
  }

  set(key: string, candidate: RecordCandidate): void {
    const ofKey = this.#candidates.get(key) ?? new Map<string, RecordCandidate>();
    const { namespace } = candidate.name;
    const isNew = !ofKey.has(namespace);
    this.#candidates.set(key, ofKey.set(namespace, candidate));
    this.#listed?.add(candidate);
    const inUse = this.#update(key);
    if (isNew && ofKey.size > 1 && inUse) this.#onConflict(candidate, inUse.name);
  }

  delete(key: string, { namespace }: ObjectName): void {
    this.#candidates.get(key)?.delete(namespace);
    this.#update(key);
  }

  beginList(): void {
    this.#listed = new Set();
    this.#table.beginList();
  }

  endList(): void {
    const listed = this.#listed;
    this.#listed = undefined;
    if (listed)
      for (const [key, ofKey] of this.#candidates) {
        for (const one of ofKey.values()) if (!listed.has(one)) ofKey.delete(one.name.namespace);
        this.#update(key);
      }
    this.#table.endList();
  }

  /** @returns the object that the record is made from */
  #update(key: string): RecordCandidate | undefined {
    const inUse = objectInUse(this.#candidates.get(key)?.values() ?? []);
    if (inUse) this.#table.set(key, inUse.text);
    else {
      this.#candidates.delete(key);
      this.#table.delete(key);
    }
    return inUse;
  }
}
