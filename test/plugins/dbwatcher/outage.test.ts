import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  advance,
  fill,
  interfaceKey,
  namespaceKey,
  namespaceText,
  settle,
  startedWatcher,
  vppNodeKey,
  WHOLE_RESYNC,
} from './watcher-harness.ts';

describe('dbwatcher when the database goes away', () => {
  it('says so to readiness, keeps quiet, and hears afterwards what has changed', async () => {
    const made = await startedWatcher();
    const { loop, cluster, database, states, watcher } = made;
    loop.take();
    cluster.disconnect('no route to host');
    await advance(made, 3_000);
    assert.deepEqual(states.at(-1)?.[0], 'error');
    assert.match(String(states.at(-1)?.[1]), /no route to host/);
    assert.deepEqual([watcher.status.connected, watcher.status.watching], [false, false]);
    await database.put(namespaceKey('a'), namespaceText('a'));
    await database.delete(interfaceKey('loop1'));
    await advance(made, 60_000);
    assert.deepEqual(loop.take(), []);
    cluster.reconnect();
    await advance(made, 3_000);
    assert.deepEqual(loop.take(), [
      'namespace k8s/namespace/a: - -> plain',
      'db config/vpp/v2/interfaces/loop1: -',
    ]);
    assert.deepEqual(states.at(-1), ['ok', undefined]);
    assert.equal(watcher.status.watching, true);
    await watcher.close();
  });

  it('warns once, however long it lasts', async () => {
    const made = await startedWatcher();
    made.cluster.disconnect();
    await advance(made, 300_000);
    assert.equal(made.warnings.length, 1);
    await made.watcher.close();
  });

  it('hears of an outage that no probe sees nothing but the changes', async () => {
    const made = await startedWatcher();
    made.loop.take();
    made.cluster.disconnect();
    await made.database.put(namespaceKey('a'), namespaceText('a'));
    made.cluster.reconnect();
    await advance(made, 3_000);
    assert.deepEqual(made.loop.take(), ['namespace k8s/namespace/a: - -> plain']);
    await made.watcher.close();
  });

  it('reads nothing again for a connection that comes and goes', async () => {
    const made = await startedWatcher();
    made.loop.take();
    for (let round = 0; round < 100; round++) {
      made.cluster.disconnect();
      await advance(made, 3_000);
      await made.database.put(namespaceKey('a'), namespaceText('a', `${round}`));
      made.cluster.reconnect();
      await advance(made, 3_000);
    }
    assert.equal(made.loop.resyncs.length, 0);
    assert.equal(made.loop.changes.length, 100);
    assert.equal(made.watcher.status.watching, true);
    await made.watcher.close();
  });

  it('reads everything again if the history was compacted meanwhile', async () => {
    const made = await startedWatcher();
    made.loop.take();
    made.cluster.disconnect();
    await made.database.delete(interfaceKey('loop1'));
    made.database.compact();
    await advance(made, 3_000);
    made.cluster.reconnect();
    await advance(made, 10_000);
    assert.deepEqual(made.loop.take(), [
      'resync remote: k8s/namespace/default k8s/namespace/kube-system',
    ]);
    await made.watcher.close();
  });

  it('reads at another time than the agents of other nodes what all of them have lost', async () => {
    const delays = new Set<number>();
    for (let seed = 1; seed <= 5; seed++) {
      const made = await startedWatcher({ seed });
      for (let id = 1; id <= 200; id++)
        await made.database.put(vppNodeKey(id), JSON.stringify({ id, name: `node${id}` }));
      await advance(made, 70_000);
      made.loop.take();
      made.cluster.loseWatches();
      let ms = 0;
      for (; made.loop.resyncs.length === 0; ms += 10) await advance(made, 10);
      // 200 agents read 203 keys, 100 of them in a millisecond
      assert.ok(ms <= 420, `${ms} ms`);
      delays.add(ms);
      await made.watcher.close();
    }
    assert.ok(delays.size >= 4, [...delays].join());
  });

  it('reads everything again when the watch is lost', async () => {
    const made = await startedWatcher();
    const { loop, cluster, database, watcher } = made;
    loop.take();
    cluster.isDropped = () => true;
    await database.delete(namespaceKey('kube-system'));
    cluster.isDropped = undefined;
    cluster.loseWatches();
    await advance(made, 1_100);
    assert.deepEqual(loop.take(), [
      'resync remote: config/vpp/v2/interfaces/loop1 k8s/namespace/default',
    ]);
    await database.put(namespaceKey('a'), namespaceText('a'));
    await settle();
    assert.deepEqual(loop.take(), ['namespace k8s/namespace/a: - -> plain']);
    await watcher.close();
  });

  it('paces a watch that is lost again and again', async () => {
    const made = await startedWatcher();
    for (let round = 0; round < 600; round++) {
      made.cluster.loseWatches();
      await advance(made, 100);
    }
    const count = made.loop.resyncs.length;
    assert.ok(count > 3 && count < 12, `${count} resyncs in a minute`);
    await made.watcher.close();
  });

  it('does not believe a database that has lost all of Kubernetes', async () => {
    const made = await startedWatcher();
    const { loop, database, cluster, watcher, states } = made;
    const kept = await made.mirror();
    loop.take();
    database.wipe();
    await advance(made, 10_000);
    assert.deepEqual(loop.take(), []);
    assert.equal(states.at(-1)?.[0], 'error');
    assert.match(watcher.status.error ?? '', /lost the state of Kubernetes/);
    assert.deepEqual(await made.mirror(), kept);
    await database.put('/vnf-agent/contiv-ksr/allocatedIDs/1', '{"id":1,"name":"node1"}');
    await advance(made, 60_000);
    assert.deepEqual(loop.take(), [], 'what agents write is not Kubernetes');
    await fill(database);
    await advance(made, 30_000);
    assert.equal(loop.take().length, 1);
    assert.equal(watcher.status.watching, true);
    assert.deepEqual(states.at(-1), ['ok', undefined]);
    cluster.disconnect();
    await watcher.close();
  });

  it('accepts that only if a request says so, and records it', async () => {
    const made = await startedWatcher();
    made.loop.take();
    made.database.wipe();
    await advance(made, 10_000);
    await assert.rejects(made.watcher.requestResync({ acceptEmpty: false }), {
      name: 'LostKubeStateError',
      message: /lost the state of Kubernetes/,
    });
    assert.deepEqual(made.loop.take(), []);
    await made.watcher.requestResync({ acceptEmpty: true });
    const [event] = made.loop.events;
    assert.match(
      event!.kind.describe(event!.payload),
      /^Database Resync \(Remote DB\)\n\* without any state of Kubernetes: accepted by the resync request$/,
    );
    assert.deepEqual(made.loop.take(), ['resync remote: ']);
    await settle();
    assert.deepEqual(await made.mirror(), {});
    await made.watcher.close();
  });

  it('ends a request with the read that failed, whether it accepts an empty database or not', async () => {
    for (const acceptEmpty of [false, true]) {
      const made = await startedWatcher();
      const { loop, database, cluster, watcher, states } = made;
      loop.take();
      // etcd stalls: the request is accepted, and its read never succeeds
      const { promise: stalled, reject: timeOut } = Promise.withResolvers<never>();
      const list = cluster.list;
      cluster.list = () => stalled;
      const ended = assert.rejects(watcher.requestResync({ acceptEmpty }), {
        name: 'DatabaseUnavailableError',
        message: /deadline exceeded/,
      });
      const waiting = assert.rejects(async () => {
        await settle();
        await watcher.requestResync({ acceptEmpty });
      }, /DatabaseUnavailableError|no route/);
      await settle();
      cluster.disconnect('no route to host');
      await advance(made, 3_000);
      await waiting;
      timeOut(new Error('deadline exceeded'));
      await ended;
      // etcd returns, and is empty
      database.wipe();
      cluster.list = list;
      cluster.reconnect();
      await advance(made, 60_000);
      assert.deepEqual(loop.take(), [], 'no request is left for this read');
      assert.equal(states.at(-1)?.[0], 'error');
      await fill(database);
      await advance(made, 40_000);
      assert.deepEqual(loop.take().length, 1);
      await watcher.close();
    }
  });

  it('does not accept an empty database after a restart either, and uses its mirror', async () => {
    const before = await startedWatcher();
    await before.watcher.close();
    before.database.wipe();
    const made = before.restart();
    made.watcher.start();
    await settle();
    assert.deepEqual(made.loop.take(), []);
    assert.match(made.watcher.status.error ?? '', /lost the state of Kubernetes/);
    await advance(made, 5_100);
    assert.deepEqual(made.loop.take(), [WHOLE_RESYNC.replace('remote', 'local')]);
    await made.watcher.requestResync({ acceptEmpty: true });
    assert.deepEqual(made.loop.take(), ['resync remote: ']);
    await made.watcher.close();
  });

  it('believes it when the entries went one by one', async () => {
    const other = await startedWatcher();
    for (const name of ['default', 'kube-system']) await other.database.delete(namespaceKey(name));
    await settle();
    other.loop.take();
    other.cluster.loseWatches();
    await advance(other, 1_100);
    assert.deepEqual(other.loop.take(), ['resync remote: config/vpp/v2/interfaces/loop1']);
    await other.watcher.close();
  });
});
