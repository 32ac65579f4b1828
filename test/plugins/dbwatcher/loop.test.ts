import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ClosedControllerError, EventLoopIsAbortingError } from '#plugins/controller/api/errors.ts';
import { ClosedWatcherError, ResyncRequestQueueFullError } from '#plugins/dbwatcher/api.ts';
import {
  advance,
  fill,
  interfaceKey,
  interfaceText,
  namespaceKey,
  namespaceText,
  settle,
  startedWatcher,
  WHOLE_RESYNC,
  watcherHarness,
} from './watcher-harness.ts';

describe('dbwatcher and the event loop', () => {
  it('sends a resync, not at once, when a change is not taken', async () => {
    const made = await startedWatcher();
    const { loop, database, watcher } = made;
    loop.take();
    loop.room = 1;
    for (const name of ['a', 'b', 'c']) await database.put(namespaceKey(name), namespaceText(name));
    await settle();
    assert.deepEqual(loop.take(), ['namespace k8s/namespace/a: - -> plain']);
    await settle();
    assert.equal(loop.refused, 1);
    loop.room = 100;
    await advance(made, 400);
    assert.deepEqual(loop.take(), []);
    await advance(made, 700);
    assert.deepEqual(loop.take(), [
      `${WHOLE_RESYNC.replace('k8s/namespace/default', 'k8s/namespace/a k8s/namespace/b k8s/namespace/c k8s/namespace/default')}`,
    ]);
    await database.delete(namespaceKey('b'));
    await settle();
    assert.deepEqual(loop.take(), ['namespace k8s/namespace/b: plain -> -']);
    await watcher.close();
  });

  it('tries ever more rarely while the queue stays full', async () => {
    const made = await startedWatcher();
    made.loop.room = 0;
    await made.database.put(namespaceKey('a'), namespaceText('a'));
    await advance(made, 300_000);
    assert.ok(made.loop.refused > 5 && made.loop.refused < 30, `${made.loop.refused} attempts`);
    made.loop.take();
    made.loop.room = 1;
    await advance(made, 30_000);
    assert.equal(made.loop.resyncs.length, 1);
    await made.watcher.close();
  });

  it('waits with changes until the loop has less to do, and pushes the last one of each key', async () => {
    const made = await startedWatcher();
    const { loop, database, watcher } = made;
    loop.take();
    loop.processed(50);
    for (const label of ['1', '2', '3'])
      for (let at = 0; at < 900; at++)
        await database.put(namespaceKey(`n${at}`), namespaceText(`n${at}`, label));
    await database.delete(namespaceKey('n7'));
    await database.put(namespaceKey('n8'), namespaceText('n8', '4'));
    await settle();
    assert.deepEqual(loop.take(), []);
    assert.equal(watcher.status.pendingChanges, 900 - 1);
    loop.processed(25);
    await settle();
    assert.deepEqual(loop.take(), [], 'not one at a time');
    loop.processed(24);
    await settle();
    // the loop of this test says that its queue stays as long as it was
    const pushed = loop.take();
    assert.equal(pushed.length, 900 - 1, 'n7 came and went meanwhile');
    assert.equal(pushed[0], 'namespace k8s/namespace/n0: - -> 3');
    assert.equal(pushed.at(-1), 'namespace k8s/namespace/n8: - -> 4');
    assert.equal(watcher.status.pendingChanges, 0);
    await watcher.close();
  });

  it('reads everything again when many values of external configuration wait', async () => {
    const made = await startedWatcher();
    const { loop, cluster, database, watcher } = made;
    loop.take();
    cluster.withholdChanges();
    for (let at = 0; at < 1500; at++) {
      await database.put(namespaceKey(`n${at}`), namespaceText(`n${at}`));
      if (at < 1001) await database.put(interfaceKey(`loop${at}`), interfaceText(`loop${at}`));
    }
    await settle();
    cluster.releaseChanges();
    await advance(made, 1_100);
    assert.equal(loop.events.length, 1);
    const { kubeState, externalConfig } = loop.resyncs[0]!;
    assert.equal(Object.keys(kubeState['namespace']!).length, 1502);
    assert.ok(Object.keys(externalConfig).length >= 1001);
    await watcher.close();
  });

  it('pushes a resync also to a busy loop', async () => {
    const made = await startedWatcher();
    made.loop.take();
    made.loop.processed(900);
    await made.watcher.requestResync({ acceptEmpty: false });
    assert.deepEqual(made.loop.take(), [WHOLE_RESYNC]);
    await made.watcher.close();
  });

  it('ends quietly when the event loop has ended', async () => {
    for (const refusal of [
      new ClosedControllerError('controller was closed'),
      new EventLoopIsAbortingError('event loop is aborting after a fatal error'),
    ]) {
      const made = await startedWatcher();
      made.loop.refusal = refusal;
      await made.database.put(namespaceKey('a'), namespaceText('a'));
      await advance(made, 60_000);
      assert.equal(made.loop.refused, 1);
      assert.equal(made.clock.pending, 0, 'no timer is left');
      await assert.rejects(made.watcher.requestResync({ acceptEmpty: false }), ClosedWatcherError);
      await made.watcher.close();
    }
  });

  it('gives a resync on request, one for several, and no more than ten wait', async () => {
    const made = await startedWatcher();
    const { loop, watcher, cluster } = made;
    loop.take();
    const request = { acceptEmpty: false };
    const requests = Array.from({ length: 10 }, () => watcher.requestResync(request));
    await assert.rejects(watcher.requestResync(request), ResyncRequestQueueFullError);
    await Promise.all(requests);
    assert.deepEqual(loop.take(), [WHOLE_RESYNC]);
    cluster.disconnect();
    await advance(made, 3_000);
    await assert.rejects(watcher.requestResync(request), {
      name: 'DatabaseUnavailableError',
      message: /out of reach/,
    });
    await advance(made, 3_000);
    assert.deepEqual(loop.take(), []);
    cluster.reconnect();
    await advance(made, 4_000);
    assert.deepEqual(loop.take(), [], 'the watch has missed nothing');
    await watcher.requestResync(request);
    assert.deepEqual(loop.take(), [WHOLE_RESYNC]);
    await watcher.close();
    await assert.rejects(watcher.requestResync(request), ClosedWatcherError);
  });

  it('sends nothing more when it is closed in the middle of many changes', async () => {
    const made = await startedWatcher();
    made.loop.take();
    made.cluster.withholdChanges();
    for (let at = 0; at < 900; at++)
      await made.database.put(namespaceKey(`n${at}`), namespaceText(`n${at}`));
    await settle();
    const { push } = made.loop;
    made.loop.push = function (event) {
      made.clock.jump(1);
      push.call(this, event);
    };
    made.cluster.releaseChanges();
    while (made.loop.events.length === 0) await Promise.resolve();
    const closed = made.watcher.close();
    const sent = made.loop.events.length;
    await closed;
    await settle();
    assert.equal(made.loop.events.length, sent);
    assert.ok(sent < 900);
  });

  it('is closed at once while it reads a database that does not answer', async () => {
    const made = await startedWatcher();
    made.cluster.list = () => new Promise(() => undefined);
    const requested = made.watcher.requestResync({ acceptEmpty: false });
    await settle();
    assert.ok(made.watcher.status.reading);
    const rejected = assert.rejects(requested, ClosedWatcherError);
    await made.watcher.close();
    await rejected;
  });

  it('does nothing after it was closed, in the middle of whatever', async () => {
    for (const turns of [0, 1, 2, 3, 5]) {
      const made = watcherHarness();
      await fill(made.database);
      made.watcher.start();
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      await made.watcher.close();
      const events = made.loop.events.length;
      await made.database.put(namespaceKey('a'), namespaceText('a'));
      await advance(made, 60_000);
      assert.equal(made.loop.events.length, events);
      assert.equal(made.clock.pending, 0);
    }
  });
});
