/** Duration, processor time of the main thread, and the longest time without a turn of the event loop. */
import { type PerformanceEntry, PerformanceObserver, performance } from 'node:perf_hooks';

export interface Stretch {
  /**
   * Processor time of the main thread: other load of the machine does not count. The kernel may
   * count it in ticks of 4 ms, so it is limited to the time by the clock.
   */
  readonly cpuMs: number;
  /** By the clock. */
  readonly ms: number;
  /** Part of `ms`: V8 collected garbage or waited for its helper threads. */
  readonly gcMs: number;
}

export interface Measurement {
  readonly ms: number;
  readonly cpuMs: number;
  readonly gcMs: number;
  /** The longest time without a turn of the event loop. */
  readonly longest: Stretch;
  /** The same without garbage collection: slices can shorten it. */
  readonly longestOwnMs: number;
}

/** Shorter turns are not kept. */
const SHORT_MS = 1;

interface LoopTurn {
  readonly from: number;
  readonly to: number;
  readonly cpuMs: number;
}

class LoopTurns {
  readonly longTurns: LoopTurn[] = [];
  #at = performance.now();
  #cpu = cpuNow();

  sample(): void {
    const [at, cpu] = [performance.now(), cpuNow()];
    const cpuMs = cpu - this.#cpu;
    if (cpuMs >= SHORT_MS) this.longTurns.push({ from: this.#at, to: at, cpuMs });
    this.#at = at;
    this.#cpu = cpu;
  }
}

export async function measure(work: () => Promise<unknown>): Promise<Measurement> {
  const collections: PerformanceEntry[] = [];
  const observer = new PerformanceObserver((list) => void collections.push(...list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });
  const start = performance.now();
  const startCpu = cpuNow();
  const laps = new LoopTurns();
  let running = true;
  const look = () => {
    if (!running) return;
    laps.sample();
    setImmediate(look);
  };
  setImmediate(look);
  await work();
  laps.sample();
  running = false;
  const ms = performance.now() - start;
  const cpuMs = cpuNow() - startCpu;
  // The observer reports collections a little later.
  await new Promise((resolve) => setTimeout(resolve, 10));
  collections.push(...observer.takeRecords());
  observer.disconnect();
  const stretches = laps.longTurns.map((lap) => stretchOf(lap, collections));
  return {
    ms,
    cpuMs,
    gcMs: collectedIn(collections, start, start + ms),
    longest: stretches.reduce((a, b) => (b.cpuMs > a.cpuMs ? b : a), { cpuMs: 0, ms: 0, gcMs: 0 }),
    longestOwnMs: Math.max(0, ...stretches.map((one) => one.cpuMs - one.gcMs)),
  };
}

function stretchOf(
  { from, to, cpuMs }: LoopTurn,
  collections: readonly PerformanceEntry[],
): Stretch {
  const ms = to - from;
  return { cpuMs: Math.min(cpuMs, ms), ms, gcMs: collectedIn(collections, from, to) };
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
