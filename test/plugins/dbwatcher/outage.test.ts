import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MemoryStore } from '#datastore/memory.ts';
import { ErrClosedController, ErrEventLoopIsAborting } from '#eventloop/errors.ts';
import { ErrClosedWatcher, ErrResyncReqQueueFull } from '#plugins/dbwatcher/api.ts';
import {
  agentPrefix,
  type Bench,
  bench,
  fill,
  interfaceKey,
  interfaceText,
  namespaceKey,
  namespaceText,
  settle,
  startedBench,
  wholeResync,
} from './harness.ts';

const localResync = wholeResync.replace('remote', 'local');

/** Advances until the probe has run, and lets the consequences happen. */
async function pass(made: Bench, ms: number): Promise<void> {
  await made.clock.advance(ms);
  await settle();
}

/** A watcher whose database cannot be reached, over the mirror that an earlier one has left. */
async function afterRestart(): Promise<Bench> {
  const before = await startedBench();
  await before.watcher.close();
  const made = before.restart();
  made.cluster.cut();
  made.watcher.start();
  await settle();
  return made;
}

describe('dbwatcher without the database at start', () => {
  it('waits a while and then sends what the mirror holds, external configuration too', async () => {
    const made = await afterRestart();
    const { loop, watcher, states } = made;
    await pass(made, 4_900);
    assert.deepEqual(loop.take(), []);
    assert.equal(states[0]?.[0], 'error');
    await pass(made, 200);
    assert.deepEqual(loop.take(), [localResync]);
    const { connected, source, watching } = watcher.status;
    assert.deepEqual([connected, source, watching], [false, 'mirror', false]);
    await pass(made, 60_000);
    assert.deepEqual(loop.take(), [], 'once');
    await watcher.close();
  });

  it('sends the database itself as soon as it is there, and follows it', async () => {
    const made = await afterRestart();
    const { loop, watcher, database, cluster, states } = made;
    await pass(made, 10_000);
    await database.put(namespaceKey('new'), namespaceText('new'));
    cluster.mend();
    await pass(made, 3_000);
    assert.deepEqual(loop.take(), [localResync, `${wholeResync} k8s/namespace/new`]);
    assert.deepEqual(states.at(-1), ['ok', undefined]);
    await database.delete(namespaceKey('new'));
    await settle();
    assert.deepEqual(loop.take(), ['namespace k8s/namespace/new: plain -> -']);
    await watcher.close();
  });

  it('does without the mirror when the database is there in time', async () => {
    const made = await afterRestart();
    await pass(made, 1_000);
    made.cluster.mend();
    await pass(made, 10_000);
    assert.deepEqual(made.loop.take(), [wholeResync]);
    await made.watcher.close();
  });

  it('takes the mirror as well when the database answers but cannot be read', async () => {
    const before = await startedBench();
    await before.watcher.close();
    const made = before.restart();
    made.cluster.list = () => Promise.reject(new Error('permission denied'));
    made.watcher.start();
    await pass(made, 5_100);
    assert.deepEqual(made.loop.take(), [localResync]);
    assert.deepEqual(
      [made.watcher.status.connected, made.watcher.status.error],
      [true, 'permission denied'],
    );
    await made.watcher.close();
  });

  it('waits for the database when the mirror is empty, broken or cannot be read', async () => {
    for (const hinder of [
      () => undefined,
      (made: Bench) => made.local.cut(),
      (made: Bench) => {
        made.local.list = () => Promise.reject(new Error('I/O error'));
      },
    ]) {
      const made = bench();
      await fill(made.database);
      made.cluster.cut();
      hinder(made);
      made.watcher.start();
      await pass(made, 20_000);
      assert.deepEqual(made.loop.take(), []);
      made.cluster.mend();
      await pass(made, 3_000);
      assert.deepEqual(made.loop.take(), [wholeResync]);
      await made.watcher.close();
    }
  });

  it('tries the mirror again when the event loop did not take it', async () => {
    const made = await afterRestart();
    made.loop.room = 0;
    await pass(made, 5_100);
    assert.equal(made.loop.refused, 1);
    made.loop.room = 10;
    await pass(made, 1_100);
    assert.deepEqual(made.loop.take(), [localResync]);
    await made.watcher.close();
  });

  it('skips what makes no sense in the mirror', async () => {
    const before = await startedBench();
    await before.watcher.close();
    const made = before.restart();
    await made.local.put(namespaceKey('default'), '{');
    made.cluster.cut();
    made.watcher.start();
    await pass(made, 5_100);
    assert.deepEqual(made.loop.take(), [
      'resync local: config/vpp/v2/interfaces/loop1 k8s/namespace/kube-system',
    ]);
    await made.watcher.close();
  });

  it('has no mirror in embedded mode and needs none', async () => {
    const made = await startedBench({ embedded: true });
    await made.database.put(namespaceKey('a'), namespaceText('a'));
    await pass(made, 10_000);
    assert.deepEqual(made.loop.take(), [wholeResync, 'namespace k8s/namespace/a: - -> plain']);
    assert.deepEqual(await made.mirror(), {});
    assert.equal((await made.database.list('')).entries.length, 4);
    await made.watcher.close();
  });
});

