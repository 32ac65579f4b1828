/**
 * scheduler-cost.ts independent|chain|derived <count> [<derived>]: one transaction in a new process, with the
 * values of bench/reference/ligato, and the same line of JSON.
 */
import { performance } from 'node:perf_hooks';
import { chain, families, InstantSouthbound, independentLinks } from './instant-southbound.ts';

/** Of one transaction; memory is that of the process after it, after a garbage collection. */
export interface SchedulerCost {
  readonly ms: number;
  /** Of all threads. */
  readonly cpuMs: number;
  readonly rssBytes: number;
  readonly heapBytes: number;
}

const works = { independent: independentLinks, chain, derived: families };

async function cost(work: keyof typeof works, count: number, derived: number): Promise<void> {
  const values = works[work](count, derived);
  const scheduler = new InstantSouthbound().scheduler();
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
  const { rss, heapUsed } = process.memoryUsage();
  const result: SchedulerCost = {
    ms,
    cpuMs: (user + system) / 1000,
    rssBytes: rss,
    heapBytes: heapUsed,
  };
  console.log(JSON.stringify(result));
  await scheduler.close();
}

if (import.meta.main) {
  const [work, count, derived] = process.argv.slice(2);
  await cost(work as keyof typeof works, Number(count), Number(derived));
}
