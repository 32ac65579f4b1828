import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  advance,
  fill,
  namespaceKey,
  namespaceText,
  nodeKey,
  settle,
  startedWatcher,
  type WatcherHarness,
  WHOLE_RESYNC,
  watcherHarness,
} from './watcher-harness.ts';

const localResync = WHOLE_RESYNC.replace('remote', 'local');

/** A watcher whose database cannot be reached, over the mirror that an earlier one has left. */
async function afterRestart(): Promise<WatcherHarness> {
  const before = await startedWatcher();
  await before.watcher.close();
  const made = before.restart();
  made.cluster.disconnect();
  made.watcher.start();
  await settle();
  return made;
}

describe('dbwatcher without the database at start', () => {
  it('waits a while and then sends what the mirror holds, external configuration too', async () => {
    const made = await afterRestart();
    const { loop, watcher, states } = made;
    await advance(made, 4_900);
    assert.deepEqual(loop.take(), []);
    assert.equal(states[0]?.[0], 'error');
    await advance(made, 200);
    assert.deepEqual(loop.take(), [localResync]);
    const { connected, source, watching } = watcher.status;
    assert.deepEqual([connected, source, watching], [false, 'mirror', false]);
    await advance(made, 60_000);
    assert.deepEqual(loop.take(), [], 'once');
    await watcher.close();
  });

  it('sends the database itself as soon as it is there, and follows it', async () => {
    const made = await afterRestart();
    const { loop, watcher, database, cluster, states } = made;
    await advance(made, 10_000);
    await database.put(namespaceKey('new'), namespaceText('new'));
    cluster.reconnect();
    await advance(made, 3_000);
    assert.deepEqual(loop.take(), [localResync, `${WHOLE_RESYNC} k8s/namespace/new`]);
    assert.deepEqual(states.at(-1), ['ok', undefined]);
    await database.delete(namespaceKey('new'));
    await settle();
    assert.deepEqual(loop.take(), ['namespace k8s/namespace/new: plain -> -']);
    await watcher.close();
  });

  it('does without the mirror when the database is there in time', async () => {
    const made = await afterRestart();
    await advance(made, 1_000);
    made.cluster.reconnect();
    await advance(made, 10_000);
    assert.deepEqual(made.loop.take(), [WHOLE_RESYNC]);
    await made.watcher.close();
  });

  it('takes the mirror as well when the database answers but cannot be read', async () => {
    const before = await startedWatcher();
    await before.watcher.close();
    const made = before.restart();
    made.cluster.list = () => Promise.reject(new Error('permission denied'));
    made.watcher.start();
    await advance(made, 5_100);
    assert.deepEqual(made.loop.take(), [localResync]);
    assert.deepEqual(
      [made.watcher.status.connected, made.watcher.status.error],
      [true, 'permission denied'],
    );
    await made.watcher.close();
  });

  it('waits for the database when the mirror is empty, broken or cannot be read', async () => {
    for (const breakMirror of [
      () => undefined,
      (made: WatcherHarness) => made.local.disconnect(),
      (made: WatcherHarness) => {
        made.local.list = () => Promise.reject(new Error('I/O error'));
      },
    ]) {
      const made = watcherHarness();
      await fill(made.database);
      made.cluster.disconnect();
      breakMirror(made);
      made.watcher.start();
      await advance(made, 20_000);
      assert.deepEqual(made.loop.take(), []);
      made.cluster.reconnect();
      await advance(made, 3_000);
      assert.deepEqual(made.loop.take(), [WHOLE_RESYNC]);
      await made.watcher.close();
    }
  });

  it('tries the mirror again when the event loop did not take it', async () => {
    const made = await afterRestart();
    made.loop.room = 0;
    await advance(made, 5_100);
    assert.equal(made.loop.refused, 1);
    made.loop.room = 10;
    await advance(made, 1_100);
    assert.deepEqual(made.loop.take(), [localResync]);
    await made.watcher.close();
  });

  it('ignores invalid values in the mirror', async () => {
    const before = await startedWatcher();
    await before.watcher.close();
    const made = before.restart();
    await made.local.put(nodeKey('n1'), '{');
    made.cluster.disconnect();
    made.watcher.start();
    await advance(made, 5_100);
    assert.deepEqual(made.loop.take(), [localResync]);
    await made.watcher.close();
  });

  it('has no mirror in embedded mode and needs none', async () => {
    const made = await startedWatcher({ embedded: true });
    await made.database.put(namespaceKey('a'), namespaceText('a'));
    await advance(made, 10_000);
    assert.deepEqual(made.loop.take(), [WHOLE_RESYNC, 'namespace k8s/namespace/a: - -> plain']);
    assert.deepEqual(await made.mirror(), {});
    assert.equal((await made.database.list('')).entries.length, 4);
    await made.watcher.close();
  });
});
