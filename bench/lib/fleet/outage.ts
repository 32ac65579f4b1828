/** How agents return after etcd was out of reach. */
import { setTimeout as sleep } from 'node:timers/promises';
import { FaultyLink } from '#test/integration/support/faulty-link.ts';
import { cpuSecondsOf } from '#test/integration/support/process-cpu.ts';
import { FleetCluster } from './cluster.ts';
import { Fleet } from './fleet.ts';

const SAMPLE_MS = 500;

/**
 * The watches continue; or the history was compacted meanwhile, so that every agent reads everything: at random times, or
 * all at once.
 */
export type Return = 'kept' | 'spread' | 'at once';

export interface Outage {
  /** Since etcd is within reach again. */
  readonly seconds: number;
  /** Reads of the whole database. */
  readonly reads: number;
  /** Cores of etcd at most, in half a second, and seconds of its processor time. */
  readonly peak: number;
  readonly cpuSeconds: number;
}

export async function outage(agents: number, awayMs: number, how: Return): Promise<Outage> {
  await using cluster = await FleetCluster.start(agents);
  const { etcd } = cluster;
  const link = await FaultyLink.start(etcd.port);
  await using _ = { [Symbol.asyncDispose]: () => link.close() };
  await using fleet = await Fleet.start(etcd, agents, {
    port: link.port,
    withoutSpread: how === 'at once',
  });
  const { resyncs } = await fleet.whenCurrent(await cluster.mark());
  link.closed = true;
  link.cut();
  const turn = await cluster.mark();
  if (how !== 'kept') await etcd.compact();
  await sleep(awayMs);
  link.closed = false;
  const start = performance.now();
  const cpu = new Peak(etcd.pid);
  const state = await fleet.whenCurrent(turn);
  return {
    seconds: (performance.now() - start) / 1_000,
    reads: state.resyncs - resyncs,
    ...cpu.end(),
  };
}

/** Processor time of a process, in all and in the busiest half second. */
class Peak {
  readonly #pid: number;
  readonly #begin: number;
  readonly #timer: NodeJS.Timeout;
  #last: { readonly cpu: number; readonly at: number };
  #peak = 0;

  constructor(pid: number) {
    this.#pid = pid;
    this.#begin = cpuSecondsOf(pid);
    this.#last = { cpu: this.#begin, at: performance.now() };
    this.#timer = setInterval(() => this.#sample(), SAMPLE_MS);
  }

  #sample(): void {
    const [cpu, at] = [cpuSecondsOf(this.#pid), performance.now()];
    const cores = ((cpu - this.#last.cpu) * 1_000) / (at - this.#last.at);
    this.#peak = Math.max(this.#peak, cores);
    this.#last = { cpu, at };
  }

  end(): { readonly peak: number; readonly cpuSeconds: number } {
    clearInterval(this.#timer);
    // an end within the first half second
    if (this.#peak === 0) this.#sample();
    return { peak: this.#peak, cpuSeconds: this.#last.cpu - this.#begin };
  }
}
