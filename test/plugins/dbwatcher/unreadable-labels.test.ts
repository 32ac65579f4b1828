/** Records of pods and namespaces that cannot be read: the labels of the record before do not count. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { closedNamespaces } from '#kubernetes/models/closed-namespace.ts';
import { closedPods } from '#kubernetes/models/closed-pod.ts';
import { type Namespace, namespaceModel } from '#kubernetes/models/namespace.ts';
import { type Pod, podModel } from '#kubernetes/models/pod.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { KSR, settle, startedWatcher, watcherHarness } from './watcher-harness.ts';

const shortKey = resources.pod.key('web', 'shop');
const key = KSR + shortKey;
const names = { name: 'web', namespace: 'shop' };
const label = [{ key: 'app', value: 'web' }];
const ip = { ip_address: '10.1.1.2' };
const readable = JSON.stringify(podModel.toJson(podModel.canonical({ ...names, ...ip, label })));

const unreadable: readonly [text: string, address: string][] = [
  ['{', ''],
  ['[]', ''],
  [JSON.stringify({ ...names, ...ip, label: 'app=web' }), '10.1.1.2'],
  [
    JSON.stringify({ ...names, ...ip, label, container: [{ port: [{ protocol: 'QUIC' }] }] }),
    '10.1.1.2',
  ],
];

function assertClosed(record: Pod | undefined, address: string, text: string): void {
  assert.ok(record && closedPods.unreadableParts(record), text);
  assert.deepEqual(
    [record.name, record.namespace, record.ip_address, record.label.length, record.labels],
    ['web', 'shop', address, 1, {}],
    text,
  );
}

describe('a pod in the datastore that cannot be read', () => {
  it('has no label, and what can be read of it: at start, and as a change', async () => {
    for (const [text, address] of unreadable) {
      const { loop, database, watcher, warnings } = watcherHarness();
      await database.put(key, text);
      watcher.start();
      await settle();
      const { pod } = loop.resyncs.at(-1)!.kubeState;
      assertClosed(pod?.[shortKey] as Pod, address, text);
      assert.deepEqual([...watcher.status.broken.keys()], [key]);
      assert.deepEqual(
        warnings.map((one) => one.key),
        [key],
      );
      await watcher.close();
    }
    const { loop, database, watcher } = await startedWatcher();
    for (const [text, address] of unreadable) {
      await database.put(key, readable);
      await settle();
      assert.equal(watcher.status.broken.size, 0);
      await database.put(key, text);
      await settle();
      assertClosed(loop.changes.at(-1)!.current as Pod, address, text);
    }
    await watcher.close();
  });

  it('keeps its labels if a newer writer has added a field', async () => {
    const { loop, database, watcher } = await startedWatcher();
    await database.put(key, JSON.stringify({ ...JSON.parse(readable), since: 'today' }));
    await settle();
    assert.deepEqual((loop.changes.at(-1)!.current as Pod).label, label);
    assert.equal(watcher.status.broken.size, 0);
    await watcher.close();
  });
});

describe('a namespace in the datastore that cannot be read', () => {
  it('has no label of the record before', async () => {
    const { loop, database, watcher } = await startedWatcher();
    const space = KSR + resources.namespace.key('shop', '');
    const before = namespaceModel.canonical({ name: 'shop', label });
    await database.put(space, JSON.stringify(namespaceModel.toJson(before)));
    await settle();
    for (const text of ['{', '{"name":"shop","label":"app=web"}']) {
      await database.put(space, text);
      await settle();
      const current = loop.changes.at(-1)!.current as Namespace;
      assert.ok(closedNamespaces.unreadableParts(current), text);
      assert.equal(current.label.length, 1);
      assert.deepEqual([...watcher.status.broken.keys()], [space]);
    }
    await watcher.close();
  });
});
