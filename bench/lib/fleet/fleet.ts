/** Light agents in a few processes, on one etcd, or on proxies before it. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EtcdProxy } from '#test/integration/support/etcd-proxy.ts';
import type { EtcdServer } from '#test/integration/support/etcd-server.ts';
import { cpuSecondsOf } from '#test/integration/support/process-cpu.ts';
import type { LightAgentsArgs, LightAgentsState } from './messages.ts';

const MAIN = new URL('./light-agents.ts', import.meta.url);
/** A process of Node.js has one thread for all of its agents. */
const PER_PROCESS = 50;
const POLL_MS = 50;

/** Seconds of processor time. */
export interface FleetCpu {
  readonly etcd: number;
  readonly proxies: number;
  readonly agents: number;
}

export interface FleetOptions {
  /** Between the agents and etcd; default: none. */
  readonly proxies?: number;
  /** Of etcd as the agents see it; default: its own. */
  readonly port?: number;
  /** Whether all agents read at once what all have lost. */
  readonly withoutSpread?: boolean;
}

export class Fleet implements AsyncDisposable {
  readonly size: number;
  /** Of etcd, or of the proxies before it. */
  readonly ports: readonly number[];
  readonly #etcd: EtcdServer;
  readonly #proxies: readonly EtcdProxy[];
  readonly #processes: readonly ChildProcess[];

  static async start(
    etcd: EtcdServer,
    size: number,
    { proxies: proxyCount = 0, port = etcd.port, withoutSpread = false }: FleetOptions = {},
  ): Promise<Fleet> {
    const proxies: EtcdProxy[] = [];
    for (let at = 0; at < proxyCount; at++) proxies.push(await etcd.proxy());
    const ports = proxies.length > 0 ? proxies.map((proxy) => proxy.port) : [port];
    const processes: ChildProcess[] = [];
    for (let first = 0; first < size; first += PER_PROCESS) {
      const count = Math.min(PER_PROCESS, size - first);
      const args: LightAgentsArgs = { count, first, ports, withoutSpread };
      processes.push(fork(MAIN, [JSON.stringify(args)]));
    }
    return new Fleet(etcd, size, ports, proxies, processes);
  }

  private constructor(
    etcd: EtcdServer,
    size: number,
    ports: readonly number[],
    proxies: readonly EtcdProxy[],
    processes: readonly ChildProcess[],
  ) {
    this.#etcd = etcd;
    this.size = size;
    this.ports = ports;
    this.#proxies = proxies;
    this.#processes = processes;
  }

  /** @param turn the value that the last change has */
  async state(turn: string): Promise<LightAgentsState> {
    const all = await Promise.all(
      this.#processes.map(async (one) => {
        const reply = once(one, 'message') as Promise<[LightAgentsState]>;
        one.send(turn);
        return (await reply)[0];
      }),
    );
    const sum = (field: keyof LightAgentsState) =>
      all.reduce((total, one) => total + one[field], 0);
    return {
      watching: sum('watching'),
      current: sum('current'),
      resyncs: sum('resyncs'),
      changes: sum('changes'),
    };
  }

  /** Resolves when all agents follow the database and have the value of the last change. */
  async whenCurrent(turn: string): Promise<LightAgentsState> {
    for (;;) {
      const state = await this.state(turn);
      if (state.watching === this.size && state.current === this.size) return state;
      await sleep(POLL_MS);
    }
  }

  get cpu(): FleetCpu {
    const sum = (pids: readonly number[]) =>
      pids.reduce((total, pid) => total + cpuSecondsOf(pid), 0);
    return {
      etcd: cpuSecondsOf(this.#etcd.pid),
      proxies: sum(this.#proxies.map(({ pid }) => pid)),
      agents: sum(this.#processes.map(({ pid }) => pid!)),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const one of this.#processes) {
      const exit = once(one, 'exit');
      one.kill('SIGKILL');
      await exit;
    }
    for (const proxy of this.#proxies) await proxy.close();
  }
}
