import type { Slices } from '#infra/clock/slices.ts';
import type { Presence } from './recorded-node.ts';
import type { KeyRevisions, Revision } from './revision.ts';
import type { Timeline } from './timeline.ts';

/** A key was added or removed. */
interface Change {
  readonly time: number;
  readonly key: string;
  readonly derived: boolean;
  readonly isAdded: boolean;
}

/** Presence of the keys that one key may be related to, advancing in time. */
export class MovingPresence implements Presence {
  readonly #changes: readonly Change[];
  #next = 0;
  readonly #keys = new Set<string>();
  readonly #derived = new Set<string>();

  constructor(changes: readonly Change[]) {
    this.#changes = changes;
  }

  /** The time of the next change. */
  get nextChange(): number | undefined {
    return this.#changes[this.#next]?.time;
  }

  /** Applies all changes up to this time, which must not be before the last one. */
  moveTo(time: number): void {
    for (let change = this.#changes[this.#next]; change && change.time <= time; ) {
      const set = change.derived ? this.#derived : this.#keys;
      if (change.isAdded) set.add(change.key);
      else set.delete(change.key);
      change = this.#changes[++this.#next];
    }
  }

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  withPrefix(prefix: string): readonly string[] {
    return [...this.#keys].filter((key) => key.startsWith(prefix)).sort();
  }

  derivedFrom(): readonly string[] {
    return [...this.#derived].sort();
  }
}

/** The times at which keys that the revisions of a key may be related to were added and removed. */
export async function changesOf(
  timeline: Timeline,
  key: string,
  revisions: readonly Revision[],
  slices: Slices,
): Promise<Change[]> {
  const keys = new Set<string>();
  const prefixes = new Set<string>();
  for (const { dependencies } of revisions)
    for (const dependency of dependencies) {
      if (dependency.key !== undefined) keys.add(dependency.key);
      for (const prefix of dependency.anyOf?.prefixes ?? []) prefixes.add(prefix);
    }
  const changes: Change[] = [];
  for (const chain of timeline.all()) {
    if (slices.due()) await slices.turn();
    const isNeeded =
      keys.has(chain.key) || [...prefixes].some((prefix) => chain.key.startsWith(prefix));
    if (isNeeded) addChanges(changes, chain, false, () => true);
    if ((chain.first?.baseKey ?? chain.last?.baseKey) !== undefined)
      addChanges(changes, chain, true, ({ baseKey }) => baseKey === key);
  }
  // At the same time, removals come before additions.
  return changes.sort((a, b) => a.time - b.time || Number(a.isAdded) - Number(b.isAdded));
}

/** Adds the periods in which revisions with the property follow each other without a gap. */
function addChanges(
  changes: Change[],
  { first, key }: KeyRevisions,
  derived: boolean,
  has: (revision: Revision) => boolean,
): void {
  for (let revision = first; revision; revision = revision.after) {
    if (!has(revision)) continue;
    const { since } = revision;
    while (revision.after?.since === revision.until && revision.after && has(revision.after))
      revision = revision.after;
    const { until } = revision;
    if (since === until) continue;
    changes.push({ time: since, key, derived, isAdded: true });
    if (until !== undefined) changes.push({ time: until, key, derived, isAdded: false });
  }
}
