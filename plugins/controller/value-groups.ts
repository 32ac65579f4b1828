import type { Value } from '#kvscheduler/api/transaction.ts';
import type { DesiredValues } from './api/desired-values.ts';
import type { KeyValue } from './api/key-value.ts';

interface Group {
  readonly name: string;
  /** Position of its handler in the order of the handlers. */
  readonly rank: number;
}

/** A value of a group. */
export interface OwnedValue extends KeyValue {
  readonly group: Group;
}

const none: readonly OwnedValue[] = [];

/**
 * The desired values of all handlers by group. If several groups set a key, the one of the last handler applies,
 * and within a handler the one whose name sorts last: so a resync and any sequence of changes that lead
 * to the same groups have the same values.
 */
export class ValueGroups implements Omit<DesiredValues, 'external'> {
  readonly #ranks: ReadonlyMap<string, number>;
  readonly #groups = new Map<string, readonly OwnedValue[]>();
  /** Key to its value, or to all its values in the order of precedence: the last one applies. */
  readonly #values = new Map<string, OwnedValue | OwnedValue[]>();

  /** @param handlers their names, in the order of a forward event */
  constructor(handlers: readonly string[]) {
    this.#ranks = new Map(handlers.map((name, rank) => [name, rank]));
  }

  value(key: string): Value | undefined {
    const owned = this.#values.get(key);
    return Array.isArray(owned) ? owned.at(-1)!.value : owned?.value;
  }

  group(name: string): ReadonlyMap<string, Value> {
    return new Map(this.valuesOf(name).map(({ key }) => [key, this.value(key)!]));
  }

  owners(key: string): readonly string[] {
    const owned = this.#values.get(key);
    const all = Array.isArray(owned) ? owned : owned ? [owned] : none;
    return all.map(({ group }) => group.name);
  }

  valuesOf(name: string): readonly OwnedValue[] {
    return this.#groups.get(name) ?? none;
  }

  /** Of two values with one key in a group, the last one is kept. */
  ownedBy(handler: string, name: string, values: Iterable<KeyValue>): readonly OwnedValue[] {
    const group = { name, rank: this.#ranks.get(handler)! };
    const owned = new Map<string, OwnedValue>();
    for (const { key, value } of values) owned.set(key, { key, value, group });
    return [...owned.values()];
  }

  set(name: string, values: readonly OwnedValue[]): void {
    for (const value of this.valuesOf(name)) this.#remove(value);
    if (values.length === 0) this.#groups.delete(name);
    else this.#groups.set(name, values);
    for (const value of values) this.#add(value);
  }

  /** All values, each key once. */
  *all(): Generator<KeyValue, void, void> {
    for (const owned of this.#values.values()) yield Array.isArray(owned) ? owned.at(-1)! : owned;
  }

  #add(value: OwnedValue): void {
    const owned = this.#values.get(value.key);
    if (owned === undefined) this.#values.set(value.key, value);
    else if (Array.isArray(owned)) owned.splice(positionIn(owned, value), 0, value);
    else this.#values.set(value.key, [owned, value].sort(byPrecedence));
  }

  #remove(value: OwnedValue): void {
    const owned = this.#values.get(value.key);
    if (!Array.isArray(owned)) {
      this.#values.delete(value.key);
      return;
    }
    owned.splice(positionIn(owned, value), 1);
    if (owned.length === 1) this.#values.set(value.key, owned[0]!);
  }
}

/** Thousands of services may need one value. */
function positionIn(owned: readonly OwnedValue[], value: OwnedValue): number {
  let [from, to] = [0, owned.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (byPrecedence(owned[middle]!, value) < 0) from = middle + 1;
    else to = middle;
  }
  return from;
}

function byPrecedence({ group: a }: OwnedValue, { group: b }: OwnedValue): number {
  return a.rank - b.rank || (a.name < b.name ? -1 : Number(a.name > b.name));
}
