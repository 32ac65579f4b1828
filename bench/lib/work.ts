/** How long something took, how long of it the main thread worked, and in what stretches. */
import { type PerformanceEntry, PerformanceObserver, performance } from 'node:perf_hooks';

export interface Stretch {
  /** Processor time of the main thread: what is left when the machine is busy with other things. */
  readonly cpuMs: number;
  /** Of it, by the clock: V8 collected garbage. */
  readonly gcMs: number;
}

export interface Work {
  readonly ms: number;
  readonly cpuMs: number;
  readonly gcMs: number;
  /** The most that the main thread did without its event loop coming round. */
  readonly longest: Stretch;
}

/** Shorter stretches are not kept. */
const shortMs = 1;

interface Lap {
  readonly from: number;
  readonly to: number;
  readonly cpuMs: number;
}

class Laps {
  readonly long: Lap[] = [];
  #at = performance.now();
  #cpu = cpuNow();

  look(): void {
    const [at, cpu] = [performance.now(), cpuNow()];
    const cpuMs = cpu - this.#cpu;
    if (cpuMs >= shortMs) this.long.push({ from: this.#at, to: at, cpuMs });
    this.#at = at;
    this.#cpu = cpu;
  }
}

export async function measure(work: () => Promise<unknown>): Promise<Work> {
  const collections: PerformanceEntry[] = [];
  const observer = new PerformanceObserver((list) => void collections.push(...list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });
  const start = performance.now();
  const startCpu = cpuNow();
  const laps = new Laps();
  let running = true;
  const look = () => {
    if (!running) return;
    laps.look();
    setImmediate(look);
  };
  setImmediate(look);
  await work();
  laps.look();
  running = false;
  const ms = performance.now() - start;
  const cpuMs = cpuNow() - startCpu;
  // What was collected is told a little later.
  await new Promise((resolve) => setTimeout(resolve, 10));
  collections.push(...observer.takeRecords());
  observer.disconnect();
  const longest = laps.long.reduce<Lap>((a, b) => (b.cpuMs > a.cpuMs ? b : a), {
    from: start,
    to: start,
    cpuMs: 0,
  });
  return {
    ms,
    cpuMs,
    gcMs: collectedIn(collections, start, start + ms),
    longest: { cpuMs: longest.cpuMs, gcMs: collectedIn(collections, longest.from, longest.to) },
  };
}

function cpuNow(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function collectedIn(collections: readonly PerformanceEntry[], from: number, to: number): number {
  let ms = 0;
  for (const { startTime, duration } of collections)
    ms += Math.max(0, Math.min(to, startTime + duration) - Math.max(from, startTime));
  return ms;
}
