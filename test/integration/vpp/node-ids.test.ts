/** Nodes that join a cluster at the same time get different IDs, from 1 without gaps. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { KvStore } from '#datastore/api.ts';
import { type Node as KubeNode, nodeModel } from '#kubernetes/models/node.ts';
import { vppNodeModel } from '#kubernetes/models/vpp-node.ts';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { nodeValue, TestNode } from '#test/plugins/test-node.ts';
import { selectCases } from '#test/support/part-of-cases.ts';
import { withoutEtcd, withoutNodes } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { RealEtcd } from '../support/etcd.ts';
import { EtcdServer } from '../support/etcd-server.ts';
import { Netns } from '../support/netns.ts';
import { RealNode } from '../support/node.ts';

const prefix = REFLECTOR_PREFIX + resources.vppnode.keyPrefix;

/** ID by name, from the records of the cluster. */
async function ids(store: KvStore): Promise<[string, number][]> {
  const { entries } = await store.list(prefix);
  return entries
    .map(({ key, value }) => vppNodeModel.parse(JSON.parse(value), key))
    .map(({ name, id }): [string, number] => [name, id])
    .sort(([, a], [, b]) => a - b);
}

describe('node IDs on etcd', { skip: withoutEtcd(), timeout: 120_000 }, () => {
  const rounds = 100;

  it(`are different in ${rounds} rounds of nodes that start at the same time`, async () => {
    const etcd = await EtcdServer.start();
    const stores = Array.from({ length: 4 }, () => etcd.store());
    try {
      for (let round = 0; round < rounds; round++) {
        // Two nodes in most rounds, in some as many as there are connections.
        const size = round % 10 === 9 ? stores.length : 2;
        for (const [name] of await ids(stores[0]!)) assert.ok(name.startsWith('node-'));
        for (const { key } of (await stores[0]!.list(prefix)).entries) await stores[0]!.delete(key);
        const nodes = stores
          .slice(0, size)
          .map((cluster, n) => new TestNode({ name: `node-${n}`, cluster }));
        const outcomes = await Promise.all(nodes.map((node) => node.resync()));
        assert.deepEqual(
          outcomes.map(({ error }) => error),
          outcomes.map(() => undefined),
        );
        const expected = Array.from({ length: size }, (_, n) => n + 1);
        const claimed = nodes.map(({ name, nodes }): [string, number] => [
          name,
          nodes.thisNode().id,
        ]);
        claimed.sort(([, a], [, b]) => a - b);
        assert.deepEqual(
          claimed.map(([, id]) => id),
          expected,
          `round ${round}`,
        );
        assert.deepEqual(await ids(stores[0]!), claimed, `round ${round}`);
      }
    } finally {
      for (const store of stores) await store.close();
      await etcd.close();
    }
  });
});

describe('node IDs of agents', { skip: withoutNodes(), timeout: 180_000 }, () => {
  for (const round of selectCases([1, 2, 3]))
    it(`are 1 and 2 when two start at the same time (${round})`, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'ids-'));
      const middle = await Netns.create('etcd');
      const etcd = new RealEtcd(middle, join(folder, 'etcd'), '192.0.2.1');
      const nodes: RealNode[] = [];
      try {
        await middle.run('ip', 'link', 'add', 'br0', 'type', 'bridge');
        await middle.run('ip', 'addr', 'add', '192.0.2.1/24', 'dev', 'br0');
        await middle.run('ip', 'link', 'set', 'br0', 'up');
        await etcd.start();
        for (const n of [1, 2]) {
          const node = await RealNode.create({
            label: `node${n}`,
            etcd,
            contiv: { ipamConfig: { nodeInterconnectCIDR: '192.168.16.0/24' } },
          });
          nodes.push(node);
          await connect(node.netns, middle, n);
          // As the reflector writes it.
          const { key, value } = nodeValue(`node${n}`, address(n));
          await etcd.store.put(
            REFLECTOR_PREFIX + key,
            JSON.stringify(nodeModel.toJson(value as KubeNode)),
          );
        }
        for (const { agent } of nodes) agent.launch();
        await Promise.all(nodes.map(({ agent }) => agent.whenServing()));
        const claimed = await ids(etcd.store);
        assert.deepEqual(
          claimed.map(([, id]) => id),
          [1, 2],
        );
        assert.deepEqual(claimed.map(([name]) => name).sort(), ['node1', 'node2']);
        for (const [n, { agent }] of nodes.entries()) {
          const { body } = await agent.get('/contiv/v1/ipam');
          const { nodeId, nodeName } = body as { nodeId: number; nodeName: string };
          assert.equal(nodeName, `node${n + 1}`);
          assert.deepEqual(
            claimed.find(([name]) => name === nodeName),
            [nodeName, nodeId],
          );
          const pod = await nodes[n]!.pod('web');
          assert.ok(pod.address.startsWith(`10.1.${nodeId}.`), pod.address);
        }
        // Each has a route to the other.
        for (const [name, id] of claimed) {
          const other = nodes.find((_, n) => `node${n + 1}` !== name)!;
          await until(`the tunnel to node ${id}`, async () =>
            (await other.vpp.cli('show ip fib table 1')).includes(`10.1.${id}.0/24`),
          );
        }
      } finally {
        for (const node of nodes) await node[Symbol.asyncDispose]();
        await etcd.close();
        await middle.remove();
        rmSync(folder, { recursive: true });
      }
    });
});

/** Address of a node in the network of etcd. */
function address(n: number): string {
  return `192.0.2.${10 + n}`;
}

/** A link of the node to the network of etcd. */
async function connect(node: Netns, middle: Netns, n: number): Promise<void> {
  const end = ['type', 'veth', 'peer', 'name', `to${n}`, 'netns', middle.path];
  await node.run('ip', 'link', 'add', 'mgmt', ...end);
  await node.run('ip', 'addr', 'add', `${address(n)}/24`, 'dev', 'mgmt');
  await node.run('ip', 'link', 'set', 'mgmt', 'up');
  await middle.run('ip', 'link', 'set', `to${n}`, 'master', 'br0', 'up');
}