describe('dbwatcher when the database goes away', () => {
  it('says so to readiness, keeps quiet, and reads everything again afterwards', async () => {
    const made = await startedBench();
    const { loop, cluster, database, states, watcher } = made;
    loop.take();
    cluster.cut('no route to host');
    await pass(made, 3_000);
    assert.deepEqual(states.at(-1)?.[0], 'error');
    assert.match(String(states.at(-1)?.[1]), /no route to host/);
    assert.deepEqual([watcher.status.connected, watcher.status.watching], [false, false]);
    await database.put(namespaceKey('a'), namespaceText('a'));
    await database.delete(interfaceKey('loop1'));
    await pass(made, 60_000);
    assert.deepEqual(loop.take(), []);
    cluster.mend();
    await pass(made, 3_000);
    assert.deepEqual(loop.take(), [
      'resync remote: k8s/namespace/a k8s/namespace/default k8s/namespace/kube-system',
    ]);
    assert.deepEqual(states.at(-1), ['ok', undefined]);
    await watcher.close();
  });

  it('warns once, however long it lasts', async () => {
    const made = await startedBench();
    made.cluster.cut();
    await pass(made, 300_000);
    assert.equal(made.warnings.length, 1);
    await made.watcher.close();
  });

  it('hears of an outage that no probe sees nothing but the changes', async () => {
    const made = await startedBench();
    made.loop.take();
    made.cluster.cut();
    await made.database.put(namespaceKey('a'), namespaceText('a'));
    made.cluster.mend();
    await pass(made, 3_000);
    assert.deepEqual(made.loop.take(), ['namespace k8s/namespace/a: - -> plain']);
    await made.watcher.close();
  });

  it('paces the resyncs of a connection that comes and goes', async () => {
    const made = await startedBench();
    for (let round = 0; round < 100; round++) {
      made.cluster.cut();
      await pass(made, 3_000);
      made.cluster.mend();
      await pass(made, 3_000);
    }
    const count = made.loop.resyncs.length;
    assert.ok(count < 40, `${count} resyncs in ten minutes`);
    await pass(made, 60_000);
    assert.equal(made.watcher.status.watching, true);
    await made.watcher.close();
  });

  it('reads everything again when the watch is lost', async () => {
    const made = await startedBench();
    const { loop, cluster, database, watcher } = made;
    loop.take();
    cluster.dropped = () => true;
    await database.delete(namespaceKey('kube-system'));
    cluster.dropped = undefined;
    cluster.loseWatches();
    await pass(made, 1_100);
    assert.deepEqual(loop.take(), [
      'resync remote: config/vpp/v2/interfaces/loop1 k8s/namespace/default',
    ]);
    await database.put(namespaceKey('a'), namespaceText('a'));
    await settle();
    assert.deepEqual(loop.take(), ['namespace k8s/namespace/a: - -> plain']);
    await watcher.close();
  });

  it('paces a watch that is lost again and again', async () => {
    const made = await startedBench();
    for (let round = 0; round < 600; round++) {
      made.cluster.loseWatches();
      await pass(made, 100);
    }
    const count = made.loop.resyncs.length;
    assert.ok(count > 3 && count < 12, `${count} resyncs in a minute`);
    await made.watcher.close();
  });

  it('does not believe a database that has lost all of Kubernetes', async () => {
    const made = await startedBench();
    const { loop, database, cluster, watcher, states } = made;
    const kept = await made.mirror();
    loop.take();
    database.wipe();
    await pass(made, 10_000);
    assert.deepEqual(loop.take(), []);
    assert.equal(states.at(-1)?.[0], 'error');
    assert.match(watcher.status.error ?? '', /lost the state of Kubernetes/);
    assert.deepEqual(await made.mirror(), kept);
    await database.put('/vnf-agent/contiv-ksr/allocatedIDs/1', '{"id":1,"name":"node1"}');
    await pass(made, 60_000);
    assert.deepEqual(loop.take(), [], 'what agents write is not Kubernetes');
    await fill(database);
    await pass(made, 30_000);
    assert.equal(loop.take().length, 1);
    assert.equal(watcher.status.watching, true);
    assert.deepEqual(states.at(-1), ['ok', undefined]);
    cluster.cut();
    await watcher.close();
  });

  it('believes it when an operator asks, and when the entries went one by one', async () => {
    const made = await startedBench();
    made.loop.take();
    made.database.wipe();
    await pass(made, 10_000);
    made.watcher.requestResync();
    await settle();
    assert.deepEqual(made.loop.take(), ['resync remote: ']);
    assert.deepEqual(await made.mirror(), {});
    await made.watcher.close();

    const other = await startedBench();
    for (const name of ['default', 'kube-system']) await other.database.delete(namespaceKey(name));
    await settle();
    other.loop.take();
    other.cluster.loseWatches();
    await pass(other, 1_100);
    assert.deepEqual(other.loop.take(), ['resync remote: config/vpp/v2/interfaces/loop1']);
    await other.watcher.close();
  });
});

