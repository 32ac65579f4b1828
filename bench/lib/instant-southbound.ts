/**
 * A southbound that replies after one turn of the event loop, and values for it: interfaces, routes
 * over them that claim their destination, chains of links that depend on the link before, families
 * of derived values, and a ring of values of which each depends on any value of the prefix before.
 */

import { systemClock } from '#infra/clock/system.ts';
import { ShardedMap } from '#infra/collections/sharded-map.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { AnyDescriptor, Dependency, RetrievedValue } from '#kvscheduler/api/descriptor.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import type { RetentionLimits } from '#kvscheduler/history/retention.ts';
import { createScheduler } from '#kvscheduler/kv-scheduler.ts';
import type { Scheduler } from '#kvscheduler/scheduler.ts';

interface Route {
  readonly destination: string;
  readonly via: string;
  readonly weight: number;
}

export interface Link {
  readonly place: number;
  readonly behind?: string;
}

export interface Family {
  readonly members: number;
  readonly weight: number;
}

interface Spoke {
  readonly behind: string;
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

export interface SchedulerSettings {
  readonly window?: number;
  readonly history?: Partial<RetentionLimits>;
}

/** In shards, so that its growth adds little to the stretches of the scheduler. */
type Kept = ShardedMap<{ readonly value: Value; readonly metadata: number }>;

/** Keeps all values in memory. */
export class InstantSouthbound {
  /** By key prefix, so that retrieve of a descriptor reads only its own values. */
  readonly #kinds = new Map<string, Kept>();
  #next = 0;

  scheduler(settings: SchedulerSettings = {}): Scheduler {
    const descriptors = [
      this.#descriptor('interface', () => []),
      {
        ...this.#descriptor('route', ({ via }: Route) => [{ label: 'interface', key: via }]),
        claims: (_key: string, { destination: own }: Route) => [`vrf/0/${own}`],
      },
      this.#descriptor('link', ({ behind }: Link) =>
        behind === undefined ? [] : [{ label: 'before', key: behind }],
      ),
      {
        ...this.#descriptor('family', () => []),
        derived: (key: string, { members, weight }: Family) =>
          Array.from({ length: members }, (_, i) => ({
            key: `config/member/${i}/${key}`,
            value: { weight },
          })),
      },
      this.#descriptor('member', () => []),
      this.#descriptor('spoke', ({ behind }: Spoke) => [
        { label: 'any before', anyOf: { prefixes: [behind] } },
      ]),
    ];
    return createScheduler({ descriptors, clock: systemClock, log: silentLogger, ...settings });
  }

  /** Values of an earlier scheduler. */
  put(values: Iterable<readonly [string, Value]>): void {
    for (const [key, value] of values)
      this.#kept(prefixOf(key)).set(key, { value, metadata: this.#next++ });
  }

  remove(key: string): void {
    this.#kept(prefixOf(key)).delete(key);
  }

  clear(): void {
    for (const kept of this.#kinds.values()) kept.clear();
  }

  #kept(prefix: string): Kept {
    const kept: Kept = this.#kinds.get(prefix) ?? new ShardedMap();
    this.#kinds.set(prefix, kept);
    return kept;
  }

  #descriptor<V extends Value>(
    kind: string,
    dependencies: (value: V) => Dependency[],
  ): AnyDescriptor {
    const prefix = `config/${kind}/`;
    const kept = this.#kept(prefix);
    return {
      name: kind,
      keyPrefixes: [prefix],
      nbKeyPrefix: prefix,
      typeName: `bench.${kind}`,
      create: async (key: string, value: Value) => {
        await nextTurn();
        const metadata = this.#next++;
        kept.set(key, { value, metadata });
        return metadata;
      },
      update: async (key: string, _before: Value, value: Value, metadata: number) => {
        await nextTurn();
        kept.set(key, { value, metadata });
        return metadata;
      },
      delete: async (key: string) => {
        await nextTurn();
        kept.delete(key);
      },
      retrieve: async () => {
        const values: RetrievedValue[] = [];
        let seen = 0;
        for (const [key, { value, metadata }] of kept) {
          if (++seen % 500 === 0) await nextTurn();
          values.push({ key, value: { ...value }, metadata, origin: 'from-NB' });
        }
        return values;
      },
      dependencies: (_key: string, value: V) => dependencies(value),
    };
  }
}

/** The key up to the second slash. */
function prefixOf(key: string): string {
  return key.slice(0, key.indexOf('/', key.indexOf('/') + 1) + 1);
}

const INTERFACES = 10;

export const interfaceKey = (i: number): string => `config/interface/if${i % INTERFACES}`;

function destination(i: number): string {
  return `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}/32`;
}

export const routeKey = (i: number): string => `config/route/vrf/0/dst/${destination(i)}`;

export const route = (i: number, weight: number): Route => ({
  destination: destination(i),
  via: interfaceKey(i),
  weight,
});

/** `count` routes over ten interfaces. */
export function routes(count: number): Map<string, Value> {
  const values = new Map<string, Value>();
  for (let i = 0; i < INTERFACES; i++) values.set(interfaceKey(i), { name: `if${i}` });
  for (let i = 0; i < count; i++) values.set(routeKey(i), route(i, 1));
  return values;
}

/** `count` chains of `length` links. */
export function chains(count: number, length: number): Map<string, Value> {
  const values = new Map<string, Value>();
  for (let i = 0; i < count; i++)
    for (let place = 0; place < length; place++) {
      // In key order the last link comes first: the scheduler must find the right order.
      const key = (at: number): string => `config/link/${length - at}/${i}`;
      const link: Link = { place, ...(place > 0 && { behind: key(place - 1) }) };
      values.set(key(place), link);
    }
  return values;
}

/** `count` links, each of which depends on the one before; in key order, too. */
export function chain(count: number): Map<string, Value> {
  const key = (place: number): string => `config/link/${String(place).padStart(5, '0')}`;
  const link = (place: number): Link => ({ place, ...(place > 0 && { behind: key(place - 1) }) });
  return new Map(Array.from({ length: count }, (_, place) => [key(place), link(place)]));
}

/** `count` links that depend on nothing. */
export const independentLinks = (count: number): Map<string, Value> =>
  new Map(
    Array.from({ length: count }, (_, place) => [
      `config/link/${destination(place)}`,
      { place } satisfies Link,
    ]),
  );

/** `count` values with `members` derived values each. */
export const families = (count: number, members: number): Map<string, Value> =>
  new Map(
    Array.from({ length: count }, (_, i) => [
      `config/family/${i}`,
      { members, weight: 1 } satisfies Family,
    ]),
  );

/** One value with `members` derived values. */
export const family = (members: number, weight: number): Map<string, Value> =>
  new Map([['config/family/one', { members, weight } satisfies Family]]);

/** `count` values that each depend on any one of them. */
export function peers(count: number): Map<string, Value> {
  const behind = 'config/spoke/';
  return new Map(Array.from({ length: count }, (_, i) => [behind + i, { behind } satisfies Spoke]));
}

/** `count` values in a cycle: each depends on any value of the prefix before it. */
export function ring(count: number): Map<string, Value> {
  const prefix = (i: number): string => `config/spoke/${i}/`;
  const spokes = Array.from({ length: count }, (_, i): [string, Spoke] => [
    `${prefix(i)}end`,
    { behind: prefix((i + count - 1) % count) },
  ]);
  return new Map(spokes);
}
