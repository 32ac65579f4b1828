/**
 * The cost of agents for one etcd, and their return after it was out of reach. N light agents, which are the watchers of agents
 * without the rest, follow a cluster of 100 nodes and 1,000 records; one pod is changed after the other. Without a proxy, and
 * with two of `etcd grpc-proxy`. Numbers are processor times per change and agent, which other load of the machine changes
 * little; the line through the numbers of each N is extended to 5,000 agents, with a proxy for each 250 of them.
 *
 * After that etcd is out of reach for some seconds. The watches continue; or its history was compacted meanwhile, so that every agent
 * reads everything: at random times, or all at once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { EtcdStore } from '#datastore/etcd/store.ts';
import { EtcdServer } from '#test/integration/support/etcd-server.ts';
import { FaultyLink } from '#test/integration/support/faulty-link.ts';
import { cpuSecondsOf } from '#test/integration/support/process-cpu.ts';
import { withoutEtcd } from '#test/support/requirements.ts';
import { type ClusterSize, clusterRecords, podRecord } from './lib/cluster-records.ts';
import { cpuBetween, Fleet, type FleetCpu } from './lib/fleet/fleet.ts';

export const NAME = 'fleet: light agents on one etcd';

type Print = (line: string) => void;

const SIZE: ClusterSize = { nodes: 100, namespaces: 20, services: 100, keys: 1_000 };
const AGENTS = [10, 50, 100, 200];
const PROXIES = [0, 2];
/** Maximum number of operations in a transaction of etcd by default. */
const BATCH = 100;
/** Deliveries of each measurement: the more agents, the fewer changes. */
const DELIVERIES = 20_000;
/** Changes a second, so many that the machine delivers each before the next one. */
const DELIVERIES_PER_SECOND = 4_000;
const QUIET_MS = 10_000;
const AWAY_MS = 10_000;
const LARGE = 5_000;
const AGENTS_OF_PROXY = 250;
const CHANGES_PER_SECOND = 100;

/** Processor time of all agents together: microseconds. */
interface Cost {
  readonly agents: number;
  /** For one change, without what costs time also when nothing changes. */
  readonly change: FleetCpu;
  /** In a second without changes: probes, and requests for the progress of watches. */
  readonly quiet: FleetCpu;
}

export async function run(print: Print): Promise<void> {
  const reason = withoutEtcd();
  if (reason) throw new Error(reason);
  for (const proxies of PROXIES) {
    print(proxies === 0 ? 'agents on etcd:' : `agents on ${proxies} proxies:`);
    const costs: Cost[] = [];
    for (const agents of AGENTS) costs.push(await changes(print, agents, proxies));
    extend(print, costs, proxies);
  }
  print(`etcd out of reach for ${AWAY_MS / 1000} s, ${AGENTS.at(-1)} agents:`);
  await outage(print, 'its watches continue', 'kept');
  await outage(print, 'its history is compacted, agents read at random times', 'spread');
  await outage(print, 'its history is compacted, all read at once', 'at once');
}

interface Cluster extends AsyncDisposable {
  readonly etcd: EtcdServer;
  readonly store: EtcdStore;
  /** Changes one pod after the other, at last the first one. @returns what its label `turn` is then */
  change(count: number, pauseMs: number): Promise<string>;
}

async function startCluster(): Promise<Cluster> {
  const etcd = await EtcdServer.start();
  const store = etcd.store(etcd.port, 60_000);
  const all = [...clusterRecords(SIZE)];
  for (let from = 0; from < all.length; from += BATCH)
    await store.putAll(new Map(all.slice(from, from + BATCH)));
  let turn = 0;
  return {
    etcd,
    store,
    async change(count, pauseMs) {
      turn++;
      for (let at = count - 1; at >= 0; at--) {
        await store.put(...podRecord(at, SIZE, turn));
        await sleep(pauseMs);
      }
      return `${turn}`;
    },
    async [Symbol.asyncDispose]() {
      await store.close();
      await etcd.close();
    },
  };
}

