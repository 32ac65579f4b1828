/** The first resync waits for a key in the database. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StartGate } from '#plugins/dbwatcher/dbwatcher.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import {
  advance,
  fill,
  namespaceKey,
  namespaceText,
  settle,
  watcherHarness,
} from './watcher-harness.ts';

class AwaitedNamespace implements StartGate {
  readonly key = namespaceKey('awaited');
  calls = 0;

  blocks({ kubeState }: Parameters<StartGate['blocks']>[0]): Error | undefined {
    this.calls++;
    return kubeState['namespace']?.['k8s/namespace/awaited']
      ? undefined
      : new Error('no namespace');
  }
}

describe('dbwatcher whose start waits for a key', () => {
  it('pushes nothing before, and reads the database again only when the key has changed', async () => {
    const startGate = new AwaitedNamespace();
    const made = watcherHarness({ startGate, compareInterval: '10m' });
    const { loop, watcher, database, states } = made;
    await fill(database);
    watcher.start();
    await settle();
    assert.deepEqual(states.at(-1), ['ok', undefined], 'the database itself is available');
    assert.equal(startGate.calls, 1);
    await database.put(namespaceKey('other'), namespaceText('other'));
    await advance(made, 60_000);
    assert.equal(startGate.calls, 1);
    assert.deepEqual(loop.take(), []);
    await assert.rejects(watcher.requestResync({ acceptEmpty: false }), /no namespace/);
    assert.deepEqual(await made.mirror(), {}, 'the mirror is that of the event loop');

    await database.put(startGate.key, namespaceText('awaited'));
    await advance(made, 5_000);
    const [resync] = loop.take();
    assert.match(resync!, /awaited/);
    assert.match(resync!, /other/);
    await database.delete(startGate.key);
    await settle();
    assert.deepEqual(loop.take(), ['namespace k8s/namespace/awaited: plain -> -']);
    await watcher.close();
  });

  it('survives the loss of its watch and a missed change', async () => {
    const startGate = new AwaitedNamespace();
    const made = watcherHarness({ startGate, compareInterval: '10m' });
    const { loop, watcher, database, cluster } = made;
    await fill(database);
    watcher.start();
    await settle();
    cluster.disconnect();
    await advance(made, 10_000);
    await database.put(startGate.key, namespaceText('awaited'));
    cluster.reconnect();
    await advance(made, 10_000);
    assert.equal(loop.take().length, 1);
    await watcher.close();
  });

  it('neither uses a mirror without the key, nor waits when the mirror has it', async () => {
    const startGate = new AwaitedNamespace();
    for (const has of [false, true]) {
      const mirror = new MemoryStore();
      await fill(mirror);
      if (has) await mirror.put(startGate.key, namespaceText('awaited'));
      const made = watcherHarness({ startGate }, new MemoryStore(), mirror);
      made.cluster.disconnect();
      made.watcher.start();
      await settle();
      await advance(made, 20_000);
      assert.equal(made.loop.take().length, has ? 1 : 0);
      await made.watcher.close();
    }
  });
});
