import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '#kubernetes/models/pod.ts';
import { AddressOverlaps, type OverlapContext } from '#plugins/nodesync/address-overlaps.ts';
import type { Node } from '#plugins/nodesync/api.ts';
import { nodeValue, podValue, TestNode, vppNodeValue } from '../test-node.ts';

const state = [
  nodeValue('node-a', '172.16.0.5'),
  nodeValue('node-b', '172.16.0.6'),
  vppNodeValue(5, 'node-b', '192.168.16.5/24'),
];

describe('pods of another node in the network of this one', () => {
  it('are counted while they show their addresses', async () => {
    const node = new TestNode();
    await node.resync([...state, podValue('thief', '10.1.1.9', '172.16.0.6')]);
    // an ID under which others have pods is not taken
    assert.equal(node.nodes.thisNode().id, 2);
    assert.equal(node.nodes.overlaps(), 0);
    await node.put(podValue('first', '10.1.2.9', '172.16.0.6'));
    await node.put(podValue('second', '10.1.2.10', '172.16.0.6'));
    assert.equal(node.nodes.overlaps(), 2);
    await node.heal();
    assert.equal(node.nodes.overlaps(), 2);
    await node.remove(podValue('first', ''));
    await node.put(podValue('second', '10.1.5.10', '172.16.0.6'));
    assert.equal(node.nodes.overlaps(), 0);
  });

  it('are found at the start of an agent that keeps its ID', async () => {
    const node = new TestNode();
    await node.resync(state);
    const next = node.restart();
    await next.resync([...state, podValue('thief', '10.1.1.9', '172.16.0.6')]);
    assert.equal(next.nodes.thisNode().id, 1);
    assert.equal(next.nodes.overlaps(), 1);
  });

  it('are neither pods of this node, nor with addresses of the other node, nor of unknown nodes', async () => {
    const node = new TestNode();
    await node.resync(state);
    await node.put(podValue('own', '10.1.1.9', '172.16.0.5'));
    await node.put(podValue('far', '10.1.5.9', '172.16.0.6'));
    await node.put(podValue('lost', '10.1.1.11', '172.16.0.77'));
    await node.put(podValue('new', '10.1.1.12', ''));
    await node.put(podValue('host', '172.16.0.6', '172.16.0.6'));
    assert.equal(node.nodes.overlaps(), 0);
  });

  it('are no alarm where another IPAM gives the addresses', async () => {
    const node = new TestNode({ yaml: 'ipamConfig: {useExternalIPAM: true}' });
    await node.resync(state);
    await node.put(podValue('any', '10.1.1.9', '172.16.0.6'));
    assert.equal(node.nodes.overlaps(), 0);
  });

  it('are reported once, with both names', () => {
    const make = (name: string, id: number, address: string): Node => ({
      id,
      name,
      vppAddresses: [],
      managementAddresses: [address],
      podCidr: '',
    });
    const [own, other] = [make('node-a', 1, '172.16.0.5'), make('node-b', 2, '172.16.0.6')];
    const told: string[] = [];
    let asked = 0;
    const around: OverlapContext = {
      own,
      others: () => {
        asked++;
        return new Map([own, other].map((one) => [one.name, one]));
      },
      idOf: (address) => Number(address.split('.')[2]),
      log: { error: (_: unknown, text?: unknown) => void told.push(String(text)) },
    };
    const pod = podValue('thief', '10.1.1.9', '172.16.0.6').value as Pod;
    const overlaps = new AddressOverlaps();
    overlaps.check(around, 'key', pod);
    overlaps.check(around, 'key', pod);
    assert.deepEqual(told, ['pod default/thief of node node-b has an address of node node-a']);
    overlaps.check(around, 'key', undefined);
    overlaps.check(around, 'key', pod);
    assert.equal(told.length, 2);
    // for pods with addresses of their own node, the other nodes are not read
    assert.equal(asked, 3);
    overlaps.check(around, 'far', podValue('far', '10.1.2.9', '172.16.0.6').value as Pod);
    overlaps.check(around, 'own', podValue('own', '10.1.1.8', '172.16.0.5').value as Pod);
    assert.equal(asked, 3);
  });
});
