/**
 * After a loss of the local store, pods with an address in their record may have no interface: because
 * VPP has lost it too, or because the pod has ended and its record has kept the address.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DiskStore, StoreLoss } from '#datastore/disk-store.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import {
  makeNode,
  type Node,
  type RunningAgent,
  startAgent,
  unreflectPod,
  until,
} from './harness.ts';
import { complete, create, readiness, testPod, web } from './test-pods.ts';

const job = testPod('job', 'b');

/** The disk of a store that was deleted. */
class LostDisk implements DiskStore {
  readonly folder = '/lost';
  readonly fault = undefined;
  loss: StoreLoss | undefined = { history: 'lost', detail: 'the database was deleted' };

  async resolveLoss(): Promise<void> {
    this.loss = undefined;
  }

  onFault(): void {}

  async tryWrite(): Promise<void> {}
}

/** A node with two attached pods, one of which may have ended, whose agent has stopped. */
async function nodeWithPods({ jobHasEnded }: { jobHasEnded: boolean }): Promise<Node> {
  const node = makeNode();
  await using running = await startAgent(node);
  for (const pod of [web, job]) await create(running, pod);
  if (jobHasEnded) await complete(running, job);
  return node;
}

async function startWithoutStore(node: Node, disk: DiskStore): Promise<RunningAgent> {
  const local = new MemoryStore();
  const environment = { ...node, local, localDisk: disk, connectVpp: node.vpp.connect() };
  const controller = { delayAfterErrorHealing: '10ms' } as const;
  return startAgent({ ...node, local }, { environment, controller, logLevel: 'debug' });
}

describe('pods without an interface after a loss of the local store', { timeout: 60_000 }, () => {
  it('that have ended do not fail readiness, although their records have addresses', async () => {
    const node = await nodeWithPods({ jobHasEnded: true });
    const disk = new LostDisk();
    await using running = await startWithoutStore(node, disk);
    await until(async () => (await readiness(running)) === 'ready');
    assert.equal(disk.loss, undefined);
    const seen = running.logged.filter(({ msg }) => /has ended/.test(String(msg)));
    assert.deepEqual(
      seen.map(({ pod, address }) => [pod, address]),
      [['default/job', '10.1.1.3']],
    );
  });

  it('that run are reported by name until they are recreated', async () => {
    const node = await nodeWithPods({ jobHasEnded: false });
    node.vpp.crash();
    await node.vpp.start();
    const disk = new LostDisk();
    await using running = await startWithoutStore(node, disk);
    const reported = await readiness(running);
    for (const pod of [web, job])
      assert.match(reported, new RegExp(`pod default/${pod.name}: its record has address 10`));
    assert.match(reported, /CV_POD_WITHOUT_INTERFACE/);
    assert.ok(disk.loss);

    // kubelet recreates one with a new sandbox and address
    await unreflectPod(node, web);
    node.linux.removeNamespace(web.netns);
    const again = { ...web, containerId: 'c'.repeat(64) };
    await create(running, again);
    await until(async () => !(await readiness(running)).includes('default/web'));
    assert.match(await readiness(running), /default\/job/);
    // the other one ends, and its record stays
    node.linux.removeNamespace(job.netns);
    await until(async () => (await readiness(running)) === 'ready');
    assert.equal(disk.loss, undefined);
  });

  it('are reported while a namespace cannot be read: they may run in it', async () => {
    const node = await nodeWithPods({ jobHasEnded: true });
    const { linux } = node;
    const dump = linux.dump.bind(linux);
    linux.addNamespace('/run/netns/unreadable');
    let isReadable = false;
    linux.dump = async (path) => {
      if (path === '/run/netns/unreadable' && !isReadable) throw new Error('permission denied');
      return dump(path);
    };
    await using running = await startWithoutStore(node, new LostDisk());
    assert.match(await readiness(running), /pod default\/job: .*CV_POD_WITHOUT_INTERFACE/);
    isReadable = true;
    linux.removeNamespace('/run/netns/unreadable');
    await until(async () => (await readiness(running)) === 'ready');
  });
});
