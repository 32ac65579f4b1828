import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Value from 'typebox/value';
import type { NodeDocument, NodeList } from '#documents/nodes.ts';
import { systemClock } from '#infra/clock/system.ts';
import { nodeRoutes } from '#plugins/nodesync/node-routes.ts';
import { SampleList } from '#plugins/statscollector/sample-list.ts';
import { counters } from '#test/vpp/telemetry/fake-statistics.ts';
import { startedNode } from '../ipv4net/wired-node.ts';
import { ask } from '../policy/asked-route.ts';
import { valueStatesWith } from '../state-of-values.ts';
import { nodeValue, type TestNode, vppNodeValue } from '../test-node.ts';

const LIST = 'GET /contiv/v1/nodes';
const KEY = 'config/vpp/v2/interfaces/vxlan-default-2';

const found = SampleList.found(0, [
  {
    interfaceName: 'vxlan-default-2',
    counters: counters(5, 'vxlan_tunnel0', { rxBytes: 1_000n, drops: 3n }),
  },
]);

async function list(
  node: TestNode,
  query: Record<string, string> = {},
  { values = valueStatesWith(), samples = found } = {},
): Promise<NodeList> {
  const { nodes, net } = node;
  const routes = nodeRoutes({
    nodeName: 'node-a',
    nodes,
    net,
    values,
    sessions: () => [],
    samples: async () => samples,
    clock: systemClock,
  });
  const lists = Object.entries(query).map(([name, text]) => [name, [text]]);
  const { status, body } = await ask(routes, LIST, { query: Object.fromEntries(lists) });
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual([...Value.Errors(routes[0]!.reply!, body)], []);
  return body as NodeList;
}

/** A node that has not announced its VPP address, and one whose address another node has. */
async function cluster(): Promise<TestNode> {
  const node = await startedNode();
  await node.put(vppNodeValue(3, 'node-c'));
  await node.put(nodeValue('node-c', '172.16.0.7'));
  await node.put(vppNodeValue(4, 'node-d', '192.168.16.2/24'));
  await node.put(nodeValue('node-d', '172.16.0.8'));
  return node;
}

describe(LIST, () => {
  it('shows this node first, and how the others are reached', async () => {
    const { thisNode, total, nodes, collectedAt } = await list(await cluster());
    assert.deepEqual([thisNode, total, collectedAt], ['node-a', 4, '1970-01-01T00:00:00Z']);
    assert.deepEqual(
      nodes.map(({ name }) => name),
      ['node-a', 'node-b', 'node-c', 'node-d'],
    );
    const [a, b, c, d] = nodes as [NodeDocument, NodeDocument, NodeDocument, NodeDocument];
    assert.deepEqual(
      [a.isThisNode, a.link, a.tunnel, a.managementAddresses],
      [true, null, null, ['172.16.0.5']],
    );
    assert.deepEqual([b.vppAddresses, b.link!.kind], [['192.168.16.2/24'], 'tunnel']);
    assert.deepEqual([b.link!.address, b.link!.whyUnreachable], ['192.168.16.2', null]);
    assert.ok(b.link!.values.total > 1);
    assert.deepEqual(
      [b.tunnel!.interface, b.tunnel!.key, b.tunnel!.state],
      ['vxlan-default-2', KEY, 'CONFIGURED'],
    );
    assert.deepEqual([b.tunnel!.counters!.rxBytes, b.tunnel!.counters!.drops], [1_000, 3]);
    assert.deepEqual([c.link!.kind, c.tunnel], ['none', null]);
    assert.match(c.link!.whyUnreachable!, /has announced no IPv4 address/);
    assert.match(d.link!.whyUnreachable!, /192\.168\.16\.2, which another node has, too/);
  });

  it('says why counters are unknown', async () => {
    const samples = SampleList.failed('VPP is not connected');
    const { countersError, collectedAt, nodes } = await list(await cluster(), {}, { samples });
    assert.deepEqual([countersError, collectedAt], ['VPP is not connected', null]);
    assert.equal(nodes[1]!.tunnel!.counters, null);
  });

  it('finds nodes by ID, name and address, and those with problems', async () => {
    const node = await cluster();
    const names = async (query: Record<string, string>, faults = {}) =>
      (await list(node, query, { values: valueStatesWith(faults) })).nodes.map(({ name }) => name);
    assert.deepEqual(await names({ search: 'NODE-C' }), ['node-c']);
    assert.deepEqual(await names({ search: '172.16.0.6' }), ['node-b']);
    assert.deepEqual(await names({ show: 'problems' }), ['node-c', 'node-d']);
    const faults = { [KEY]: { state: 'FAILED', error: 'no memory' } };
    assert.deepEqual(await names({ show: 'problems' }, faults), ['node-b', 'node-c', 'node-d']);
    const { matching, nodes } = await list(node, { limit: '1' });
    assert.deepEqual([matching, nodes.length], [4, 1]);
    await assert.rejects(list(node, { show: 'some' }), /must be one of all, problems/);
  });

  it('has no tunnels without an overlay', async () => {
    const yaml =
      'nodeToNodeTransport: nooverlay\nipamConfig: {nodeInterconnectCIDR: 192.168.16.0/24}';
    const { nodes } = await list(await startedNode({ yaml }));
    assert.deepEqual([nodes[1]!.link!.kind, nodes[1]!.tunnel], ['routes', null]);
  });
});
