/**
 * The key-value scheduler on a southbound that costs nothing but one turn of the event loop per
 * reply: the cost of planning, bookkeeping and comparing, and that a change costs the same among
 * many values as among few. Each step runs in a new process, as after the start of an agent.
 */
import { performance } from 'node:perf_hooks';
import type { Value } from '#kvscheduler/api/transaction.ts';
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import {
  chains,
  family,
  InstantSouthbound,
  interfaceKey,
  peers,
  ring,
  route,
  routeKey,
  routes,
} from './lib/instant-southbound.ts';
import { type Measurement, measure } from './lib/measure.ts';
import { type Print, runInSubprocess } from './lib/subprocess.ts';

export const NAME = 'scheduler: many values, one change';

const update = { description: 'bench', mode: 'update', onFailure: 'best-effort' } as const;
const resync = { ...update, mode: 'full-resync' } as const;

const LONGEST_STRETCH_MS = 20;

const steps: Readonly<Record<string, (print: Print) => Promise<void>>> = {
  independent,
  dependent,
  resyncs,
  restart: (print) => restart(print, false),
  restartAfterDrift: (print) => restart(print, true),
  oneChange,
  families,
  rings,
  manyPeers,
  memory: (print) => memory(print, false),
  memoryWithHistory: (print) => memory(print, true),
};

export async function run(print: Print): Promise<void> {
  for (const step of Object.keys(steps)) await runInSubprocess(import.meta.filename, step, print);
}

/** (a) Independent values. */
async function independent(print: Print): Promise<void> {
  await creations(print, '(a) 10,000 independent values', routes(10_000), 100_000);
}

/** (d) Values that each depend on the one before. */
async function dependent(print: Print): Promise<void> {
  await creations(print, '(d) 1,000 chains of 10 dependent values', chains(1_000, 10), undefined);
}

async function creations(
  print: Print,
  what: string,
  values: ReadonlyMap<string, Value>,
  target: number | undefined,
): Promise<void> {
  const rounds = 25;
  for (const window of [100, 1, 1000]) {
    const works: Measurement[] = [];
    for (let round = 0; round < rounds; round++) {
      const scheduler = new InstantSouthbound().scheduler({ window });
      works.push(await measure(() => must(scheduler.commit({ ...update, values }))));
      await scheduler.close();
    }
    const [first] = works as [Measurement];
    const steady = medianOf(works.slice(5).map(({ ms }) => ms));
    const rate = (values.size / steady) * 1000;
    const verdict =
      target !== undefined && window === 100 ? judged(rate >= target, `${count(target)}/s`) : '';
    print(`${what}, window ${window}: ${count(rate)}/s${verdict}`);
    if (window === 100)
      print(`    the first time in a process: ${count((values.size / first.ms) * 1000)}/s`);
    printStretch(
      print,
      works.reduce((a, b) => (b.longest.cpuMs > a.longest.cpuMs ? b : a)),
    );
  }
}

const MANY = 100_000;

/** (b) in the process that created the values. */
async function resyncs(print: Print): Promise<void> {
  const southbound = new InstantSouthbound();
  const scheduler = southbound.scheduler();
  const created = routes(MANY);
  const first = await measure(() => must(scheduler.commit({ ...resync, values: created })));
  print(`    ${count(MANY)} values, all created by a first resync: ${seconds(first)}`);
  printStretch(print, first);
  await oneResync(print, scheduler, 'full resync, nothing to do', 0);
  drift(southbound);
  await oneResync(print, scheduler, 'full resync, 1 % to reconcile', MANY / 100);
  const values = routes(MANY);
  const upstream = await measure(() =>
    must(scheduler.commit({ ...update, mode: 'upstream-resync', values })),
  );
  print(`    ${count(MANY)} values, upstream resync, nothing to do: ${seconds(upstream)}`);
  printStretch(print, upstream);
  await scheduler.close();
}

/** (b) in a process that retrieves the values of the one before. */
async function restart(print: Print, drifted: boolean): Promise<void> {
  const southbound = new InstantSouthbound();
  southbound.put(routes(MANY));
  if (drifted) drift(southbound);
  const scheduler = southbound.scheduler();
  const what = `full resync after a restart, ${drifted ? '1 % to reconcile' : 'nothing to do'}`;
  await oneResync(print, scheduler, what, drifted ? MANY / 100 : 0);
  await scheduler.close();
}

/** Of one percent of the values, half are deleted and half are modified. */
function drift(southbound: InstantSouthbound): void {
  for (let i = 0; i < MANY; i += 200) {
    southbound.remove(routeKey(i));
    southbound.put([[routeKey(i + 1), route(i + 1, 9)]]);
  }
}

async function oneResync(
  print: Print,
  scheduler: Scheduler,
  what: string,
  operations: number,
): Promise<void> {
  const values = routes(MANY);
  const work = await measure(() => must(scheduler.commit({ ...resync, values })));
  const executed = scheduler.history().at(-1)?.Executed?.length ?? 0;
  if (executed !== operations) throw new Error(`${executed} operations instead of ${operations}`);
  print(`(b) ${count(MANY)} values, ${what}: ${seconds(work)}${judged(work.ms <= 1500, '1.5 s')}`);
  printStretch(print, work);
}

interface Effort {
  readonly visits: number;
  readonly lookUps: number;
}

const noEffort: Effort = { visits: 0, lookUps: 0 };

