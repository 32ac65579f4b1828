/**
 * Rates of interfaces over the last minutes, computed from their counters. They are only known to the page,
 * which has to be open for two collections before it knows one.
 */
import type { InterfaceCounters } from '#documents/interfaces.ts';

/** The counters from which rates are made. */
export type Counters = Omit<InterfaceCounters, 'ip4' | 'ip6'>;

/** The side from which traffic is seen: a pod receives what VPP sends. */
export type Side = 'vpp' | 'peer';

/** Per second, between two collections. */
export interface Rates {
  readonly inBits: number;
  readonly outBits: number;
  readonly inPackets: number;
  readonly outPackets: number;
  readonly drops: number;
  /** Errors on receive and send, packets without a buffer, and those received too late. */
  readonly errors: number;
}

/** Point of a chart; without rates, it is a gap. */
export interface RatePoint {
  /** Seconds since the epoch, by the clock of the agent. */
  readonly at: number;
  readonly rates: Rates | undefined;
}

/** The counters of all interfaces, as one collection has found them. */
export interface Collection {
  /** RFC 3339; null: there are no counters. */
  readonly collectedAt: string | null;
  readonly interfaces: Iterable<readonly [name: string, counters: Counters]>;
}

const MAX_POINTS = 60;
/** Rates over a longer time, in which the page was hidden, are not those of a moment. */
const LONGEST_MS = 30_000;
/** Interfaces that no collection contains for this time are dropped. */
const FORGOTTEN_MS = 600_000;

interface History {
  readonly at: number;
  readonly counters: Counters;
  readonly points: readonly RatePoint[];
}

export class TrafficHistory {
  readonly #side: Side;
  readonly #histories = new Map<string, History>();

  constructor(side: Side) {
    this.#side = side;
  }

  /** Adds a collection; again, or an older one, has no effect. */
  add({ collectedAt, interfaces }: Collection): void {
    const at = collectedAt === null ? Number.NaN : Date.parse(collectedAt);
    if (Number.isNaN(at)) return;
    for (const [name, counters] of interfaces) {
      const before = this.#histories.get(name);
      if (before && at <= before.at) continue;
      const points = before ? [...before.points, pointOf(before, at, counters, this.#side)] : [];
      this.#histories.set(name, { at, counters, points: points.slice(-MAX_POINTS) });
    }
    for (const [name, history] of this.#histories)
      if (at - history.at > FORGOTTEN_MS) this.#histories.delete(name);
  }

  /** The oldest first; none before the second collection. */
  points(name: string): readonly RatePoint[] {
    return this.#histories.get(name)?.points ?? [];
  }

  /** The rates of the last two collections; undefined: they are not known. */
  latest(name: string): Rates | undefined {
    return this.points(name).at(-1)?.rates;
  }
}

function pointOf(before: History, at: number, counters: Counters, side: Side): RatePoint {
  const isComparable = at - before.at <= LONGEST_MS;
  const rates = isComparable
    ? ratesBetween(before.counters, counters, (at - before.at) / 1_000, side)
    : undefined;
  return { at: at / 1_000, rates };
}

/** @returns undefined if a counter has decreased: it began again, because VPP or the interface is a new one */
export function ratesBetween(
  before: Counters,
  after: Counters,
  seconds: number,
  side: Side,
): Rates | undefined {
  const names = Object.keys(before) as (keyof Counters)[];
  if (names.some((name) => after[name] < before[name])) return undefined;
  const rate = (...of: readonly (keyof Counters)[]): number =>
    of.reduce((sum, name) => sum + after[name] - before[name], 0) / seconds;
  const [inward, outward] = side === 'vpp' ? (['rx', 'tx'] as const) : (['tx', 'rx'] as const);
  return {
    inBits: rate(`${inward}Bytes`) * 8,
    outBits: rate(`${outward}Bytes`) * 8,
    inPackets: rate(`${inward}Packets`),
    outPackets: rate(`${outward}Packets`),
    drops: rate('drops'),
    errors: rate('rxErrors', 'txErrors', 'rxNoBuffer', 'rxMiss'),
  };
}