describe('dbwatcher and the event loop', () => {
  it('sends a resync, not at once, when a change is not taken', async () => {
    const made = await startedBench();
    const { loop, database, watcher } = made;
    loop.take();
    loop.room = 1;
    for (const name of ['a', 'b', 'c']) await database.put(namespaceKey(name), namespaceText(name));
    await settle();
    assert.deepEqual(loop.take(), ['namespace k8s/namespace/a: - -> plain']);
    await settle();
    assert.equal(loop.refused, 1);
    loop.room = 100;
    await pass(made, 400);
    assert.deepEqual(loop.take(), []);
    await pass(made, 700);
    assert.deepEqual(loop.take(), [
      `${wholeResync.replace('k8s/namespace/default', 'k8s/namespace/a k8s/namespace/b k8s/namespace/c k8s/namespace/default')}`,
    ]);
    await database.delete(namespaceKey('b'));
    await settle();
    assert.deepEqual(loop.take(), ['namespace k8s/namespace/b: plain -> -']);
    await watcher.close();
  });

  it('tries ever more rarely while the queue stays full', async () => {
    const made = await startedBench();
    made.loop.room = 0;
    await made.database.put(namespaceKey('a'), namespaceText('a'));
    await pass(made, 300_000);
    assert.ok(made.loop.refused > 5 && made.loop.refused < 30, `${made.loop.refused} attempts`);
    made.loop.take();
    made.loop.room = 1;
    await pass(made, 30_000);
    assert.equal(made.loop.resyncs.length, 1);
    await made.watcher.close();
  });

  it('reads everything again when more changes wait than it keeps', async () => {
    const made = await startedBench();
    made.loop.take();
    made.cluster.hold();
    for (let at = 0; at < 1500; at++)
      await made.database.put(namespaceKey(`n${at}`), namespaceText(`n${at}`));
    await settle();
    made.cluster.release();
    await pass(made, 1_100);
    await settle();
    assert.equal(made.loop.events.length, 1);
    const { kubeState } = made.loop.resyncs[0]!;
    assert.equal(Object.keys(kubeState['namespace']!).length, 1502);
    await made.watcher.close();
  });

  it('ends quietly when the event loop has ended', async () => {
    for (const refusal of [
      new ErrClosedController('controller was closed'),
      new ErrEventLoopIsAborting('event loop is aborting after a fatal error'),
    ]) {
      const made = await startedBench();
      made.loop.refusal = refusal;
      await made.database.put(namespaceKey('a'), namespaceText('a'));
      await pass(made, 60_000);
      assert.equal(made.loop.refused, 1);
      assert.equal(made.clock.pending, 0, 'no timer is left');
      assert.throws(() => made.watcher.requestResync(), ErrClosedWatcher);
      await made.watcher.close();
    }
  });

  it('gives a resync on request, one for several, and no more than ten wait', async () => {
    const made = await startedBench();
    const { loop, watcher, cluster } = made;
    loop.take();
    for (let request = 0; request < 10; request++) watcher.requestResync();
    assert.throws(() => watcher.requestResync(), ErrResyncReqQueueFull);
    await settle();
    assert.deepEqual(loop.take(), [wholeResync]);
    cluster.cut();
    await pass(made, 3_000);
    assert.throws(() => watcher.requestResync(), {
      name: 'ErrDatabaseAway',
      message: /out of reach/,
    });
    await pass(made, 3_000);
    assert.deepEqual(loop.take(), []);
    cluster.mend();
    await pass(made, 4_000);
    assert.deepEqual(loop.take(), [wholeResync], 'it comes by itself');
    watcher.requestResync();
    await settle();
    assert.deepEqual(loop.take(), [wholeResync]);
    await watcher.close();
    assert.throws(() => watcher.requestResync(), ErrClosedWatcher);
  });

  it('sends nothing more when it is closed in the middle of many changes', async () => {
    const made = await startedBench();
    made.loop.take();
    made.cluster.hold();
    for (let at = 0; at < 900; at++)
      await made.database.put(namespaceKey(`n${at}`), namespaceText(`n${at}`));
    await settle();
    made.cluster.release();
    while (made.loop.events.length === 0) await Promise.resolve();
    const closed = made.watcher.close();
    const sent = made.loop.events.length;
    await closed;
    await settle();
    assert.equal(made.loop.events.length, sent);
    assert.ok(sent < 900);
  });

  it('does nothing after it was closed, in the middle of whatever', async () => {
    for (const turns of [0, 1, 2, 3, 5]) {
      const made = bench();
      await fill(made.database);
      made.watcher.start();
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      await made.watcher.close();
      const events = made.loop.events.length;
      await made.database.put(namespaceKey('a'), namespaceText('a'));
      await pass(made, 60_000);
      assert.equal(made.loop.events.length, events);
      assert.equal(made.clock.pending, 0);
    }
  });
});

