import { isDeepStrictEqual } from 'node:util';
import { deepFreeze } from '#infra/collections/deep-freeze.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import { AbortEventError } from './api/errors.ts';
import type { KeyValue } from './api/key-value.ts';
import type { ReplaceOptions } from './api/transaction.ts';
import type { OwnedValue, ValueGroups } from './value-groups.ts';

interface TouchedKey {
  /** Its desired value before the event. */
  readonly before: Value | undefined;
  /** It is part of the transaction although its value is that of before. */
  isForced: boolean;
}

/** The changes of one event in the groups of desired values; sealed after the last handler. */
export class EventTransaction {
  readonly #groups: ValueGroups;
  readonly #isResync: boolean;
  /** The values of groups before an update, in the order of their first change. */
  readonly #before = new Map<string, readonly OwnedValue[]>();
  /** By an update; a resync changes all keys. */
  readonly #touched = new Map<string, TouchedKey>();
  readonly #optional = new Set<string>();
  #sealed = false;

  /** @param groups changed in place; those of a resync are empty at first */
  constructor(groups: ValueGroups, isResync: boolean) {
    this.#groups = groups;
    this.#isResync = isResync;
  }

  get groups(): ValueGroups {
    return this.#groups;
  }

  /** Keys that an update has changed, with the value of now; null: no group sets it any more. */
  get changes(): ReadonlyMap<string, Value | null> {
    const changes = new Map<string, Value | null>();
    for (const [key, { before, isForced }] of this.#touched) {
      const value = this.#groups.value(key);
      if (isForced || !isDeepStrictEqual(before, value)) changes.set(key, value ?? null);
    }
    return changes;
  }

  /** Keys of changes that change nothing, unless they were changed past the agent. */
  get unchanged(): ReadonlySet<string> {
    const keys = new Set<string>();
    for (const [key, { before, isForced }] of this.#touched)
      if (isForced && before !== undefined && isDeepStrictEqual(before, this.#groups.value(key)))
        keys.add(key);
    return keys;
  }

  /** Keys of values that may stay pending. */
  get optional(): ReadonlySet<string> {
    return this.#optional;
  }

  replace(
    handler: string,
    group: string,
    values: Iterable<KeyValue>,
    { optional = false, evenUnchanged = false }: ReplaceOptions = {},
  ): void {
    this.#ensureOpen();
    const name = `${handler}/${group}`;
    const before = this.#groups.valuesOf(name);
    const after = this.#groups.ownedBy(handler, name, values);
    for (const { key } of before) {
      this.#touch(key, false);
      this.#optional.delete(key);
    }
    for (const { key, value } of after) {
      if (value === undefined || value === null)
        throw new TypeError(`cannot put undefined or null for key ${key}; leave the value out`);
      // The groups, the scheduler and other handlers keep this very object.
      deepFreeze(value);
      this.#touch(key, evenUnchanged);
      if (optional) this.#optional.add(key);
    }
    if (!this.#isResync && !this.#before.has(name)) this.#before.set(name, before);
    this.#groups.set(name, after);
  }

  get<V extends Value = Value>(key: string): V | undefined {
    return this.#groups.value(key) as V | undefined;
  }

  seal(): void {
    this.#sealed = true;
  }

  /** Restores the groups as they were before the update. */
  revert(): void {
    for (const [name, values] of this.#before) this.#groups.set(name, values);
    this.#before.clear();
  }

  #touch(key: string, isForced: boolean): void {
    if (this.#isResync) return;
    const touched = this.#touched.get(key);
    if (touched) touched.isForced ||= isForced;
    else this.#touched.set(key, { before: this.#groups.value(key), isForced });
  }

  #ensureOpen(): void {
    if (this.#sealed) throw new AbortEventError('the transaction of this event is closed');
  }
}
