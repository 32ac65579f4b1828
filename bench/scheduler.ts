/**
 * The key-value scheduler on a southbound that costs nothing but one turn of the event loop per
 * answer: what planning, bookkeeping and comparing cost, and that a change costs the same among
 * many values as among few.
 */
import { performance } from 'node:perf_hooks';
import type { Value } from '#eventloop/transaction.ts';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { AnyDescriptor, Dependency, RetrievedValue } from '#kvscheduler/api.ts';
import { createScheduler, type Scheduler } from '#kvscheduler/scheduler.ts';

export const name = 'scheduler: many values, one change';

type Print = (line: string) => void;

interface Route {
  readonly destination: string;
  readonly via: string;
  readonly weight: number;
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Interfaces and routes over them, in a southbound that keeps what it is told. */
function makeNode(window?: number) {
  const standing = new Map<string, { value: Value; metadata: number }>();
  let next = 0;
  const descriptor = (kind: string, dependencies?: (value: Route) => Dependency[]) => {
    const prefix = `config/${kind}/`;
    return {
      name: kind,
      keyPrefixes: [prefix],
      nbKeyPrefix: prefix,
      typeName: `bench.${kind}`,
      async create(key: string, value: Value) {
        await turn();
        const metadata = next++;
        standing.set(key, { value, metadata });
        return metadata;
      },
      async update(key: string, _before: Value, value: Value, metadata: number) {
        await turn();
        standing.set(key, { value, metadata });
        return metadata;
      },
      async delete(key: string) {
        await turn();
        standing.delete(key);
      },
      async retrieve() {
        const values: RetrievedValue[] = [];
        let seen = 0;
        for (const [key, { value, metadata }] of standing) {
          if (++seen % 500 === 0) await turn();
          if (!key.startsWith(prefix)) continue;
          values.push({ key, value: { ...value }, metadata, origin: 'from-NB' });
        }
        return values;
      },
      ...(dependencies && { dependencies: (_key: string, value: Route) => dependencies(value) }),
    } satisfies AnyDescriptor;
  };
  const descriptors = [
    descriptor('interface'),
    descriptor('route', ({ via }) => [{ label: 'interface', key: via }]),
  ];
  const make = () =>
    createScheduler({
      descriptors,
      clock: systemClock,
      log: silentLogger,
      ...(window !== undefined && { window }),
    });
  return { standing, make };
}

const interfaces = 10;

/** As many routes as asked for, over ten interfaces. */
function wishes(count: number): Map<string, Value> {
  const values = new Map<string, Value>();
  for (let i = 0; i < interfaces; i++) values.set(`config/interface/if${i}`, { name: `if${i}` });
  for (let i = 0; i < count; i++) values.set(routeKey(i), route(i, 1));
  return values;
}

const routeKey = (i: number) =>
  `config/route/vrf/0/dst/10.${i >> 16}.${(i >> 8) & 255}.${i & 255}/32`;
const route = (i: number, weight: number): Route => ({
  destination: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}/32`,
  via: `config/interface/if${i % interfaces}`,
  weight,
});

interface Measured {
  readonly ms: number;
  /** Time that the main thread worked: what is left when the machine is busy with other things. */
  readonly cpuMs: number;
  /** The most work that the main thread did without coming round. */
  readonly stretchMs: number;
  readonly visits: number;
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

async function measure(scheduler: Scheduler, work: () => Promise<unknown>): Promise<Measured> {
  let stretchMs = 0;
  let running = true;
  let last = cpuMs();
  const look = () => {
    const now = cpuMs();
    stretchMs = Math.max(stretchMs, now - last);
    last = now;
    if (running) setImmediate(look);
  };
  const visits = scheduler.visits;
  const start = performance.now();
  const startCpu = cpuMs();
  look();
  await work();
  const ms = performance.now() - start;
  const spent = cpuMs() - startCpu;
  running = false;
  look();
  return { ms, cpuMs: spent, stretchMs, visits: scheduler.visits - visits };
}

const update = { description: 'bench', mode: 'update', onFailure: 'best-effort' } as const;
const resync = { ...update, mode: 'full-resync' } as const;

async function must(committed: ReturnType<Scheduler['commit']>): Promise<void> {
  const { failures } = await committed;
  if (failures.length > 0) throw failures[0]?.error ?? new Error('failed');
}

export async function run(print: Print): Promise<void> {
  for (const window of [1, 100, 1000]) await independent(print, window);
  await many(print, 100_000);
  for (const count of [1_000, 100_000]) await oneChange(print, count);
}

async function independent(print: Print, window: number): Promise<void> {
  const count = 10_000;
  const { make } = makeNode(window);
  const scheduler = make();
  const values = wishes(count);
  await line(print, scheduler, `${count} independent values, window ${window}`, () =>
    must(scheduler.commit({ ...update, values })),
  );
  await scheduler.close();
}

async function many(print: Print, count: number): Promise<void> {
  const { make } = makeNode();
  const first = make();
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  const values = wishes(count);
  await line(print, first, `${count} values, first resync (all created)`, () =>
    must(first.commit({ ...resync, values })),
  );
  globalThis.gc?.();
  const bytes = Math.round((process.memoryUsage().heapUsed - before) / count);
  if (globalThis.gc) print(`${bytes} bytes a value, with southbound and history`);
  const again = wishes(count);
  await line(print, first, `${count} values, full resync in sync`, () =>
    must(first.commit({ ...resync, values: again })),
  );
  await line(print, first, `${count} values, upstream resync in sync`, () =>
    must(first.commit({ ...update, mode: 'upstream-resync', values: again })),
  );
  const second = make();
  await line(print, second, `${count} values, full resync after a restart, in sync`, () =>
    must(second.commit({ ...resync, values: again })),
  );
  await Promise.all([first.close(), second.close()]);
}

async function line(
  print: Print,
  scheduler: Scheduler,
  what: string,
  work: () => Promise<unknown>,
): Promise<void> {
  const measured = await measure(scheduler, work);
  const [ms, cpu] = [measured.ms, measured.cpuMs].map((time) => time.toFixed(0));
  const stretch = measured.stretchMs.toFixed(1);
  print(`${what}: ${ms} ms, of it ${cpu} ms work, longest stretch ${stretch} ms`);
}

/** Medians of a change to one route; and of one to an interface that routes rest on. */
async function oneChange(print: Print, count: number): Promise<void> {
  const { make } = makeNode();
  const scheduler = make();
  await must(scheduler.commit({ ...resync, values: wishes(count) }));
  const rounds = 200;
  const median = async (valuesOf: (round: number) => Map<string, Value>): Promise<string> => {
    const times: number[] = [];
    let visits = 0;
    for (let round = 0; round < rounds; round++) {
      const values = valuesOf(round);
      const start = performance.now();
      const visitsBefore = scheduler.visits;
      await must(scheduler.commit({ ...update, values }));
      times.push(performance.now() - start);
      visits = Math.max(visits, scheduler.visits - visitsBefore);
    }
    times.sort((a, b) => a - b);
    return `median ${times[rounds >> 1]?.toFixed(3)} ms, ${visits} visits of values`;
  };
  const oneRoute = await median((round) => {
    const i = (round * 7919) % count;
    return new Map([[routeKey(i), route(i, round + 2)]]);
  });
  print(`one change among ${count} values: ${oneRoute}`);
  const hub = await median(
    (round) => new Map([['config/interface/if0', { name: 'if0', mtu: 1500 + round }]]),
  );
  print(`change of an interface under ${count / interfaces} routes: ${hub}`);
  await scheduler.close();
}
