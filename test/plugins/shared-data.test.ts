/** Data that plugins hand out cannot be used to change their state. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { inspect } from 'node:util';
import { nodeValue, podValue, TestNode, vppNodeValue } from './test-node.ts';

/** Changes everything in the data that lets itself be changed. */
function spoil(data: unknown): void {
  if (typeof data !== 'object' || data === null) return;
  if ('entries' in data && !Array.isArray(data)) {
    const map = data as Map<unknown, unknown>;
    for (const value of [...map.values()]) spoil(value);
    attempt(() => map.set('spoiled', {}));
    attempt(() => map.clear());
    return;
  }
  for (const part of Object.values(data)) spoil(part);
  for (const name of Object.keys(data)) attempt(() => Reflect.set(data, name, 'spoiled'));
  if (Array.isArray(data)) attempt(() => data.splice(0));
}

function attempt(change: () => unknown): void {
  try {
    change();
  } catch {
    // It cannot be changed.
  }
}

const ownPod = { namespace: 'default', name: 'web' };

/** The data of each plugin that others can read. */
function readsOf({ conf, nodes, pods, ipam, net }: TestNode): Record<string, () => unknown> {
  return {
    mainInterface: () => conf.mainInterface(),
    otherInterfaces: () => conf.otherInterfaces(),
    stn: () => conf.stn(),
    interfaces: () => conf.interfaces(),
    routing: () => conf.routing(),
    ipamConfig: () => conf.ipam(),
    neighborScan: () => conf.neighborScan(),
    thisNode: () => nodes.thisNode(),
    allNodes: () => nodes.allNodes(),
    attachments: () => pods.attachments(),
    attachmentsOf: () => pods.attachmentsOf(ownPod),
    podAddresses: () => ipam.podAddresses('c1/eth0'),
    allocations: () => ipam.allocations(),
    netOtherInterfaces: () => net.otherInterfaces(),
    hostAddresses: () => net.hostAddresses(),
    podKeys: () => net.podKeys('c1/eth0'),
  };
}

test('data that a plugin hands out cannot change what the plugin knows', async () => {
  const node = new TestNode();
  await node.resync([
    nodeValue('node-a', '172.16.0.5'),
    nodeValue('node-b', '172.16.0.6'),
    vppNodeValue(2, 'node-b', '192.168.16.2/24'),
    podValue('other', '10.1.1.9'),
  ]);
  await node.add('web', 'c1');
  const reads = readsOf(node);
  const handlers = [node.conf, node.nodes, node.pods, node.ipam, node.net];
  const known = () => ({
    data: Object.entries(reads).map(([name, read]) => [name, inspect(text(read()), { depth: 9 })]),
    internal: handlers.map((one) => one.describeInternalData?.()),
  });
  const before = known();
  assert.match(JSON.stringify(before), /10\.1\.1\.9/);
  for (const read of Object.values(reads)) spoil(read());
  assert.deepEqual(known(), before);
});

/** Maps as arrays: views of maps do not show their content. */
function text(data: unknown): unknown {
  const isMap = typeof data === 'object' && data !== null && 'entries' in data;
  return isMap ? [...(data as Map<unknown, unknown>).entries()] : data;
}
