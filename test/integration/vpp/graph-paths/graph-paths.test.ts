/** The graph nodes that packets visit are those of their list, and no others. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pod, pods } from '#test/plugins/policy/policy-objects.ts';
import { only, writePolicy } from '#test/policies/compliance/policy-suite.ts';
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
    const start = (name: string, node: NodeName) => {
      const record = pod({ name, namespace: 'default', labels: { app: name } });
      return cluster.startPod(name, node, [], record);
    };
    for (const name of ['a', 'b']) await start(name, 'node1');
    await start('x', 'node2');
  });
  after(() => cluster?.[Symbol.asyncDispose]());

  const cases: readonly [keyof typeof paths, Place, Place, NodeName][] = [
    ['podToPod', a, b, 'node1'],
    ['podToOtherNode', a, x, 'node1'],
    ['otherNodeToPod', a, x, 'node2'],
    ['podToOutside', a, 'outside', 'node1'],
    ['outsideToPod', 'outside', a, 'node1'],
  ];
  const assertPath = async (name: keyof typeof paths, from: Place, to: Place, at: NodeName) => {
    const target = { address: cluster.addressOf(to), port: PORT, protocol: 'UDP' } as const;
    const vpp = cluster.vppOf(at);
    // neighbors are asked for, and sessions made
    await cluster.probe(from, target, 0.1);
    await vpp.cli('clear runtime');
    const { sent } = await cluster.probe(from, target, SECONDS);
    const visited = visitedNodes(await vpp.cli('show runtime'), sent);
    assert.deepEqual(visited, [...paths[name]].sort());
  };
  for (const [name, from, to, at] of cases) it(name, () => assertPath(name, from, to, at));

  it('only pods that a policy isolates have an ACL, as long as it does', async () => {
    await writePolicy(cluster, 'case', {
      ...only('b'),
      policy_type: 'INGRESS',
      ingress_rule: [{ from: [pods({ app: 'a' })] }],
    });
    await assertPath('podToIsolatedPod', a, b, 'node1');
    await assertPath('podToOtherNode', a, x, 'node1');
    await writePolicy(cluster, 'case', undefined);
    await assertPath('podToPod', a, b, 'node1');
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
