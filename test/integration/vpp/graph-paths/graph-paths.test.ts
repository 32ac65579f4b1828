/** The graph nodes that packets visit are those of their list, and no others. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { NodeName, Place } from '#test/services/service-cluster.ts';
import { withoutNodes, withoutSocketHooks, withoutVhostNet } from '#test/support/requirements.ts';
import { RealServiceCluster } from '../../support/service-cluster.ts';
import { paths } from './paths.ts';

/** Nothing answers there; the kernel sends few errors a second. */
const PORT = 9;
const SECONDS = 1;
const a: Place = { pod: 'a' };
const b: Place = { pod: 'b' };
const x: Place = { pod: 'x' };

const skip = withoutNodes() || withoutVhostNet() || withoutSocketHooks();

describe('the graph nodes of a packet', { skip, timeout: 300_000 }, () => {
  let cluster: RealServiceCluster;

  before(async () => {
    cluster = await RealServiceCluster.start({ sockets: true });
    for (const pod of ['a', 'b']) await cluster.startPod(pod, 'node1', []);
    await cluster.startPod('x', 'node2', []);
  });
  after(() => cluster?.[Symbol.asyncDispose]());

  const cases: readonly [keyof typeof paths, Place, Place, NodeName][] = [
    ['podToPod', a, b, 'node1'],
    ['podToOtherNode', a, x, 'node1'],
    ['otherNodeToPod', a, x, 'node2'],
    ['podToOutside', a, 'outside', 'node1'],
    ['outsideToPod', 'outside', a, 'node1'],
  ];
  for (const [name, from, to, at] of cases)
    it(name, async () => {
      const target = { address: cluster.addressOf(to), port: PORT, protocol: 'UDP' } as const;
      const vpp = cluster.vppOf(at);
      // neighbors are asked for, and sessions made
      await cluster.probe(from, target, 0.1);
      await vpp.cli('clear runtime');
      const { sent } = await cluster.probe(from, target, SECONDS);
      const visited = visitedNodes(await vpp.cli('show runtime'), sent);
      assert.deepEqual(visited, [...paths[name]].sort());
    });
});

/** Nodes through which nearly all of these packets passed: `<name>`, or `<name> ×<times>`. */
function visitedNodes(runtime: string, packets: number): readonly string[] {
  const visited: string[] = [];
  for (const line of runtime.split('\n')) {
    const [name = '', , , vectors] = line.trim().split(/\s\s+|\s(?=\d)/);
    const times = Math.round(Number(vectors) / packets);
    const kind = name.replace(/^(tap|loop)\d+/, '$1').replace(/^host-/, '');
    if (times > 0) visited.push(times === 1 ? kind : `${kind} ×${times}`);
  }
  return visited.sort();
}
