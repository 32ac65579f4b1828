/** Costs of agents for each change, against their number. */
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuSecondsOf } from '#test/integration/support/process-cpu.ts';
import { LargeAgent } from '../large/agent-process.ts';
import { Churn } from '../large/churn.ts';
import { Delays } from '../large/delays.ts';
import { Writer } from '../large/writer.ts';
import { quantiles } from '../quantiles.ts';
import { FleetCluster } from './cluster.ts';
import { Fleet, type FleetCpu } from './fleet.ts';

const NODES = 100;
export const CHANGES_PER_SECOND = 100;
/** Of all agents together: the most that two cores carry, so that each change arrives before the next one. */
const DELIVERIES_PER_SECOND = 3_000;
const WARM_UP_SECONDS = 5;
const QUIET_SECONDS = 8;
const SECONDS = 20;
const REPORT_MS = 1_000;

/** Microseconds. */
export interface PartsCpu extends FleetCpu {
  /** The agent beside the light ones. */
  readonly agent: number;
}

export interface Cost {
  readonly agents: number;
  /** Changes a second. */
  readonly rate: number;
  /** Processor time for one change, without what costs time also when nothing changes; of all light agents together. */
  readonly change: PartsCpu;
  /** In a second without changes: probes, and requests for the progress of watches. */
  readonly quiet: PartsCpu;
  readonly text: string;
}

/** Light agents and one agent beside them follow changes. @param proxies number of them before etcd */
export async function costOf(agents: number, proxies: number): Promise<Cost> {
  await using cluster = await FleetCluster.start(NODES);
  const { etcd } = cluster;
  const begin = { at: performance.now(), cpu: cpuSecondsOf(etcd.pid) };
  await using fleet = await Fleet.start(etcd, agents, { proxies });
  await fleet.whenCurrent(await cluster.mark());
  const startSeconds = (performance.now() - begin.at) / 1_000;
  const startCpu = cpuSecondsOf(etcd.pid) - begin.cpu;
  await using agent = new LargeAgent(fleet.ports);
  await agent.ready;
  await agent.announcePods(etcd);
  const rate = Math.min(CHANGES_PER_SECOND, DELIVERIES_PER_SECOND / agents);
  const churn = new Churn(cluster.part);
  // the first changes compile the code
  const first = new Writer(etcd, churn, rate);
  await sleep(WARM_UP_SECONDS * 1_000);
  await first.stop();
  await fleet.whenCurrent(await cluster.mark());

  const quiet = await perSecond(fleet, agent, () => sleep(QUIET_SECONDS * 1_000));
  await agent.report('report');
  const { changes } = await fleet.state('');
  const writer = new Writer(etcd, churn, rate);
  const delays = new Delays(writer);
  let delivered = 0;
  const start = performance.now();
  const busy = await perSecond(fleet, agent, async () => {
    while (performance.now() - start < SECONDS * 1_000) {
      await sleep(REPORT_MS);
      delays.add(await agent.report('report'));
    }
    await writer.stop();
    delivered = (await fleet.whenCurrent(await cluster.mark())).changes - changes;
    delays.add(await agent.report('report'));
  });
  const seconds = (performance.now() - start) / 1_000;
  // the last one is the mark
  const count = writer.count + 1;
  const change = map((part) => Math.max(0, (busy[part] - quiet[part]) * seconds) / count);
  const each = ({ etcd: ofEtcd, proxies: ofProxies, agents: ofAgents }: PartsCpu): string =>
    [ofEtcd, ofProxies, ofAgents].map((all) => (all / agents).toFixed(1)).join(', ');
  return {
    agents,
    rate,
    change,
    quiet,
    text:
      `${agents} agents: start ${startSeconds.toFixed(1)} s, ${startCpu.toFixed(2)} s of etcd; ${rate.toFixed(0)} changes a second, ` +
      `${count} in all (${writer.failed} failed), of which each has got ${(delivered / agents).toFixed(0)}; ` +
      `µs of etcd, proxies and light agent for an agent and change: ${each(change)}, ` +
      `for an agent and second without changes: ${each(quiet)}; whole agent ${change.agent.toFixed(0)} µs a change, ` +
      `from write to the end of the transaction ${delays.text}; etcd's answer to the write ${quantiles(writer.answers)}`,
  };
}

/** Microseconds of processor time in a second. */
async function perSecond(
  fleet: Fleet,
  agent: LargeAgent,
  during: () => Promise<unknown>,
): Promise<PartsCpu> {
  const now = (): PartsCpu => ({ ...fleet.cpu, agent: agent.cpuSeconds });
  const before = now();
  const start = performance.now();
  await during();
  const after = now();
  const factor = 1e9 / (performance.now() - start);
  return map((part) => (after[part] - before[part]) * factor);
}

function map(value: (part: keyof PartsCpu) => number): PartsCpu {
  return {
    etcd: value('etcd'),
    proxies: value('proxies'),
    agents: value('agents'),
    agent: value('agent'),
  };
}
