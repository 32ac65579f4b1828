/**
 * Clocks of the processor that a packet costs in the graph of VPP, against a VPP without an agent that forwards the same
 * packets, in the same run; by graph node, and as a whole. Packets of 60 bytes over UDP, of 1,000 flows that are
 * established. Receivers are devices whose nodes do not count. And the throughput of TCP from pod to pod.
 */
import { withoutNodes, withoutSocketHooks, withoutVhostNet } from '#test/support/requirements.ts';
import { median } from './lib/floor/row.ts';
import { startBareNode } from './lib/packets/bare-node.ts';
import { type GraphCost, graphCost, total } from './lib/packets/graph-cost.ts';
import type { MeasuredNode } from './lib/packets/measured-node.ts';
import { startOurNode } from './lib/packets/our-node.ts';
import { type PathName, packetsOf, pathNames } from './lib/packets/paths.ts';
import type { Print } from './main.ts';

export const NAME = 'packets';

const ROUNDS = 5;

export async function run(print: Print): Promise<void> {
  const missing = withoutNodes() || withoutVhostNet() || withoutSocketHooks();
  if (missing) return print(`not measured: ${missing}`);
  for (const family of [4, 6] as const) {
    await using bare = await startBareNode(family, 0);
    await using ours = await startOurNode(family, 0);
    for (const path of pathNames)
      await comparePath(print, `IPv${family}, ${path}`, path, bare, ours);
  }
}

async function comparePath(
  print: Print,
  title: string,
  path: PathName,
  bare: MeasuredNode,
  ours: MeasuredNode,
): Promise<void> {
  const costs: Record<'bare' | 'ours', GraphCost[]> = { bare: [], ours: [] };
  for (let round = 0; round < ROUNDS; round++) {
    costs.bare.push(await graphCost(bare.vpp, packetsOf(path, bare.ends)));
    costs.ours.push(await graphCost(ours.vpp, packetsOf(path, ours.ends)));
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
