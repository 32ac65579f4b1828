/**
 * scheduler-cost.js independent|chain|derived <count> [<derived>]: the work of bench/reference/ligato in a new
 * process, and the same line of JSON. The southbound is like ligato's: it keeps nothing and answers at once.
 */
import { performance } from 'node:perf_hooks';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { AnyDescriptor } from '#kvscheduler/api/descriptor.ts';
import { createScheduler } from '#kvscheduler/kv-scheduler.ts';
import { chain, type Family, families, independentLinks, type Link } from './instant-southbound.ts';

/** Of one transaction; memory is that of the process after it. */
export interface SchedulerCost {
  readonly ms: number;
  /** Of all threads. */
  readonly cpuMs: number;
  /** After a garbage collection. */
  readonly restRssBytes: number;
  /** After one that returns free memory to the system. */
  readonly rssBytes: number;
  readonly heapBytes: number;
}

const works = { independent: independentLinks, chain, derived: families };

const link: AnyDescriptor = {
  ...answeringAtOnce('link'),
  dependencies: (_key: string, { behind }: Link) =>
    behind === undefined ? [] : [{ label: 'before', key: behind }],
};

const family: AnyDescriptor = {
  ...answeringAtOnce('family'),
  derived: (key: string, { members }: Family) =>
    Array.from({ length: members }, (_, i) => ({
      key: `config/member/${i}/${key}`,
      value: { weight: 1 },
    })),
};

function answeringAtOnce(kind: string): AnyDescriptor {
  const prefix = `config/${kind}/`;
  return {
    name: kind,
    keyPrefixes: [prefix],
    nbKeyPrefix: prefix,
    typeName: `bench.${kind}`,
    create: async () => undefined,
    delete: async () => undefined,
  };
}

async function cost(work: keyof typeof works, count: number, derived: number): Promise<void> {
  const values = works[work](count, derived);
  const descriptors = [link, family, answeringAtOnce('member')];
  const scheduler = createScheduler({ descriptors, clock: systemClock, log: silentLogger });
  globalThis.gc?.();
  const [start, startCpu] = [performance.now(), process.cpuUsage()];
  const { failures } = await scheduler.commit({
    description: 'bench',
    mode: 'update',
    onFailure: 'best-effort',
    values,
  });
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(startCpu);
  for (const key of values.keys()) {
    const { state } = scheduler.status(key).value;
    if (state !== 'CONFIGURED') throw new Error(`${key} is ${state}`);
  }
  if (failures.length > 0) throw failures[0]?.error;
  globalThis.gc?.();
  const { rss: restRssBytes } = process.memoryUsage();
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  const { rss: rssBytes, heapUsed } = process.memoryUsage();
  const result: SchedulerCost = {
    ms,
    cpuMs: (user + system) / 1000,
    restRssBytes,
    rssBytes,
    heapBytes: heapUsed,
  };
  console.log(JSON.stringify(result));
  await scheduler.close();
}

if (import.meta.main) {
  const [work, count, derived] = process.argv.slice(2);
  await cost(work as keyof typeof works, Number(count), Number(derived));
}
