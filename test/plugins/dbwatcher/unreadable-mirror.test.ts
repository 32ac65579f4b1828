/** A start with a mirror that cannot be read, and a mirror that was behind: two faults at once. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  advance,
  interfaceKey,
  interfaceText,
  settle,
  startedWatcher,
  type WatcherHarness,
  WHOLE_RESYNC,
} from './watcher-harness.ts';

/** An agent that has written its mirror and has ended. */
async function ended(): Promise<WatcherHarness> {
  const made = await startedWatcher();
  await advance(made, 15_000);
  await made.watcher.close();
  return made;
}

/** Starts the next agent, whose mirror cannot be read. */
async function startedWithout(before: WatcherHarness): Promise<WatcherHarness> {
  const made = before.restart();
  made.local.disconnect('EIO');
  made.watcher.start();
  await settle();
  return made;
}

const mtuOf = ({ loop }: WatcherHarness, name: string): unknown =>
  (loop.resyncs.at(-1)!.externalConfig as Record<string, { mtu: number }>)[
    `config/vpp/v2/interfaces/${name}`
  ]?.mtu;

const invalidText = (name: string) => JSON.stringify({ name, mtu: 'large' });

describe('a mirror that cannot be read at the start', () => {
  it('does not make a wiped database the state of the node', async () => {
    const before = await ended();
    before.database.wipe();
    const made = await startedWithout(before);
    await advance(made, 60_000);
    assert.deepEqual(made.loop.take(), []);
    assert.match(made.watcher.status.error!, /no state of Kubernetes, and the local mirror cannot/);
    made.local.reconnect();
    await advance(made, 60_000);
    assert.equal(Object.keys(await made.mirror()).length, 3, 'is not overwritten');
    assert.match(made.watcher.status.error!, /keeping the last known state/);
    await made.watcher.close();
  });

  it('lets a request accept the empty database', async () => {
    const before = await ended();
    before.database.wipe();
    const made = await startedWithout(before);
    await advance(made, 10_000);
    const requested = made.watcher.requestResync({ acceptEmpty: true });
    await advance(made, 10_000);
    await requested;
    assert.equal(made.loop.resyncs.length, 1);
    await made.watcher.close();
  });

  it('delays a resync with an invalid value by some seconds, whose last valid one it may have', async () => {
    const before = await ended();
    await before.database.put(interfaceKey('loop1'), invalidText('loop1'));
    const made = await startedWithout(before);
    assert.deepEqual(made.loop.take(), []);
    made.local.reconnect();
    await advance(made, 1_000);
    assert.equal(mtuOf(made, 'loop1'), 0);
    await made.watcher.close();
    const never = await startedWithout(before);
    await advance(never, 10_000);
    assert.equal(never.loop.resyncs.length, 1, 'continues without it');
    assert.equal(mtuOf(never, 'loop1'), undefined);
    await never.watcher.close();
  });

  it('is read again while the database does not answer', async () => {
    const made = (await ended()).restart();
    made.cluster.disconnect();
    made.local.disconnect('EIO');
    made.watcher.start();
    await advance(made, 10_000);
    assert.deepEqual(made.loop.take(), []);
    assert.equal(made.warnings.filter(({ reason }) => /EIO/.test(String(reason))).length, 1);
    made.local.reconnect();
    await advance(made, 1_000);
    assert.deepEqual(made.loop.take(), [WHOLE_RESYNC.replace('remote', 'local')]);
    await made.watcher.close();
  });

  it('does not delay another resync', async () => {
    const made = await startedWithout(await ended());
    assert.deepEqual(made.loop.take(), [WHOLE_RESYNC]);
    await made.watcher.close();
  });
});

describe('a value that became invalid before the mirror had the last valid one', () => {
  for (const fault of ['busy event loop', 'full disk'])
    it(`is in the mirror as it was valid: ${fault}`, async () => {
      const made = await startedWatcher();
      await advance(made, 15_000);
      if (fault === 'full disk') made.local.disconnect('ENOSPC');
      else made.loop.isIdle = false;
      await made.database.put(interfaceKey('loop1'), interfaceText('loop1', 1400));
      await made.database.put(interfaceKey('loop2'), interfaceText('loop2', 1500));
      await settle();
      await advance(made, 3_000);
      for (const name of ['loop1', 'loop2'])
        await made.database.put(interfaceKey(name), invalidText(name));
      await settle();
      made.local.reconnect();
      made.loop.isIdle = true;
      await advance(made, 60_000);
      await made.watcher.close();
      const next = made.restart();
      next.watcher.start();
      await settle();
      assert.deepEqual([mtuOf(next, 'loop1'), mtuOf(next, 'loop2')], [1400, 1500]);
      await next.watcher.close();
    });
});
