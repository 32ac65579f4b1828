import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { it } from 'node:test';
import { FakeCluster } from '#demonstration/fake-cluster.ts';
import { vppNodeModel } from '#kubernetes/models/vpp-node.ts';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import { MemoryStore } from '#test/support/memory-store.ts';

const manifests = resolve(import.meta.dirname, '../../examples/shop');

it('keeps the IDs of its nodes, and removes those of nodes that it does not have', async () => {
  const store = new MemoryStore();
  for (const id of [1, 2, 3]) {
    const value = vppNodeModel.canonical({ id, name: `node-${id}` });
    const key = REFLECTOR_PREFIX + resources.vppnode.key(String(id), '');
    await store.put(key, valueText(resources.vppnode, value));
  }
  const serviceCidr = '10.96.0.0/12';
  const cluster = new FakeCluster({
    store,
    manifests,
    nodeNames: ['node-1', 'node-2'],
    serviceCidr,
  });
  await cluster.fillStore();
  const { entries } = await store.list(REFLECTOR_PREFIX + resources.vppnode.keyPrefix);
  assert.deepEqual(
    entries.map(({ value }) => (JSON.parse(value) as { name: string }).name),
    ['node-1', 'node-2'],
  );
});

it('writes the address of a pod into its record and the endpoints of its services', async () => {
  const store = new MemoryStore();
  const nodeNames = ['node-1', 'node-2', 'node-3'] as const;
  const cluster = new FakeCluster({ store, manifests, nodeNames, serviceCidr: '10.96.0.0/12' });
  await cluster.fillStore();
  const pods = nodeNames.flatMap((name) => cluster.podsOf(name));
  assert.equal(pods.length, 26);
  const ledger = pods.find(({ metadata }) => metadata.name === 'ledger-0')!;
  await cluster.setAddress(ledger, '10.1.3.7');
  const { entries } = await store.list(REFLECTOR_PREFIX);
  const changed = entries.filter(({ value }) => value.includes('"10.1.3.7"'));
  assert.deepEqual(
    changed.map(({ key }) => key.slice(REFLECTOR_PREFIX.length)).toSorted(),
    [
      resources.endpoints.key('ledger', 'backoffice'),
      resources.endpoints.key('ledger-members', 'backoffice'),
      resources.pod.key('ledger-0', 'backoffice'),
    ].toSorted(),
  );
});
