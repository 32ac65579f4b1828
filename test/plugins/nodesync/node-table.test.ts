/** The work of a change among many nodes. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { VppNode } from '#kubernetes/models/vpp-node.ts';
import { NodeTable } from '#plugins/nodesync/node-table.ts';
import { nodeValue, vppNodeValue } from '../test-node.ts';

const COUNT = 500;

it('a change of a node reads the records of that node only', () => {
  const table = new NodeTable();
  let read = 0;
  for (let id = 1; id <= COUNT; id++) {
    const { key, value } = vppNodeValue(id, `node-${id}`, `192.168.${id >> 8}.${id & 255}/16`);
    const { name } = value as VppNode;
    const get = () => {
      read++;
      return name;
    };
    const counted = Object.defineProperty({ ...value }, 'name', { get });
    table.setVppNode(key, counted);
  }
  read = 0;
  const change = nodeValue('node-7', '172.16.0.7');
  table.setKubeNode(change.key, change.value);
  assert.deepEqual(table.node('node-7')?.managementAddresses, ['172.16.0.7']);
  assert.ok(read <= 2, `${read} records read`);
});

it('a node keeps its lowest ID when its records come and go', () => {
  const table = new NodeTable();
  const records = [5, 3, 9].map((id) => vppNodeValue(id, 'node-b', `192.168.16.${id}/24`));
  for (const { key, value } of records) table.setVppNode(key, value);
  assert.equal(table.node('node-b')?.id, 3);
  table.setVppNode(records[1]!.key, undefined);
  assert.equal(table.node('node-b')?.id, 5);
  // the record of ID 5 is now that of another node
  table.setVppNode(records[0]!.key, vppNodeValue(5, 'node-c', '192.168.16.5/24').value);
  assert.deepEqual([...table.nodes()].map(([name, { id }]) => `${name} ${id}`).sort(), [
    'node-b 9',
    'node-c 5',
  ]);
  table.setVppNode(records[2]!.key, undefined);
  assert.equal(table.node('node-b'), undefined);
});
