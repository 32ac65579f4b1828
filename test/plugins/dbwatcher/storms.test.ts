import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RETENTION_MS } from '#plugins/dbwatcher/retained-records.ts';
import {
  advance,
  KSR,
  namespaceKey,
  namespaceText,
  nodeKey,
  nodeText,
  settle,
  startedWatcher,
  type WatcherHarness,
  type WatcherHarnessOptions,
} from './watcher-harness.ts';

const podKey = (name: string) => `${KSR}k8s/pod/${name}/namespace/default`;
const podText = (name: string, label: string) =>
  JSON.stringify({ name, namespace: 'default', label: [{ key: 'l', value: label }] });

/** A watcher whose event loop is busy: it takes nothing until the test says so. */
async function busyWatcher(options: WatcherHarnessOptions = {}): Promise<WatcherHarness> {
  const made = await startedWatcher(options);
  made.loop.take();
  made.loop.processed(50);
  return made;
}

async function writePods({ database }: WatcherHarness, count: number, label: string) {
  for (let at = 0; at < count; at++) await database.put(podKey(`p${at}`), podText(`p${at}`, label));
}

/** The loop takes 26 events, again and again, until no change is left. */
async function drain({ loop }: WatcherHarness): Promise<string[]> {
  const all: string[] = [];
  for (;;) {
    loop.processed(24);
    await settle();
    const taken = loop.take();
    if (taken.length === 0) return all;
    all.push(...taken);
  }
}

describe('a storm of changes', () => {
  it('of records that are written again as they were is not heard of', async () => {
    const made = await startedWatcher();
    await writePods(made, 3_000, 'a');
    await drain(made);
    made.loop.processed(50);
    await writePods(made, 3_000, 'a');
    await made.database.put(namespaceKey('default'), namespaceText('default', 'changed'));
    await advance(made, 60_000);
    assert.deepEqual(await drain(made), ['namespace k8s/namespace/default: plain -> changed']);
    await made.watcher.close();
  });

  it('that ends where it began is not heard of', async () => {
    const made = await busyWatcher();
    await writePods(made, 500, 'a');
    for (let at = 0; at < 500; at++) await made.database.delete(podKey(`p${at}`));
    assert.deepEqual(await drain(made), []);
    await made.watcher.close();
  });

  it('lets the pods of this node go first', async () => {
    const own = ['p700', 'p900'];
    const made = await busyWatcher({ ownPodKeys: own.map(podKey) });
    await writePods(made, 1_000, 'a');
    await settle();
    made.loop.processed(24);
    await settle();
    assert.deepEqual(
      made.loop
        .take()
        .slice(0, 3)
        .map((line) => line.split(/[/ ]/)[3]),
      ['p700', 'p900', 'p0'],
    );
    made.loop.processed(50);
    await made.database.put(podKey('p900'), podText('p900', 'b'));
    await settle();
    made.loop.processed(24);
    await settle();
    assert.equal(made.loop.take()[0], 'pod k8s/pod/p900/namespace/default: a -> b');
    await made.watcher.close();
  });

  it('is heard of from the beginning to the end: etcd could not send everything to all agents', async () => {
    const made = await busyWatcher({ ownPodKeys: [podKey('p4999')] });
    await writePods(made, 5_000, 'a');
    await advance(made, 60_000);
    for (let at = 0; at < 5_000; at += 2) await made.database.delete(podKey(`p${at}`));
    await settle();
    const heard = await drain(made);
    assert.equal(heard[0], 'pod k8s/pod/p4999/namespace/default: - -> a');
    assert.equal(heard.length, 2_500);
    assert.equal(made.loop.resyncs.length, 0);
    await made.watcher.close();
  });
});

describe('changes that wait', () => {
  it('are not taken for changes that the watch has missed', async () => {
    const made = await busyWatcher({ compareInterval: '10s' });
    await writePods(made, 10, 'a');
    await advance(made, 60_000);
    assert.equal(made.watcher.status.missedChanges, 0);
    assert.equal((await drain(made)).length, 10);
    assert.equal(made.loop.resyncs.length, 0);
    await made.watcher.close();
  });

  it('end the grace period of a record that the database has again', async () => {
    const made = await startedWatcher();
    await made.database.put(nodeKey('n1'), nodeText('n1'));
    await settle();
    made.database.wipe();
    await made.database.put(namespaceKey('default'), namespaceText('default'));
    await advance(made, 3_000);
    assert.ok(made.watcher.status.retained > 0);
    made.loop.take();
    made.loop.processed(50);
    await made.database.put(nodeKey('n1'), nodeText('n1'));
    await advance(made, 2 * RETENTION_MS);
    const heard = await drain(made);
    assert.ok(!heard.some((line) => line.includes('k8s/node/n1')), heard.join('\n'));
    await made.watcher.close();
  });
});
