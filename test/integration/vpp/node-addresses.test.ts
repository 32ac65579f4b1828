/** Two nodes with their VPPs, and the records of a third one that claims addresses of the others. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { NodeList } from '#documents/nodes.ts';
import { nodeModel } from '#kubernetes/models/node.ts';
import { vppNodeModel } from '#kubernetes/models/vpp-node.ts';
import { type AnyResource, REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import { withoutNodes } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { type ClusterNode, RealCluster } from '../support/cluster.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { ping, transfer } from '../support/traffic.ts';

const INTRUDER = { id: 9, name: 'intruder' };

describe('records of a node with addresses of others', {
  skip: withoutNodes(),
  timeout: 300_000,
}, () => {
  let cluster: RealCluster;
  let one: ClusterNode;
  let two: ClusterNode;
  let web: Sandbox;
  let far: Sandbox;

  before(async () => {
    cluster = await RealCluster.create({ nodes: 2 });
    [one, two] = cluster.nodes as [ClusterNode, ClusterNode];
    [web, far] = [await one.node.pod('web'), await two.node.pod('far')];
    await ping(web, far.address);
  });

  after(() => cluster?.[Symbol.asyncDispose]());

  async function put(resource: AnyResource, value: object): Promise<void> {
    const key = REFLECTOR_PREFIX + resource.model.key(value);
    await cluster.etcd.store.put(key, valueText(resource, value));
  }

  /** The intruder is reached at the machine outside, which answers no packet of its tunnel. */
  async function intrude(...addresses: string[]): Promise<void> {
    const ip_addresses = [`${cluster.outside.address}/24`];
    await put(resources.vppnode, vppNodeModel.canonical({ ...INTRUDER, ip_addresses }));
    const ofHost = addresses.map((address) => ({ type: 'NodeInternalIP' as const, address }));
    await put(resources.node, nodeModel.canonical({ name: INTRUDER.name, addresses: ofHost }));
    for (const { name, node } of [one, two])
      await until(`${name} reports the addresses`, async () => {
        const { body } = await node.agent.get('/contiv/v1/nodes');
        const found = (body as NodeList).nodes.find((each) => each.name === INTRUDER.name);
        return found?.tunnel?.state === 'CONFIGURED' && found.problems.length > 0;
      });
  }

  /** Packets that a node has sent through each of its tunnels, sorted. */
  async function sent({ node }: ClusterNode): Promise<number[]> {
    const text = await node.vpp.cli('show interface');
    const tunnels = text.split(/\n(?=\S)/).filter((part) => part.startsWith('vxlan_tunnel'));
    return tunnels.map((part) => Number(/tx packets\s+(\d+)/.exec(part)?.[1] ?? 0)).sort();
  }

  it('do not move the tunnel to another node, and each of its packets is sent once', async () => {
    const address = two.nodeIp.split('/')[0]!;
    await intrude('192.0.2.99', address, two.host.address, one.host.address);
    for (const { node } of [one, two])
      assert.equal((await node.agent.get('/readiness')).status, 200);
    const before = await sent(one);
    assert.equal(before.length, 2);
    await ping(web, far.address);
    const after = await sent(one);
    const added = after.map((packets, at) => packets - before[at]!).sort();
    assert.deepEqual(added, [0, 3], `before ${before}, after ${after}`);
    assert.doesNotMatch(
      await one.node.vpp.cli(`show ip fib table 0 ${address}/32`),
      /vxlan|table/i,
    );
    const { sent: bytes, received } = await transfer(web, far, 4);
    assert.deepEqual(received, bytes);
  });

  it('do not take the hosts of others: pods reach them as before', async () => {
    await ping(web, one.host.address);
    await ping(far, two.host.address);
  });
});
