import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AGENT_PREFIX,
  advance,
  fill,
  interfaceKey,
  interfaceText,
  MIRROR_MS,
  namespaceKey,
  namespaceText,
  settle,
  startedWatcher,
  type WatcherHarness,
  WHOLE_RESYNC,
  watcherHarness,
} from './watcher-harness.ts';

describe('dbwatcher and its mirror', () => {
  it('holds what the event loop knows, and nothing else', async () => {
    const made = watcherHarness();
    await made.local.put(namespaceKey('of-another-time'), namespaceText('of-another-time'));
    await fill(made.database);
    made.watcher.start();
    await settle();
    await made.database.put(namespaceKey('a'), namespaceText('a', '1'));
    await made.database.delete(namespaceKey('default'));
    await made.database.put(interfaceKey('loop2'), interfaceText('loop2'));
    await made.database.put(`${AGENT_PREFIX}check/status/v1/agent`, 'x');
    await advance(made, MIRROR_MS);
    assert.deepEqual(await made.mirror(), {
      [namespaceKey('a')]: namespaceText('a', '1'),
      [namespaceKey('kube-system')]: namespaceText('kube-system'),
      [interfaceKey('loop1')]: interfaceText('loop1'),
      [interfaceKey('loop2')]: interfaceText('loop2'),
    });
    await made.watcher.close();
  });

  it('deletes values that were deleted while the agent was stopped, in one write', async () => {
    const before = await startedWatcher();
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
    assert.equal(made.local.crashPoints, 2);
    await made.watcher.close();
  });

  it('does not block the watcher when it cannot be written, and is completed afterwards', async () => {
    const made = await startedWatcher();
    const { loop, database, local, watcher, states } = made;
    loop.take();
    local.beforeWrite = () => {
      throw new Error('no space left on device');
    };
    await database.put(namespaceKey('a'), namespaceText('a'));
    await settle();
    await database.delete(namespaceKey('default'));
    await advance(made, MIRROR_MS);
    assert.equal(loop.take().length, 2);
    assert.match(watcher.status.mirrorError ?? '', /no space left/);
    assert.deepEqual(states, [['ok', undefined]]);
    local.beforeWrite = undefined;
    await database.put(namespaceKey('b'), namespaceText('b'));
    await advance(made, 10_000);
    assert.equal(watcher.status.mirrorError, undefined);
    assert.deepEqual(
      Object.keys(await made.mirror()).sort(),
      [interfaceKey('loop1'), ...['a', 'b', 'kube-system'].map(namespaceKey)].sort(),
    );
    await watcher.close();
  });

  it('holds up no event, however slow the disk is, and takes up what has come meanwhile', async () => {
    const made = watcherHarness();
    const { loop, database, local, watcher } = made;
    let written: () => void = () => undefined;
    const disk = new Promise<void>((resolve) => {
      written = resolve;
    });
    local.beforeWrite = () => disk;
    await fill(database);
    watcher.start();
    await settle();
    assert.deepEqual(loop.take(), [WHOLE_RESYNC]);
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
    await advance(made, MIRROR_MS);
    assert.deepEqual(await made.mirror(), {
      [namespaceKey('a')]: namespaceText('a', '3'),
      [namespaceKey('kube-system')]: namespaceText('kube-system'),
      [interfaceKey('loop1')]: interfaceText('loop1'),
    });
    assert.equal(local.crashPoints, 4, 'two writes: the whole, and what had changed since');
    await watcher.close();
  });

  it('is not written while the event loop has work, but for ten seconds at most', async () => {
    const made = watcherHarness();
    const { loop, database, local, watcher } = made;
    await fill(database);
    loop.isIdle = false;
    watcher.start();
    await advance(made, 5_000);
    assert.equal(local.crashPoints, 0);
    loop.isIdle = true;
    await advance(made, 200);
    assert.equal(Object.keys(await made.mirror()).length, 3);
    loop.isIdle = false;
    await database.put(namespaceKey('a'), namespaceText('a'));
    await advance(made, MIRROR_MS + 9_000);
    assert.ok(!(namespaceKey('a') in (await made.mirror())));
    await advance(made, 1_200);
    assert.ok(namespaceKey('a') in (await made.mirror()));
    await watcher.close();
  });

  it('gets the changes of a second in one write', async () => {
    const made = await startedWatcher();
    const { database, local, watcher } = made;
    const before = local.crashPoints;
    for (const label of ['1', '2', '3'])
      for (const name of ['a', 'b']) {
        await database.put(namespaceKey(name), namespaceText(name, label));
        await advance(made, 100);
      }
    assert.equal(local.crashPoints, before);
    await advance(made, MIRROR_MS);
    assert.equal(local.crashPoints, before + 2);
    assert.equal((await made.mirror())[namespaceKey('b')], namespaceText('b', '3'));
    await watcher.close();
  });

  it('is written before the agent ends, also while the event loop has work', async () => {
    const made = watcherHarness();
    await fill(made.database);
    made.loop.isIdle = false;
    made.watcher.start();
    await settle();
    await made.watcher.close();
    assert.equal(Object.keys(await made.mirror()).length, 3);
  });

  it('ends when what is known is on the disk', async () => {
    const made = await startedWatcher();
    await made.database.put(namespaceKey('last'), namespaceText('last'));
    while (made.loop.events.length < 2) await Promise.resolve();
    await made.watcher.close();
    assert.ok(namespaceKey('last') in (await made.mirror()));
  });

  it('leaves a usable mirror wherever the agent dies', async () => {
    const life = async (made: WatcherHarness) => {
      made.watcher.start();
      await settle();
      await made.database.put(namespaceKey('a'), namespaceText('a'));
      await advance(made, MIRROR_MS);
      await made.database.delete(namespaceKey('default'));
      await advance(made, MIRROR_MS);
      made.cluster.loseWatches();
      await advance(made, 1_100);
      await made.watcher.close();
    };
    const whole = watcherHarness();
    await fill(whole.database);
    await life(whole);
    assert.ok(whole.local.crashPoints >= 6);
    for (let point = 0; point < whole.local.crashPoints; point++) {
      const first = watcherHarness();
      await fill(first.database);
      first.local.crashAt(point);
      await life(first);
      const made = first.restart();
      made.cluster.disconnect();
      made.watcher.start();
      await advance(made, 5_100);
      const [line = 'nothing'] = made.loop.take();
      // Before the first write there is none, after it never less than a state that once was.
      if (point === 0) assert.equal(line, 'nothing');
      else
        assert.match(line, /^resync local: config\/vpp\/v2\/interfaces\/loop1 k8s.*kube-system$/);
      await made.watcher.close();
    }
  });
});
