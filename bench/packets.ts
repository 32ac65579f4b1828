/**
 * Clocks of the processor that a packet costs in the graph of VPP, against a VPP without an agent that forwards the same
 * packets, in the same run; by graph node, and as a whole. Packets of 60 bytes over UDP, of 1,000 flows that are
 * established. Receivers are devices whose nodes do not count. And the throughput of TCP from pod to pod.
 */
import { resources } from '#kubernetes/resources/resources.ts';
import { block, policy, selector } from '#test/plugins/policy/policy-objects.ts';
import { serviceRecords } from '#test/services/compliance/records.ts';
import {
  findProgram,
  withoutNodes,
  withoutSocketHooks,
  withoutVhostNet,
} from '#test/support/requirements.ts';
import { median } from './lib/floor/row.ts';
import { startBareNode } from './lib/packets/bare-node.ts';
import { type GraphCost, graphCost, total } from './lib/packets/graph-cost.ts';
import type { MeasuredNode } from './lib/packets/measured-node.ts';
import { type OurNode, startOurNode } from './lib/packets/our-node.ts';
import { NODE_PORT, type PathName, packetsOf, pathNames } from './lib/packets/paths.ts';
import { tcpThroughput } from './lib/packets/tcp-throughput.ts';
import type { Print } from './main.ts';

export const NAME = 'packets';

const ROUNDS = 5;
const RULES = [1, 100, 1000];
const REMOTE_RULES = 100;
const THROUGHPUT_ROUNDS = 3;
const WORKERS = 2;

export async function run(print: Print): Promise<void> {
  const missing = withoutNodes() || withoutVhostNet() || withoutSocketHooks();
  if (missing) return print(`not measured: ${missing}`);
  for (const family of [4, 6] as const) {
    await using bare = await startBareNode(family, 0);
    await using ours = await startOurNode(family, 0);
    for (const path of pathNames)
      if (path !== 'outside → node port')
        await comparePath(print, `IPv${family}, ${path}`, path, bare, ours);
    for (const rules of RULES) {
      await isolate(ours, rules);
      const title = `IPv${family}, pod → pod under a policy of ${rules} rules`;
      await comparePath(print, title, 'pod → pod', bare, ours);
      if (rules === REMOTE_RULES) {
        const remote = `IPv${family}, pod of another node → pod under a policy of ${rules} rules`;
        await comparePath(print, remote, 'pod of another node → pod', bare, ours);
      }
    }
    await isolate(ours, undefined);
    // without a policy again
    await comparePath(print, `IPv${family}, pod → pod, afterwards`, 'pod → pod', bare, ours);
    if (family === 4) {
      await serveNodePort(ours);
      await comparePath(print, 'IPv4, pod → pod, a service in use', 'pod → pod', bare, ours);
      const nodePort = 'outside → node port';
      await comparePath(print, `IPv4, ${nodePort}`, nodePort, bare, ours, 'outside → pod');
    }
    await compareThroughput(print, `IPv${family}`, bare, ours);
  }
  await compareWorkers(print);
}

/** Each of two workers sends the same packets; the paths differ in what the workers share. */
async function compareWorkers(print: Print): Promise<void> {
  await using bare = await startBareNode(4, WORKERS);
  await using ours = await startOurNode(4, WORKERS);
  const compare = (title: string, path: PathName) =>
    comparePath(print, `IPv4, ${title}, two workers`, path, bare, ours, path, WORKERS);
  for (const path of ['pod → pod', 'pod → pod of another node', 'pod → outside'] as const)
    await compare(path, path);
  await isolate(ours, 100);
  await compare('pod → pod under a policy of 100 rules', 'pod → pod');
}

/** Permits the receiving pod its sender, on this node and on the other one, by the last of as many rules. */
async function isolate({ cluster, ends }: OurNode, rules: number | undefined): Promise<void> {
  const names = { name: 'bench', namespace: 'default' };
  const other = (n: number) => (ends.pod.includes(':') ? `2001:db8::${n * 2}` : unused(n));
  const peers = Array.from({ length: Math.max((rules ?? 1) - 2, 0) }, (_, n) =>
    hostBlock(other(n)),
  );
  const value =
    rules === undefined
      ? undefined
      : policy({
          ...names,
          pods: selector({ app: 'b' }),
          policy_type: 'INGRESS',
          ingress_rule: [{ from: [...peers, hostBlock(ends.remotePod), hostBlock(ends.pod)] }],
        });
  await cluster.write({ resource: resources.policy, ...names, value });
}

/** Addresses that no prefix unites. */
function unused(n: number): string {
  return `203.0.${n >> 7}.${(n & 127) * 2}`;
}

function hostBlock(address: string) {
  return block(`${address}/${address.includes(':') ? 128 : 32}`);
}

async function serveNodePort({ cluster }: OurNode): Promise<void> {
  const input = {
    service_type: 'NodePort',
    cluster_ip: '10.96.1.10',
    ports: [{ port: 80, target: 9, nodePort: NODE_PORT }],
    backends: [{ pod: 'b' }],
  } as const;
  await cluster.apply(serviceRecords(cluster, 'bench', input));
}

async function compareThroughput(
  print: Print,
  family: string,
  bare: MeasuredNode,
  ours: MeasuredNode,
): Promise<void> {
  if (findProgram('iperf3') === undefined) return print('TCP not measured: install iperf3');
  const rates: Record<'bare' | 'ours', number[]> = { bare: [], ours: [] };
  for (let round = 0; round < THROUGHPUT_ROUNDS; round++) {
    rates.bare.push(await tcpThroughput(bare));
    rates.ours.push(await tcpThroughput(ours));
  }
  const [most, rate] = [median(rates.bare), median(rates.ours)];
  const text = (bits: number) => `${(bits / 1e9).toFixed(2)} Gbit/s`;
  print(
    `${family}, TCP, one stream: ${text(rate)}, bare ${text(most)}: ${(rate / most).toFixed(2)}`,
  );
}

/** @param barePath of the bare node, if it is another one */
async function comparePath(
  print: Print,
  title: string,
  path: PathName,
  bare: MeasuredNode,
  ours: MeasuredNode,
  barePath = path,
  workers = 0,
): Promise<void> {
  const costs: Record<'bare' | 'ours', GraphCost[]> = { bare: [], ours: [] };
  for (let round = 0; round < ROUNDS; round++) {
    costs.bare.push(await graphCost(bare.vpp, packetsOf(barePath, bare.ends), workers));
    costs.ours.push(await graphCost(ours.vpp, packetsOf(path, ours.ends), workers));
  }
  const [least, cost] = [costs.bare, costs.ours].map((all) => median(all.map(total))) as [
    number,
    number,
  ];
  print(
    `${title}: ${cost.toFixed(0)} clocks, bare ${least.toFixed(0)}: ${(cost / least).toFixed(2)}`,
  );
  print(`  bare: ${nodesText(costs.bare)}`);
  print(`  ours: ${nodesText(costs.ours)}`);
}

/** The most expensive first. */
function nodesText(costs: readonly GraphCost[]): string {
  const names = [...new Set(costs.flatMap((cost) => [...cost.keys()]))];
  return names
    .map((name) => [name, median(costs.map((cost) => cost.get(name) ?? 0))] as const)
    .sort(([, a], [, b]) => b - a)
    .map(([name, clocks]) => `${name} ${clocks.toFixed(0)}`)
    .join(', ');
}