async function changes(print: Print, agents: number, proxies: number): Promise<Cost> {
  await using cluster = await startCluster();
  const start = performance.now();
  const idle = cpuSecondsOf(cluster.etcd.pid);
  await using fleet = await Fleet.start(cluster.etcd, agents, { proxies });
  await fleet.whenCurrent('0');
  const started = (performance.now() - start) / 1000;
  const etcdStart = cpuSecondsOf(cluster.etcd.pid) - idle;
  const count = Math.round(DELIVERIES / agents);
  const pauseMs = (1000 * agents) / DELIVERIES_PER_SECOND;
  // the first changes compile the code
  await fleet.whenCurrent(await cluster.change(Math.ceil(count / 4), pauseMs));
  const quiet = await perSecond(fleet, () => sleep(QUIET_MS));
  const delivered = await fleet.state('');
  let seconds = 0;
  let state = delivered;
  const busy = await perSecond(fleet, async () => {
    const begun = performance.now();
    state = await fleet.whenCurrent(await cluster.change(count, pauseMs));
    seconds = (performance.now() - begun) / 1000;
  });
  const perChange = (part: keyof FleetCpu): number =>
    (Math.max(0, busy[part] - quiet[part]) * seconds) / count;
  const change: FleetCpu = {
    etcd: perChange('etcd'),
    proxies: perChange('proxies'),
    agents: perChange('agents'),
  };
  const each = ({ etcd, proxies: ofProxies, agents: ofAgents }: FleetCpu): string =>
    [etcd, ofProxies, ofAgents].map((all) => (all / agents).toFixed(1)).join(', ');
  print(
    `  ${agents} agents: start ${started.toFixed(1)} s, ${etcdStart.toFixed(2)} s of etcd; ${count} changes, ` +
      `${state.changes - delivered.changes} delivered; µs of etcd, proxies and agent for an agent and change: ` +
      `${each(change)}, for an agent and second without changes: ${each(quiet)}`,
  );
  return { agents, change, quiet };
}

/** Microseconds of processor time in a second. */
async function perSecond(fleet: Fleet, during: () => Promise<unknown>): Promise<FleetCpu> {
  const before = fleet.cpu;
  const start = performance.now();
  await during();
  const used = cpuBetween(before, fleet.cpu);
  const factor = 1e9 / (performance.now() - start);
  return {
    etcd: used.etcd * factor,
    proxies: used.proxies * factor,
    agents: used.agents * factor,
  };
}

/** The lines through the costs of each number of agents, at 5,000 of them. */
function extend(print: Print, costs: readonly Cost[], proxies: number): void {
  const at = (agents: number, part: keyof FleetCpu): number =>
    (line(costs, ({ change }) => change[part])(agents) * CHANGES_PER_SECOND +
      line(costs, ({ quiet }) => quiet[part])(agents)) /
    1e6;
  const agent = (at(costs.at(-1)!.agents, 'agents') / costs.at(-1)!.agents).toFixed(3);
  const head = `  ${LARGE} agents, ${CHANGES_PER_SECOND} changes a second, cores`;
  if (proxies === 0) print(`${head}: etcd ${at(LARGE, 'etcd').toFixed(1)}; each agent ${agent}`);
  else
    print(
      `${head}: etcd ${at(LARGE, 'etcd').toFixed(1)}, of which reads and probes through the proxies; ` +
        `each of ${LARGE / AGENTS_OF_PROXY} proxies ${(at(AGENTS_OF_PROXY * proxies, 'proxies') / proxies).toFixed(2)}; each agent ${agent}`,
    );
}

/** Least squares. */
function line(costs: readonly Cost[], value: (cost: Cost) => number): (agents: number) => number {
  const mean = (values: readonly number[]) =>
    values.reduce((sum, one) => sum + one, 0) / values.length;
  const x = mean(costs.map(({ agents }) => agents));
  const y = mean(costs.map(value));
  const slope =
    mean(costs.map((one) => (one.agents - x) * (value(one) - y))) /
    mean(costs.map(({ agents }) => (agents - x) ** 2));
  return (agents) => y + slope * (agents - x);
}

type Return = 'kept' | 'spread' | 'at once';

async function outage(print: Print, what: string, how: Return): Promise<void> {
  await using cluster = await startCluster();
  const { etcd } = cluster;
  const link = await FaultyLink.start(etcd.port);
  await using _ = { [Symbol.asyncDispose]: () => link.close() };
  await using fleet = await Fleet.start(etcd, AGENTS.at(-1)!, {
    port: link.port,
    withoutSpread: how === 'at once',
  });
  await fleet.whenCurrent('0');
  // the back-off of a first attempt is over
  await sleep(how === 'kept' ? 0 : 61_000);
  const { resyncs } = await fleet.state('0');
  link.closed = true;
  link.cut();
  const turn = await cluster.change(10, 0);
  if (how !== 'kept') await etcd.compact();
  await sleep(AWAY_MS);
  link.closed = false;
  const start = performance.now();
  let peak = 0;
  let last = cpuSecondsOf(etcd.pid);
  let at = performance.now();
  const timer = setInterval(() => {
    const [cpu, now] = [cpuSecondsOf(etcd.pid), performance.now()];
    peak = Math.max(peak, ((cpu - last) * 1000) / (now - at));
    [last, at] = [cpu, now];
  }, 500);
  const state = await fleet.whenCurrent(turn);
  clearInterval(timer);
  print(
    `  ${what}: all current after ${((performance.now() - start) / 1000).toFixed(1)} s, ` +
      `${state.resyncs - resyncs} whole reads, etcd at most ${peak.toFixed(2)} cores`,
  );
}
