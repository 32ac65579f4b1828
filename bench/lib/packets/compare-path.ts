/** The clocks of a path in the VPP of an agent, and in a bare one. */
import { median } from '../floor/row.ts';
import type { Print } from '../subprocess.ts';
import { type GraphCost, graphCost, total } from './graph-cost.ts';
import type { MeasuredNode } from './measured-node.ts';
import { type PathName, packetsOf } from './paths.ts';

const ROUNDS = 5;

/**
 * @param barePath of the bare node, if it is another one
 * @returns the clocks of the node with an agent by those of the bare one
 */
export async function comparePath(
  print: Print,
  title: string,
  path: PathName,
  bare: MeasuredNode,
  ours: MeasuredNode,
  barePath = path,
  workers = 0,
): Promise<number> {
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
  return cost / least;
}

/** The most expensive first. */
export function nodesText(costs: readonly GraphCost[]): string {
  const names = [...new Set(costs.flatMap((cost) => [...cost.keys()]))];
  return names
    .map((name) => [name, median(costs.map((cost) => cost.get(name) ?? 0))] as const)
    .sort(([, a], [, b]) => b - a)
    .map(([name, clocks]) => `${name} ${clocks.toFixed(0)}`)
    .join(', ');
}
