import type { KvEntry } from '#datastore/api.ts';
import type { Clock, Random } from '#infra/clock/clock.ts';
import type { KeySpace } from './key-space.ts';
import type { LastKnownState } from './last-known-state.ts';

/** Entries that are compared per slice. */
const SLICE = 1000;

interface Suspect {
  readonly stored: string | undefined;
  readonly known: string | undefined;
}

/** Keys for which a snapshot differs from the last known state. */
type Suspects = ReadonlyMap<string, Suspect>;

export interface ComparisonTimes {
  readonly intervalMs: number;
  /** Maximum lag of the watch behind a snapshot. */
  readonly graceMs: number;
}

/**
 * Finds changes that the watch has lost, by comparing snapshots with the last known state. One
 * snapshot proves nothing, because it may be ahead of the watch; the same difference in a second
 * snapshot, after the grace period, does.
 */
export class SnapshotComparison {
  readonly #keySpace: KeySpace;
  readonly #random: Random;
  readonly #intervalMs: number;
  readonly #graceMs: number;
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

  /**
   * @param isRetained whether a key is kept on purpose although the database has lost it
   * @returns the keys of lost changes, and when to compare next
   */
  async compare(
    entries: readonly KvEntry[],
    known: LastKnownState,
    isRetained: (key: string) => boolean,
    clock: Clock,
  ): Promise<{ lost: string[]; nextMs: number }> {
    const before = this.#suspects;
    const now = await this.#difference(entries, known, isRetained, clock);
    const lost: string[] = [];
    for (const [key, suspect] of now) {
      const earlier = before.get(key);
      if (earlier && earlier.stored === suspect.stored && earlier.known === suspect.known)
        lost.push(key);
    }
    // Only one confirming snapshot is taken; new differences wait for the next interval.
    const again = before.size === 0 && now.size > 0;
    this.#suspects = again ? now : new Map();
    return { lost, nextMs: again ? this.#graceMs : this.intervalMs };
  }

  async #difference(
    entries: readonly KvEntry[],
    known: LastKnownState,
    isRetained: (key: string) => boolean,
    clock: Clock,
  ): Promise<Suspects> {
    const suspects = new Map<string, Suspect>();
    const stored = new Set<string>();
    for (const [at, { key, value }] of entries.entries()) {
      if (at % SLICE === SLICE - 1) await clock.turn();
      stored.add(key);
      const text = known.text(key);
      if (text !== value && this.#keySpace.find(key))
        suspects.set(key, { stored: value, known: text });
    }
    for (const key of known.keys())
      if (!stored.has(key) && !isRetained(key))
        suspects.set(key, { stored: undefined, known: known.text(key) });
    return suspects;
  }
}
