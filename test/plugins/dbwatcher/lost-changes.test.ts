import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MemoryStore } from '#test/support/memory-store.ts';
import {
  AGENT_PREFIX,
  advance,
  interfaceKey,
  namespaceKey,
  namespaceText,
  nodeKey,
  settle,
  startedWatcher,
  type WatcherHarness,
} from './watcher-harness.ts';

describe('dbwatcher and a watch that loses changes', () => {
  const options = { compareInterval: '60s' };

  async function lossy(): Promise<WatcherHarness> {
    const made = await startedWatcher(options);
    made.loop.take();
    return made;
  }

  it('finds them by comparing, and reads everything again', async () => {
    for (const damage of [
      (database: MemoryStore) => database.put(namespaceKey('a'), namespaceText('a')),
      (database: MemoryStore) =>
        database.put(namespaceKey('default'), namespaceText('default', '1')),
      (database: MemoryStore) => database.delete(interfaceKey('loop1')),
    ]) {
      const made = await lossy();
      made.cluster.isDropped = () => true;
      await damage(made.database);
      await settle();
      made.cluster.isDropped = undefined;
      await advance(made, 90_000);
      assert.equal(made.loop.resyncs.length, 1);
      assert.equal(made.watcher.status.missedChanges, 1);
      await advance(made, 300_000);
      assert.equal(made.loop.resyncs.length, 1, 'once');
      await made.watcher.close();
    }
  });

  it('compares a large database part by part, and finds what is lost in each part', async () => {
    const name = (at: number): string => `n${String(at).padStart(4, '0')}`;
    for (const damage of ['n0010', 'n3333', '\u{1f511}']) {
      const made = await startedWatcher({ compareInterval: '60s' });
      const all = Array.from({ length: 5000 }, (_, at) => namespaceKey(name(at)));
      await made.database.putAll(new Map(all.map((key) => [key, namespaceText('n')])));
      await made.database.put(namespaceKey('\u{ffee}'), namespaceText('n'));
      // so many changes are a resync
      await advance(made, 10_000);
      made.loop.take();
      made.cluster.isDropped = () => true;
      const exists = (await made.database.get(namespaceKey(damage))) !== undefined;
      if (exists) await made.database.delete(namespaceKey(damage));
      else await made.database.put(namespaceKey(damage), namespaceText(damage));
      await settle();
      made.cluster.isDropped = undefined;
      // three parts, each at most 75 s after the one before
      await advance(made, 250_000);
      assert.equal(made.watcher.status.missedChanges, 1, damage);
      assert.equal(made.loop.resyncs.length, 1);
      await made.watcher.close();
    }
  });

  it('takes a late change for late, not for lost', async () => {
    const made = await lossy();
    // At any time there is a change that the watch has not delivered yet.
    for (let round = 0; round < 150; round++) {
      made.cluster.withholdChanges();
      await made.database.put(namespaceKey('a'), namespaceText('a', `${round}`));
      await advance(made, 1_000);
      made.cluster.releaseChanges();
    }
    assert.equal(made.watcher.status.missedChanges, 0);
    assert.equal(made.loop.resyncs.length, 0);
    await made.watcher.close();
  });

  it('has nothing to say of broken values and of keys that are not its own', async () => {
    const made = await lossy();
    await made.database.put(nodeKey('n1'), '{');
    await made.database.put(`${AGENT_PREFIX}check/status/v1/agent`, 'x');
    await made.database.put('/vnf-agent/contiv-ksr/k8s/unheard/of', 'x');
    await advance(made, 300_000);
    assert.equal(made.watcher.status.missedChanges, 0);
    assert.deepEqual(made.loop.take(), []);
    await made.watcher.close();
  });

  it('continues comparisons after a failed read of the database', async () => {
    const made = await lossy();
    const { part } = made.cluster;
    made.cluster.part = () => Promise.reject(new Error('overloaded'));
    await advance(made, 80_000);
    made.cluster.part = part;
    assert.deepEqual(made.states.at(-1), ['ok', undefined]);
    made.cluster.isDropped = () => true;
    await made.database.delete(interfaceKey('loop1'));
    await settle();
    made.cluster.isDropped = undefined;
    await advance(made, 160_000);
    assert.equal(made.watcher.status.missedChanges, 1);
    await made.watcher.close();
  });
});