describe('dbwatcher and its mirror', () => {
  it('holds what the event loop knows, and nothing else', async () => {
    const made = bench();
    await made.local.put(namespaceKey('of-another-time'), namespaceText('of-another-time'));
    await fill(made.database);
    made.watcher.start();
    await settle();
    await made.database.put(namespaceKey('a'), namespaceText('a', '1'));
    await made.database.delete(namespaceKey('default'));
    await made.database.put(interfaceKey('loop2'), interfaceText('loop2'));
    await made.database.put(`${agentPrefix}check/status/v1/agent`, 'x');
    await settle();
    assert.deepEqual(await made.mirror(), {
      [namespaceKey('a')]: namespaceText('a', '1'),
      [namespaceKey('kube-system')]: namespaceText('kube-system'),
      [interfaceKey('loop1')]: interfaceText('loop1'),
      [interfaceKey('loop2')]: interfaceText('loop2'),
    });
    await made.watcher.close();
  });

  it('forgets what went while the agent was away, in one write', async () => {
    const before = await startedBench();
    await before.watcher.close();
    await before.database.delete(namespaceKey('default'));
    await before.database.put(namespaceKey('new'), namespaceText('new'));
    const made = before.restart();
    made.watcher.start();
    await settle();
    assert.deepEqual(
      Object.keys(await made.mirror()).sort(),
      [interfaceKey('loop1'), namespaceKey('kube-system'), namespaceKey('new')].sort(),
    );
    assert.equal(made.local.points, 2);
    await made.watcher.close();
  });

  it('stops nobody when it cannot be written, and is made whole afterwards', async () => {
    const made = await startedBench();
    const { loop, database, local, watcher, states } = made;
    loop.take();
    local.beforeWrite = () => {
      throw new Error('no space left on device');
    };
    await database.put(namespaceKey('a'), namespaceText('a'));
    await settle();
    await database.delete(namespaceKey('default'));
    await settle();
    assert.equal(loop.take().length, 2);
    assert.match(watcher.status.mirrorError ?? '', /no space left/);
    assert.deepEqual(states, [['ok', undefined]]);
    local.beforeWrite = undefined;
    await database.put(namespaceKey('b'), namespaceText('b'));
    await pass(made, 10_000);
    assert.equal(watcher.status.mirrorError, undefined);
    assert.deepEqual(
      Object.keys(await made.mirror()).sort(),
      [interfaceKey('loop1'), ...['a', 'b', 'kube-system'].map(namespaceKey)].sort(),
    );
    await watcher.close();
  });

  it('holds up no event, however slow the disk is, and takes up what has come meanwhile', async () => {
    const made = bench();
    const { loop, database, local, watcher } = made;
    let written: () => void = () => undefined;
    const disk = new Promise<void>((resolve) => {
      written = resolve;
    });
    local.beforeWrite = () => disk;
    await fill(database);
    watcher.start();
    await settle();
    assert.deepEqual(loop.take(), [wholeResync]);
    assert.equal(watcher.status.watching, true);
    for (const label of ['1', '2', '3']) {
      await database.put(namespaceKey('a'), namespaceText('a', label));
      await settle();
    }
    await database.delete(namespaceKey('default'));
    await settle();
    assert.equal(loop.take().length, 4);
    assert.deepEqual(await made.mirror(), {}, 'the disk has taken nothing yet');
    written();
    await settle();
    assert.deepEqual(await made.mirror(), {
      [namespaceKey('a')]: namespaceText('a', '3'),
      [namespaceKey('kube-system')]: namespaceText('kube-system'),
      [interfaceKey('loop1')]: interfaceText('loop1'),
    });
    assert.equal(local.points, 4, 'two writes: the whole, and what had changed since');
    await watcher.close();
  });

  it('ends when what is known is on the disk', async () => {
    const made = await startedBench();
    await made.database.put(namespaceKey('last'), namespaceText('last'));
    while (made.loop.events.length < 2) await Promise.resolve();
    await made.watcher.close();
    assert.ok(namespaceKey('last') in (await made.mirror()));
  });

  it('leaves a usable mirror wherever the agent dies', async () => {
    const life = async (made: Bench) => {
      made.watcher.start();
      await settle();
      await made.database.put(namespaceKey('a'), namespaceText('a'));
      await settle();
      await made.database.delete(namespaceKey('default'));
      await settle();
      made.cluster.loseWatches();
      await pass(made, 1_100);
      await made.watcher.close();
    };
    const whole = bench();
    await fill(whole.database);
    await life(whole);
    assert.ok(whole.local.points >= 6);
    for (let point = 0; point < whole.local.points; point++) {
      const first = bench();
      await fill(first.database);
      first.local.crashAt(point);
      await life(first);
      const made = first.restart();
      made.cluster.cut();
      made.watcher.start();
      await pass(made, 5_100);
      const [line = 'nothing'] = made.loop.take();
      // Before the first write there is none, after it never less than a state that once was.
      if (point === 0) assert.equal(line, 'nothing');
      else
        assert.match(line, /^resync local: config\/vpp\/v2\/interfaces\/loop1 k8s.*kube-system$/);
      await made.watcher.close();
    }
  });
});