/** (c) The same change among few and among many values, in turn. */
async function oneChange(print: Print): Promise<void> {
  const sizes = [1_000, MANY] as const;
  const schedulers = sizes.map(() => new InstantSouthbound().scheduler());
  for (const [i, size] of sizes.entries())
    await must((schedulers[i] as Scheduler).commit({ ...resync, values: routes(size) }));
  const changes = {
    'one route changed': (round: number, size: number): [string, Value] => {
      const i = (round * 7919) % size;
      return [routeKey(i), route(i, round + 2)];
    },
    'an interface under a tenth of the routes changed': (round: number): [string, Value] => [
      interfaceKey(0),
      { name: 'if0', mtu: 1500 + round },
    ],
  };
  for (const [what, changeOf] of Object.entries(changes)) {
    const times: [number[], number[]] = [[], []];
    const effort: [Effort, Effort] = [noEffort, noEffort];
    const longest = await measure(async () => {
      for (let round = 0; round < 1000; round++)
        for (const i of [0, 1] as const) {
          const scheduler = schedulers[i] as Scheduler;
          const values = new Map([changeOf(round, sizes[i])]);
          const { visits, lookUps } = scheduler;
          const start = performance.now();
          await must(scheduler.commit({ ...update, values }));
          if (round >= 100) times[i].push(performance.now() - start);
          effort[i] = {
            visits: Math.max(effort[i].visits, scheduler.visits - visits),
            lookUps: Math.max(effort[i].lookUps, scheduler.lookUps - lookUps),
          };
        }
    });
    const [few, lots] = times.map(medianOf) as [number, number];
    const [less, more] = effort;
    const isEqual = less.visits === more.visits && less.lookUps === more.lookUps;
    print(
      `(c) ${what}, among ${sizes.map(count).join(' and ')}: ${less.visits} and ${more.visits} visits, ` +
        `${less.lookUps} and ${more.lookUps} look-ups${judged(isEqual, 'equal')}`,
    );
    print(
      `    median ${few.toFixed(3)} and ${lots.toFixed(3)} ms, ` +
        `ratio ${(lots / few).toFixed(2)}${judged(lots / few <= 2, 'at most 2')}`,
    );
    printStretch(print, longest);
  }
}

/** (f) in the worst case: one value with many derived values. */
async function families(print: Print): Promise<void> {
  const members = 20_000;
  const scheduler = new InstantSouthbound().scheduler();
  for (const [what, values] of [
    ['created', family(members, 1)],
    ['changed', family(members, 2)],
    ['halved', family(members / 2, 2)],
  ] as const) {
    const work = await measure(() => must(scheduler.commit({ ...update, values })));
    print(`    one value that derives ${count(members)}, ${what}: ${seconds(work)}`);
    printStretch(print, work);
  }
  await scheduler.close();
}

/** (f) in the worst case: one cycle of many values that each depend on any value of a prefix. */
async function rings(print: Print): Promise<void> {
  const spokes = 10_000;
  const scheduler = new InstantSouthbound().scheduler();
  const values = ring(spokes);
  const work = await measure(() => must(scheduler.commit({ ...update, values })));
  print(`    a cycle of ${count(spokes)} values through prefixes, created: ${seconds(work)}`);
  printStretch(print, work);
  await scheduler.close();
}

/** The same of values that each need any one of them. */
async function manyPeers(print: Print): Promise<void> {
  const values = peers(10_000);
  const none = new Map([...values.keys()].map((key) => [key, null]));
  const scheduler = new InstantSouthbound().scheduler();
  for (const [what, changes] of [
    ['created', values],
    ['deleted', none],
  ] as const) {
    const work = await measure(() => must(scheduler.commit({ ...update, values: changes })));
    print(
      `    ${count(values.size)} values that need any of each other, ${what}: ${seconds(work)}`,
    );
    printStretch(print, work);
  }
  await scheduler.close();
}

/** (e) Memory of a value, without the copy of the southbound. */
async function memory(print: Print, historyOn: boolean): Promise<void> {
  const before = heapUsed();
  const southbound = new InstantSouthbound();
  const scheduler = southbound.scheduler(historyOn ? {} : { history: { bytes: 0 } });
  const values = routes(MANY);
  const work = await measure(() => must(scheduler.commit({ ...resync, values })));
  southbound.clear();
  values.clear();
  const bytes = (heapUsed() - before) / MANY;
  const verdict = historyOn ? '' : judged(bytes <= 2048, '2,048');
  print(`(e) history ${historyOn ? 'on' : 'off'}: ${count(bytes)} bytes a value${verdict}`);
  printStretch(print, work);
  await scheduler.close();
}

function heapUsed(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

async function must(committed: ReturnType<Scheduler['commit']>): Promise<void> {
  const { failures } = await committed;
  if (failures.length > 0) throw failures[0]?.error ?? new Error('failed');
}

function medianOf(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] as number;
}

/** (f) */
function printStretch(print: Print, { longest, longestOwnMs }: Measurement): void {
  const verdict = judged(longest.cpuMs <= LONGEST_STRETCH_MS, `${LONGEST_STRETCH_MS} ms`);
  const [cpu, clock, gc, own] = [longest.cpuMs, longest.ms, longest.gcMs, longestOwnMs].map((ms) =>
    ms.toFixed(1),
  );
  print(
    `    (f) longest stretch ${cpu} ms of work${verdict}; by the clock ${clock}, ${gc} of it GC`,
  );
  print(`        longest without GC ${own} ms`);
}

function judged(met: boolean, target: string): string {
  return ` (target ${target}: ${met ? 'met' : 'MISSED'})`;
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en');
}

function seconds({ ms, cpuMs, gcMs }: Measurement): string {
  const [all, work, gc] = [ms, cpuMs, gcMs].map((value) => (value / 1000).toFixed(2));
  return `${all} s, of it ${work} s work, ${gc} s GC`;
}

if (import.meta.main) await steps[process.argv[2] ?? '']?.(console.log);
