import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ReachableNodes } from '#plugins/ipv4net/reachable-nodes.ts';
import type { Node } from '#plugins/nodesync/api.ts';

const COUNT = 500;

function nodeOf(id: number, address: string): Node {
  const name = `node-${id}`;
  return { id, name, vppAddresses: [address], managementAddresses: [], podCidr: '' };
}

const reachability = {
  addressOf: ({ vppAddresses }: Node) => vppAddresses[0],
  whyUnreachable: () => undefined,
  hasTunnel: () => true,
};

it('a node that joins or leaves is all that a change looks at', () => {
  const reachable = new ReachableNodes(reachability);
  let read = 0;
  for (let id = 2; id <= COUNT; id++) {
    const node = nodeOf(id, `10.0.${id >> 8}.${id & 255}`);
    const get = () => {
      read++;
      return id;
    };
    reachable.set(node.name, Object.defineProperty(node, 'id', { get }));
  }
  const before = reachable.ids();
  read = 0;
  reachable.set('node-900', nodeOf(900, '10.0.9.0'));
  assert.equal(reachable.ids().at(-1), 900);
  reachable.set('node-900', undefined);
  assert.deepEqual(reachable.ids(), before);
  assert.equal(read, 0, `${read} other nodes read`);
});

it('the list of IDs is ascending, and the same one until it changes', () => {
  const reachable = new ReachableNodes(reachability);
  for (const id of [7, 3, 5]) reachable.set(`node-${id}`, nodeOf(id, `10.0.0.${id}`));
  const before = reachable.ids();
  assert.deepEqual(before, [3, 5, 7]);
  reachable.set('node-5', { ...nodeOf(5, '10.0.0.5'), managementAddresses: ['172.16.0.5'] });
  assert.equal(reachable.ids(), before);
  // the address of a node with a lower ID takes its place
  reachable.set('node-4', nodeOf(4, '10.0.0.7'));
  assert.deepEqual(reachable.ids(), [3, 4, 5]);
  reachable.set('node-4', undefined);
  assert.deepEqual(reachable.ids(), [3, 5, 7]);
  reachable.set('node-5', { ...nodeOf(6, '10.0.0.5'), name: 'node-5' });
  assert.deepEqual(reachable.ids(), [3, 6, 7]);
});
