import type { KvEntry, KvStore } from '#datastore/api.ts';
import type { Clock, Random } from '#infra/clock/clock.ts';
import { compareKeys } from '#infra/collections/key-order.ts';
import type { KeySpace } from './key-space.ts';
import type { LastKnownState } from './last-known-state.ts';

/** Entries that are compared per slice. */
const SLICE = 1000;
/**
 * Keys of one comparison; a larger database is compared part by part. All agents compare, so that whole reads of a
 * large cluster would cost etcd more than all of its changes.
 */
const MAX_KEYS = 2000;

interface Suspect {
  readonly stored: string | undefined;
  readonly known: string | undefined;
}

/** Keys for which the database differs from the last known state. */
type Suspects = ReadonlyMap<string, Suspect>;

/** The beginning of a part of the watched keys: after a key of a prefix. */
interface Position {
  /** Index of the prefix. */
  readonly at: number;
  /** undefined: before its first key. */
  readonly after: string | undefined;
}

const START: Position = { at: 0, after: undefined };

/** All keys of a prefix between two of them, as they are in the database. */
interface Range {
  readonly prefix: string;
  /** undefined: from its first key on. */
  readonly after: string | undefined;
  /** undefined: up to its last key. */
  readonly upTo: string | undefined;
  readonly entries: readonly KvEntry[];
}

/** The keys that were read for one comparison. */
export interface ComparedPart {
  readonly ranges: readonly Range[];
  /** The part that follows. */
  readonly next: Position;
}

export interface ComparisonTimes {
  readonly intervalMs: number;
  /** Maximum lag of the watch behind a read. */
  readonly graceMs: number;
}

/**
 * Finds changes that the watch has lost, by comparing the database with the last known state, one part after the
 * other. One read proves nothing, because it may be ahead of the watch; the same difference in a second read of
 * the part, after the grace period, does.
 */
export class SnapshotComparison {
  readonly #keySpace: KeySpace;
  readonly #random: Random;
  readonly #intervalMs: number;
  readonly #graceMs: number;
  #position = START;
  #suspects: Suspects = new Map();

  constructor(keySpace: KeySpace, random: Random, { intervalMs, graceMs }: ComparisonTimes) {
    this.#keySpace = keySpace;
    this.#random = random;
    this.#intervalMs = intervalMs;
    this.#graceMs = graceMs;
  }

  /** Delay of the next comparison, randomized by 25 %: agents of a cluster must not compare at the same time. */
  get intervalMs(): number {
    return this.#intervalMs * (0.75 + this.#random.next() / 2);
  }

  /** Discards the previous differences. */
  reset(): void {
    this.#suspects = new Map();
  }

  /** Reads the part that is to be compared. */
  async read(store: Pick<KvStore, 'part'>): Promise<ComparedPart> {
    const { prefixes } = this.#keySpace;
    const ranges: Range[] = [];
    let { at, after } = this.#position;
    for (let left = MAX_KEYS; left > 0 && at < prefixes.length; ) {
      const prefix = prefixes[at]!;
      const { entries, isLast } = await store.part(prefix, after, left);
      const upTo = isLast ? undefined : entries.at(-1)?.key;
      ranges.push({ prefix, after, upTo, entries });
      left -= entries.length;
      after = upTo;
      if (upTo === undefined) at++;
    }
    return { ranges, next: at < prefixes.length ? { at, after } : START };
  }

  /**
   * @param isExpected whether a key may differ: the database has lost it, and it is kept on purpose, or its change waits
   * @returns the keys of lost changes, and when to compare next
   */
  async compare(
    part: ComparedPart,
    known: LastKnownState,
    isExpected: (key: string) => boolean,
    clock: Clock,
  ): Promise<{ lost: string[]; nextMs: number }> {
    const before = this.#suspects;
    const now = await this.#difference(part, known, isExpected, clock);
    const lost: string[] = [];
    for (const [key, suspect] of now) {
      const earlier = before.get(key);
      if (earlier && earlier.stored === suspect.stored && earlier.known === suspect.known)
        lost.push(key);
    }
    // Only one confirming read is made; new differences wait for the next round.
    const again = before.size === 0 && now.size > 0;
    this.#suspects = again ? now : new Map();
    if (!again) this.#position = part.next;
    return { lost, nextMs: again ? this.#graceMs : this.intervalMs };
  }

  async #difference(
    { ranges }: ComparedPart,
    known: LastKnownState,
    isExpected: (key: string) => boolean,
    clock: Clock,
  ): Promise<Suspects> {
    const suspects = new Map<string, Suspect>();
    const stored = new Set<string>();
    let looked = 0;
    for (const { entries } of ranges)
      for (const { key, value } of entries) {
        if (++looked % SLICE === 0) await clock.turn();
        stored.add(key);
        const text = known.text(key);
        if (text !== value && !isExpected(key) && this.#keySpace.find(key))
          suspects.set(key, { stored: value, known: text });
      }
    for (const key of known.keys()) {
      if (++looked % SLICE === 0) await clock.turn();
      if (!stored.has(key) && !isExpected(key) && ranges.some((range) => includes(range, key)))
        suspects.set(key, { stored: undefined, known: known.text(key) });
    }
    return suspects;
  }
}

function includes({ prefix, after, upTo }: Range, key: string): boolean {
  return (
    key.startsWith(prefix) &&
    (after === undefined || compareKeys(key, after) > 0) &&
    (upTo === undefined || compareKeys(key, upTo) <= 0)
  );
}
