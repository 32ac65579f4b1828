/** The values around one value, as the picture shows them. */
import type { SingleValue } from '#documents/scheduler/single-value.ts';
import { conditionText } from './value-text.ts';

export type Relation = 'base' | 'met' | 'unmet' | 'derived' | 'dependent' | 'waiting';

export interface Neighbor {
  /** Identifies it in its column. */
  readonly id: string;
  /** Undefined: any of several keys would do, and there is none. */
  readonly key: string | undefined;
  readonly text: string;
  readonly state: string;
  readonly relation: Relation;
  /** The name of the relation. */
  readonly label: string;
}

export interface Column {
  readonly neighbors: readonly Neighbor[];
  /** Number of those that are not shown. */
  readonly more: number;
}

export const MAX_NEIGHBORS = 12;

/** Values that this one needs: what it is derived from, then its dependencies, the unmet ones first. */
export function neededBy({ derivedFrom, dependencies }: SingleValue): Column {
  const base: Neighbor[] = derivedFrom
    ? [{ ...named(derivedFrom), id: 'base', relation: 'base', label: 'derived from' }]
    : [];
  const unmetFirst = dependencies.list.toSorted((a, b) => Number(a.isMet) - Number(b.isMet));
  const needed = unmetFirst.map((dependency, at): Neighbor => {
    const { label, isMet, values, unavailable, key, hasMore } = dependency;
    const [shown] = isMet ? values : unavailable;
    const others = values.length - 1;
    const more = isMet && others > 0 ? ` and ${others}${hasMore ? '+' : ''} more` : '';
    return {
      id: `${at} ${label}`,
      key: shown?.key ?? key,
      text: shown?.key ?? conditionText(dependency),
      state: shown?.state ?? 'NONEXISTENT',
      relation: isMet ? 'met' : 'unmet',
      label: label === shown?.key ? more.trim() : `${label}${more}`,
    };
  });
  return column([...base, ...needed], base.length + dependencies.total);
}

/** Values that need this one: those that wait for it first, then some of each kind. */
export function needing({ derived, dependents }: SingleValue): Column {
  const children = derived.values.map(
    (one): Neighbor => ({
      ...named(one),
      id: `derived ${one.key}`,
      relation: 'derived',
      label: 'derived',
    }),
  );
  const others = dependents.values.map(
    (one): Neighbor => ({
      ...named(one),
      id: `dependent ${one.key}`,
      relation: one.isWaiting ? 'waiting' : 'dependent',
      label: one.labels.join(', '),
    }),
  );
  const placesOfChildren = Math.max(MAX_NEIGHBORS / 2, MAX_NEIGHBORS - others.length);
  const waiting = others.filter(({ relation }) => relation === 'waiting');
  const notWaiting = others.filter(({ relation }) => relation !== 'waiting');
  const order = [
    ...waiting.slice(0, MAX_NEIGHBORS / 2),
    ...children.slice(0, placesOfChildren),
    ...waiting.slice(MAX_NEIGHBORS / 2),
    ...notWaiting,
  ];
  return column(order, derived.total + dependents.total);
}

function column(all: readonly Neighbor[], total: number): Column {
  const neighbors = all.slice(0, MAX_NEIGHBORS);
  return { neighbors, more: total - neighbors.length };
}

function named({ key, state }: { readonly key: string; readonly state: string }) {
  return { key, text: key, state };
}
