/** Records with fields of a newer writer: during a rolling upgrade they must not be dropped. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AGENT_PREFIX,
  advance,
  KSR,
  settle,
  startedWatcher,
  type WatcherHarness,
} from './watcher-harness.ts';

/** One record of each kind, each with a field that no agent knows. */
const records: Readonly<Record<string, object>> = {
  [`${KSR}k8s/pod/web/namespace/default`]: {
    name: 'web',
    namespace: 'default',
    ip_address: '10.1.1.2',
    future: { a: 1 },
  },
  [`${KSR}k8s/node/node2`]: {
    name: 'node2',
    addresses: [{ type: 'NodeInternalIP', address: '172.16.0.2', zone: 'b' }],
  },
  [`${KSR}allocatedIDs/2`]: { id: 2, name: 'node2', ip_addresses: ['192.168.16.2/24'], epoch: 7 },
  [`${KSR}k8s/nodeconfig/node1`]: { node_name: 'node1', bond: true },
  [`${KSR}k8s/customnetwork/blue`]: { name: 'blue', future: 1 },
  [`${KSR}k8s/external-interface/e`]: { name: 'e', future: 1 },
  [`${KSR}idalloc/vni`]: { name: 'vni', future: 1 },
  [`${AGENT_PREFIX}config/vpp/v2/interfaces/loop9`]: {
    name: 'loop9',
    type: 'SOFTWARE_LOOPBACK',
    future: 1,
  },
};

async function write({ database }: WatcherHarness, all = records): Promise<void> {
  for (const [key, value] of Object.entries(all)) await database.put(key, JSON.stringify(value));
}

const warnings = (made: WatcherHarness) => made.warnings.filter(({ fields }) => fields);

describe('fields that this agent does not know', () => {
  it('are ignored in changes and resyncs, and the records are used', async () => {
    const made = await startedWatcher();
    made.loop.take();
    await write(made);
    await settle();
    assert.equal(made.loop.take().length, Object.keys(records).length);
    await made.watcher.requestResync({ acceptEmpty: false });
    const { kubeState, externalConfig } = made.loop.resyncs.at(-1)!;
    for (const keyword of ['pod', 'node', 'vppnode', 'nodeconfig', 'customnetwork', 'idalloc'])
      assert.equal(Object.keys(kubeState[keyword]!).length, 1, keyword);
    assert.ok('config/vpp/v2/interfaces/loop9' in externalConfig);
    assert.equal(made.watcher.status.broken.size, 0);
    assert.equal(made.watcher.status.unknownFields, Object.keys(records).length);
    await made.watcher.close();
  });

  it('are reported once per resource, with the number of values', async () => {
    const made = await startedWatcher();
    made.cluster.isDropped = () => true;
    for (let pod = 0; pod < 500; pod++) {
      const name = `web${pod}`;
      const key = `${KSR}k8s/pod/${name}/namespace/default`;
      await made.database.put(key, JSON.stringify({ name, namespace: 'default', future: 1 }));
    }
    made.cluster.isDropped = undefined;
    made.cluster.loseWatches();
    await advance(made, 1_100);
    for (let resync = 0; resync < 5; resync++)
      await made.watcher.requestResync({ acceptEmpty: false });
    assert.deepEqual(warnings(made), [{ resource: 'pod', values: 500, fields: ['future'] }]);
    const key = `${KSR}k8s/pod/web7/namespace/default`;
    await made.database.put(key, '{"name":"web7","namespace":"default","later":1}');
    await settle();
    assert.deepEqual(warnings(made).slice(1), [
      { resource: 'pod', values: 500, fields: ['future', 'later'] },
    ]);
    await made.database.put(key, '{"name":"web7","namespace":"default"}');
    await settle();
    assert.equal(made.watcher.status.unknownFields, 499);
    await made.watcher.close();
  });

  it('do not excuse a wrong type of a known field', async () => {
    const made = await startedWatcher();
    await made.database.put(`${KSR}allocatedIDs/2`, '{"id":"two","name":"node2","future":1}');
    await settle();
    assert.deepEqual([...made.watcher.status.broken.keys()], [`${KSR}allocatedIDs/2`]);
    assert.equal(made.watcher.status.unknownFields, 0);
    await made.watcher.close();
  });
});
