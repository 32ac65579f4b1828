/** A VPP of the bench, a client, and timed commits of schedulers on it. */
import { readFileSync } from 'node:fs';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { TransactionMode, Value } from '#kvscheduler/api/transaction.ts';
import { createScheduler } from '#kvscheduler/kv-scheduler.ts';
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import { VppProcess } from '#test/integration/support/vpp-process.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';
import { unixConnect } from '#vpp/binapi/transport/unix.ts';
import { vppDescriptors } from '#vpp/descriptors/vpp-descriptors.ts';

const [clock, log] = [systemClock, silentLogger];

/** Resolves when it is connected. */
export async function clientOf(apiSocket: string): Promise<BinapiClient> {
  const connect = unixConnect(apiSocket, clock);
  const client = new BinapiClient({ connect, clock, random: systemRandom, log });
  client.start();
  await client.whenConnected();
  return client;
}

export class VppNode implements AsyncDisposable {
  readonly #vpp: VppProcess;
  readonly client: BinapiClient;
  readonly #agents: Scheduler[] = [];

  static async start(): Promise<VppNode> {
    const vpp = new VppProcess();
    await vpp.start();
    return new VppNode(vpp, await clientOf(vpp.apiSocket));
  }

  private constructor(vpp: VppProcess, client: BinapiClient) {
    this.#vpp = vpp;
    this.client = client;
  }

  /** A new scheduler with all VPP descriptors; it is closed with the node. */
  agent(): Scheduler {
    const descriptors = vppDescriptors({ client: this.client, clock, log });
    const agent = createScheduler({ descriptors, clock, log });
    this.#agents.push(agent);
    return agent;
  }

  get apiSocket(): string {
    return this.#vpp.apiSocket;
  }

  /** Runs a command of VPP's CLI. @returns what it printed */
  cli(command: string): Promise<string> {
    return this.#vpp.cli(command);
  }

  /** Time, in milliseconds, for which VPP's main thread had a processor while `work` ran. */
  async processorTime(work: () => Promise<unknown>): Promise<number> {
    const { vpe_pid: pid } = await this.client.request('control_ping', {});
    const nanoseconds = () =>
      Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]);
    const before = nanoseconds();
    await work();
    return (nanoseconds() - before) / 1e6;
  }

  /** The longest time, in milliseconds, in which VPP handled the API without a pause while `work` ran. */
  async longestRun(work: () => Promise<unknown>): Promise<number> {
    await this.cli('clear runtime');
    await work();
    const runtime = await this.cli('show runtime max');
    const clocks = /^api-rx-from-ring\s+[a-z ]*?([\d.]+e\d+)/m.exec(runtime)?.[1];
    const perSecond = /clocks\/sec ([\d.]+)/.exec(await this.cli('show clock verbose'))?.[1];
    return (Number(clocks) / Number(perSecond)) * 1000;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const agent of this.#agents) await agent.close();
    await this.client.close();
    await this.#vpp.remove();
  }
}

export interface Committed {
  readonly ms: number;
  /** Operations that a descriptor executed. */
  readonly operations: number;
}

/** @throws the first failure */
export async function commit(
  agent: Scheduler,
  mode: TransactionMode,
  values: ReadonlyMap<string, Value | null>,
): Promise<Committed> {
  const start = performance.now();
  const { seqNum, failures } = await agent.commit({
    description: 'bench',
    mode,
    values,
    onFailure: 'best-effort',
  });
  const ms = performance.now() - start;
  if (failures[0] !== undefined) throw new Error(failures[0].key, { cause: failures[0].error });
  const executed = agent.record(seqNum)?.Executed ?? [];
  return { ms, operations: executed.filter(({ NOOP }) => !NOOP).length };
}
