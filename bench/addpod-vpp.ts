/**
 * AddPod on a real VPP, with TAPs where VPP can create them. After each call to the agent of one node, the
 * same messages to VPP and batches to the kernel are replayed on a second node without an agent: the ratio
 * is the cost of the agent.
 */
import { withoutNodes } from '#test/support/requirements.ts';
import { median } from './lib/floor/row.ts';
import { type Attached, ReplayedNode } from './lib/replayed-node.ts';

export const NAME = 'addpod-vpp';

const WARM_UP = 3;
const PAIRS = 20;

export async function run(print: (line: string) => void): Promise<void> {
  if (withoutNodes()) {
    print(`not measured: ${withoutNodes()}`);
    return;
  }
  await using nodes = await ReplayedNode.start();
  const pairs: Attached[] = [];
  for (let round = 0; round < WARM_UP + PAIRS; round++) {
    const pair = await nodes.attach((sandbox) => nodes.node.attach(sandbox));
    if (round >= WARM_UP) pairs.push(pair);
  }
  const ms = (of: (pair: Attached) => number) => median(pairs.map(of)).toFixed(1);
  const ratios = pairs.map((pair) => pair.ms / pair.replayedMs);
  const batches = pairs.at(-1)?.batches ?? 0;
  print(`AddPod: median ${ms((pair) => pair.ms)} ms, ${batches} batches to the kernel`);
  print(`replay without agent: median ${ms((pair) => pair.replayedMs)} ms`);
  print(
    `ratio: median ${median(ratios).toFixed(2)}, ` +
      `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}, ${PAIRS} pairs`,
  );
}
