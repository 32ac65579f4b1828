/**
 * Clocks of the processor that a packet costs in the graph of VPP, against a VPP without an agent that forwards the same
 * packets, in the same run; by graph node, and as a whole. Packets of 60 bytes over UDP, of 1,000 flows that are
 * established. Receivers are devices whose nodes do not count. And the throughput of TCP from pod to pod.
 */
import { serviceRecords } from '#test/services/compliance/records.ts';
import {
  findProgram,
  withoutNodes,
  withoutSocketHooks,
  withoutVhostNet,
} from '#test/support/requirements.ts';
import { median } from './lib/floor/row.ts';
import { startBareNode } from './lib/packets/bare-node.ts';
import { comparePath } from './lib/packets/compare-path.ts';
import { isolate } from './lib/packets/isolate.ts';
import type { MeasuredNode } from './lib/packets/measured-node.ts';
import { type OurNode, startOurNode } from './lib/packets/our-node.ts';
import { NODE_PORT, type PathName, pathNames } from './lib/packets/paths.ts';
import { tcpThroughput } from './lib/packets/tcp-throughput.ts';
import type { Print } from './main.ts';

export const NAME = 'packets';

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
