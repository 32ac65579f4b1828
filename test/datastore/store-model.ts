/**
 * The states that a store may be in, after some writes were acknowledged and others failed with an
 * unknown outcome.
 */
import assert from 'node:assert/strict';
import type { KvEntry, KvStore } from '#datastore/api.ts';
import { sortKeys } from '#infra/collections/key-order.ts';

type State = ReadonlyMap<string, string>;

/** A write, with its reply and whether it takes place, given the value of its first key. */
export interface ModelWrite {
  readonly changes: ReadonlyMap<string, string | undefined>;
  expect(existing: string | undefined): { readonly reply: unknown; readonly isWritten: boolean };
  run(store: KvStore): Promise<unknown>;
}

export class StoreModel {
  #states: State[] = [new Map()];
  /** Those of `#states` since the last certain sync, and of that. */
  #unsynced: State[] = [];
  readonly #isSyncDelayed: boolean;

  /** @param isSyncDelayed a loss of power may lose the writes since the last `synced` */
  constructor(isSyncDelayed = false) {
    this.#isSyncDelayed = isSyncDelayed;
    this.synced();
  }

  /** All acknowledged writes are on the disk. */
  synced(): void {
    this.#unsynced = this.#states;
  }

  powerLost(): void {
    this.#states = this.#unsynced;
  }

  /** The write was acknowledged with this reply. */
  acknowledged(write: ModelWrite, reply: unknown): void {
    const states: State[] = [];
    for (const state of this.#states) {
      const expected = write.expect(state.get(firstKey(write)));
      if (!isSame(expected.reply, reply)) continue;
      states.push(expected.isWritten ? apply(state, write) : state);
    }
    assert.ok(states.length > 0, `no possible state explains the reply ${JSON.stringify(reply)}`);
    this.#set(distinct(states));
  }

  /** The write failed: it took place as a whole or not at all. */
  failed(write: ModelWrite): void {
    const written = this.#states
      .filter((state) => write.expect(state.get(firstKey(write))).isWritten)
      .map((state) => apply(state, write));
    this.#set(distinct([...this.#states, ...written]));
  }

  /** The value of a key in one of the possible states. */
  possibleValue(key: string): string | undefined {
    return this.#states[0]!.get(key);
  }

  observedValue(key: string, value: string | undefined): void {
    this.#keep((state) => state.get(key) === value, `${key}=${value}`);
  }

  observed(entries: readonly KvEntry[]): void {
    const text = textOf(new Map(entries.map(({ key, value }) => [key, value])));
    this.#keep((state) => textOf(state) === text, text);
  }

  /** Whether a content is a possible one. */
  explains(entries: readonly KvEntry[]): boolean {
    const text = textOf(new Map(entries.map(({ key, value }) => [key, value])));
    return this.#states.some((state) => textOf(state) === text);
  }

  #keep(isPossible: (state: State) => boolean, found: string): void {
    const states = this.#states.filter(isPossible);
    const possible = this.#states.map(textOf).join('\n  ');
    assert.ok(states.length > 0, `found ${found}, possible are only\n  ${possible}`);
    this.#set(states);
  }

  #set(states: State[]): void {
    this.#states = states;
    this.#unsynced = this.#isSyncDelayed ? distinct([...this.#unsynced, ...states]) : states;
  }
}

function firstKey({ changes }: ModelWrite): string {
  return [...changes.keys()][0] ?? '';
}

function apply(state: State, { changes }: ModelWrite): State {
  const after = new Map(state);
  for (const [key, value] of changes)
    if (value === undefined) after.delete(key);
    else after.set(key, value);
  return after;
}

function textOf(state: State): string {
  return sortKeys([...state.keys()])
    .map((key) => `${key}=${state.get(key)!.slice(0, 20)}`)
    .join(' ');
}

function distinct(states: readonly State[]): State[] {
  return [...new Map(states.map((state) => [textOf(state), state])).values()];
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
