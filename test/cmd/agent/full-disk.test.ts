/** An agent whose local store is on a disk that is filled and freed. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { LevelStore } from '#datastore/level-store.ts';
import { withoutMount } from '#test/support/requirements.ts';
import { SmallDisk } from '#test/support/small-disk.ts';
import { addPod, makeNode, type Node, type RunningAgent, startAgent, until } from './harness.ts';

/** More than the disk has space for. */
const MAX_PODS = 9;

const pod = (number: number) => ({
  name: `web-${number}`,
  containerId: `${number}`.repeat(64),
  netns: `/run/netns/web-${number}`,
});

describe('an agent whose disk is full', { skip: withoutMount(), timeout: 60_000 }, () => {
  let disk: SmallDisk;
  before(() => {
    disk = new SmallDisk('2m');
  });
  after(() => disk.close());

  async function start(node: Node): Promise<RunningAgent> {
    const store = await LevelStore.open({ folder: join(disk.folder, 'agent.level') });
    const running = await startAgent(node, {
      environment: { ...node, connectVpp: node.vpp.connect(), local: store, localDisk: store },
    });
    const stop = async () => {
      await running.stop();
      await store.close();
    };
    return { ...running, stop, [Symbol.asyncDispose]: stop };
  }

  async function readiness(running: RunningAgent): Promise<{ status: number; reason: string }> {
    const { status, body } = await running.get('/readiness');
    const { PluginStatus } = body as { PluginStatus: Record<string, { error?: string }> };
    return { status, reason: PluginStatus['local-store']?.error ?? '' };
  }

  it('refuses pods, says why in readiness, becomes ready by itself, and loses no pod', async () => {
    const node = makeNode();
    const last = await refuseAndRecover(node);
    const before = node.vpp.snapshot();
    await using running = await start(node);
    await until(async () => (await readiness(running)).status === 200);
    assert.deepEqual(node.vpp.snapshot(), before);
    for (let number = 1; number <= last; number++)
      assert.equal((await addPod(running, pod(number))).error, '');
    assert.deepEqual(node.vpp.snapshot(), before, 'all were known');
  });

  /** @returns number of the last pod */
  async function refuseAndRecover(node: Node): Promise<number> {
    await using running = await start(node);
    await until(async () => (await readiness(running)).status === 200);
    assert.equal((await addPod(running, pod(1))).error, '');

    disk.fill();
    let refused = 2;
    while (refused < MAX_PODS && (await addPod(running, pod(refused))).error === '') refused++;
    const { error } = await addPod(running, pod(refused));
    assert.match(error, /No space left on device/);
    assert.doesNotMatch(error, /endpoint|certificate/);
    const { status, reason } = await readiness(running);
    assert.equal(status, 500);
    assert.match(reason, /agent\.level.*No space left on device.*Check the disk/);
    assert.equal((await running.get('/liveness')).status, 200);

    disk.free();
    await until(async () => (await readiness(running)).status === 200);
    for (const number of [refused, refused + 1])
      assert.equal((await addPod(running, pod(number))).error, '');
    return refused + 1;
  }
});