describe('dbwatcher and a watch that loses changes', () => {
  const options = { compareInterval: '60s' };

  async function lossy(): Promise<Bench> {
    const made = await startedBench(options);
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
      made.cluster.dropped = () => true;
      await damage(made.database);
      await settle();
      made.cluster.dropped = undefined;
      await pass(made, 90_000);
      assert.equal(made.loop.resyncs.length, 1);
      assert.equal(made.watcher.status.missedChanges, 1);
      await pass(made, 300_000);
      assert.equal(made.loop.resyncs.length, 1, 'once');
      await made.watcher.close();
    }
  });

  it('takes a late change for late, not for lost', async () => {
    const made = await lossy();
    // At any time there is a change that the watch has not delivered yet.
    for (let round = 0; round < 150; round++) {
      made.cluster.hold();
      await made.database.put(namespaceKey('a'), namespaceText('a', `${round}`));
      await pass(made, 1_000);
      made.cluster.release();
    }
    assert.equal(made.watcher.status.missedChanges, 0);
    assert.equal(made.loop.resyncs.length, 0);
    await made.watcher.close();
  });

  it('has nothing to say of broken values and of keys that are not its own', async () => {
    const made = await lossy();
    await made.database.put(namespaceKey('default'), '{');
    await made.database.put(`${agentPrefix}check/status/v1/agent`, 'x');
    await made.database.put('/vnf-agent/contiv-ksr/k8s/unheard/of', 'x');
    await pass(made, 300_000);
    assert.equal(made.watcher.status.missedChanges, 0);
    assert.deepEqual(made.loop.take(), []);
    await made.watcher.close();
  });

  it('goes on comparing when the database cannot be read once', async () => {
    const made = await lossy();
    const { list } = made.cluster;
    made.cluster.list = () => Promise.reject(new Error('overloaded'));
    await pass(made, 80_000);
    made.cluster.list = list;
    assert.deepEqual(made.states.at(-1), ['ok', undefined]);
    made.cluster.dropped = () => true;
    await made.database.delete(interfaceKey('loop1'));
    await settle();
    made.cluster.dropped = undefined;
    await pass(made, 160_000);
    assert.equal(made.watcher.status.missedChanges, 1);
    await made.watcher.close();
  });
});
