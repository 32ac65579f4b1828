/** Records of other nodes with addresses that no node, or only this one, can have. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { whyNoNodeAddress } from '#plugins/nodesync/node-addresses.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { nodeValue, TestNode, vppNodeValue } from '../test-node.ts';

const self = nodeValue('node-a', '172.16.0.5');

/** A node that knows itself and node-b. */
async function withNeighbor(): Promise<TestNode> {
  const node = new TestNode();
  const other = [nodeValue('node-b', '172.16.0.6'), vppNodeValue(2, 'node-b', '192.168.16.2/24')];
  const { error } = await node.resync([self, vppNodeValue(1, 'node-a'), ...other]);
  assert.equal(error, undefined);
  return node;
}

const problems = (node: TestNode) => node.nodes.problems!().map(({ message }) => message);
const routesTo = (node: TestNode, network: string) =>
  [...node.config.keys()].filter((key) => /\/route\/.*vxlanBVI/.test(key) && key.includes(network));

describe('an address that no node can have', () => {
  it('is recognized in both families', () => {
    const invalid = [
      '0.0.0.0',
      '127.0.0.1/8',
      '224.0.0.5',
      '255.255.255.255',
      '::',
      '::1',
      'ff02::1',
    ];
    for (const address of [...invalid, 'fe80::1/64'])
      assert.match(whyNoNodeAddress(address) ?? '', / is (?:the|a) /, address);
    for (const address of ['10.0.0.1/8', '192.168.16.255/16', 'fd00::1/64', '2001:db8::1', 'x'])
      assert.equal(whyNoNodeAddress(address), undefined, address);
  });

  it('leaves the last valid one in use, and is reported by name until it is corrected', async () => {
    const node = await withNeighbor();
    const before = new Map(node.config);
    for (const address of ['0.0.0.0/24', '127.0.0.1/24', '224.0.0.1/24', '255.255.255.255/32']) {
      await node.put(vppNodeValue(2, 'node-b', address));
      assert.deepEqual(node.config, before, address);
      assert.match(problems(node).join(), /ignoring an address of node node-b: /);
    }
    await node.put(nodeValue('node-b', '0.0.0.0'));
    assert.deepEqual(node.config, before);
    assert.equal(problems(node).length, 2);
    await node.resync();
    assert.deepEqual(node.config, before, 'also after a resync');
    await node.put(nodeValue('node-b', '172.16.0.6'));
    await node.put(vppNodeValue(2, 'node-b', '192.168.16.22/24'));
    assert.deepEqual(problems(node), []);
    assert.deepEqual(node.nodes.allNodes().get('node-b')!.vppAddresses, ['192.168.16.22/24']);
  });

  it('does not take the valid ones of an unknown node away', async () => {
    const node = await withNeighbor();
    await node.put(nodeValue('node-c', '172.16.0.7', '127.0.0.1'));
    await node.put(vppNodeValue(3, 'node-c', '0.0.0.0/0', '192.168.16.3/24'));
    const { managementAddresses, vppAddresses } = node.nodes.allNodes().get('node-c')!;
    assert.deepEqual([managementAddresses, vppAddresses], [['172.16.0.7'], ['192.168.16.3/24']]);
    assert.equal(problems(node).length, 2);
    await node.remove(nodeValue('node-c'));
    await node.remove(vppNodeValue(3, 'node-c'));
    assert.deepEqual(problems(node), []);
  });
});

describe('an address of this node in the record of another one', () => {
  it('never gets a route, and is reported', async () => {
    const node = await withNeighbor();
    assert.notDeepEqual(routesTo(node, '172.16.0.6'), []);
    await node.put(nodeValue('node-b', '172.16.0.6', '172.16.0.5', '192.168.16.1'));
    assert.deepEqual(routesTo(node, '172.16.0.5'), []);
    assert.deepEqual(routesTo(node, '192.168.16.1/32'), []);
    assert.notDeepEqual(routesTo(node, '172.16.0.6'), []);
    assert.equal(problems(node).length, 2);
    assert.match(problems(node)[0]!, /node node-b: 172\.16\.0\.5 is an address of this node/);
    await node.resync();
    assert.deepEqual(routesTo(node, '172.16.0.5'), []);
  });

  it('loses its route when this node gets it', async () => {
    const node = await withNeighbor();
    await node.put(nodeValue('node-b', '172.16.0.6', '172.16.0.99'));
    assert.notDeepEqual(routesTo(node, '172.16.0.99'), []);
    await node.put(nodeValue('node-a', '172.16.0.5', '172.16.0.99'));
    assert.deepEqual(routesTo(node, '172.16.0.99'), []);
    await node.put(self);
    assert.notDeepEqual(routesTo(node, '172.16.0.99'), []);
    assert.deepEqual(problems(node), []);
  });
});

describe('a node ID without usable addresses', () => {
  const key = (id: number) => `/vnf-agent/contiv-ksr/allocatedIDs/${id}`;

  async function full(): Promise<MemoryStore> {
    const cluster = new MemoryStore();
    for (let id = 1; id < 255; id++)
      await cluster.put(key(id), JSON.stringify({ id, name: `other-${id}` }));
    return cluster;
  }

  it('is not allocated: 255 of a /24 has the broadcast address', async () => {
    const cluster = await full();
    const { error } = await new TestNode({ cluster }).resync();
    assert.match(error!.message, /no ID is left: node ID 255: .*broadcast address/);
    assert.equal(await cluster.get(key(255)), undefined);
    await cluster.delete(key(254));
    const node = new TestNode({ cluster });
    assert.equal((await node.resync()).error, undefined);
    assert.equal(node.nodes.thisNode().id, 254);
  });

  it('is kept by a node that has it, and reported', async () => {
    const cluster = await full();
    await cluster.put(key(255), '{"id":255,"name":"node-a"}');
    const node = new TestNode({ cluster });
    assert.equal((await node.resync()).error, undefined);
    assert.equal(node.nodes.thisNode().id, 255);
    assert.match(problems(node).join(), /node ID 255: .*192\.168\.16\.255\/24 is the broadcast/);
  });
});
