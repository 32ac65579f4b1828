/** Pods on a real VPP, kernel and etcd, added and deleted as by a container runtime. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '#infra/clock/system.ts';
import { kernelHost } from '#linux/kernel/host.ts';
import { DELETED_PREFIX } from '#plugins/podmanager/attachment-record.ts';
import { withoutNodes } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { Background } from '../support/background.ts';
import { Netns } from '../support/netns.ts';
import { RealNode } from '../support/node.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { ping, pingUnfragmented, transfer } from '../support/traffic.ts';

const linux = kernelHost({ clock: systemClock });

/**
 * Detects when the kernel has destroyed a sandbox: that deletes the end of a veth in the sandbox and
 * with it the other end in another namespace.
 */
class Canary implements AsyncDisposable {
  readonly #netns: Netns;

  static async create(): Promise<Canary> {
    return new Canary(await Netns.create('canary'));
  }

  private constructor(netns: Netns) {
    this.#netns = netns;
  }

  async watch(sandbox: Sandbox): Promise<void> {
    const end = ['type', 'veth', 'peer', 'name', sandbox.pod, 'netns', this.#netns.path];
    await sandbox.run('ip', 'link', 'add', 'canary', ...end);
  }

  isGone(sandbox: Sandbox): Promise<boolean> {
    return this.#netns.run('ip', 'link', 'show', 'dev', sandbox.pod).then(
      () => false,
      () => true,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#netns.remove();
  }
}

/** Removes the sandbox; the kernel must destroy its namespace. */
async function destroy(canary: Canary, sandbox: Sandbox): Promise<void> {
  assert.equal(await canary.isGone(sandbox), false);
  await sandbox.remove();
  await destroyed(canary, sandbox);
}

async function destroyed(canary: Canary, sandbox: Sandbox): Promise<void> {
  await until(`the namespace of ${sandbox.pod} is destroyed`, () => canary.isGone(sandbox));
}

/** Entries of the agent's local store for a sandbox or a pod. */
async function remembered(node: RealNode, sandboxes: readonly Sandbox[]): Promise<string[]> {
  const traces = sandboxes.flatMap(({ containerId, pod }) => [containerId, `"${pod}"`]);
  return (
    [...(await node.agent.storedValues(''))]
      // what was deleted stays marked until a resync has found that its interface is gone
      .filter(([key]) => key !== 'local/ipam/last' && !key.startsWith(DELETED_PREFIX))
      .filter(([key, value]) => traces.some((trace) => (key + value).includes(trace)))
      .map(([key, value]) => `${key} ${value}`)
  );
}

describe('pods on a real VPP', { skip: withoutNodes(), timeout: 120_000 }, () => {
  it('reach each other by ICMP and TCP and leave no state', async () => {
    await using canary = await Canary.create();
    await using node = await RealNode.create();
    await node.agent.start();
    const empty = await node.configuration();

    const web = await node.sandbox('web');
    const db = await node.sandbox('db');
    for (const sandbox of [web, db]) await canary.watch(sandbox);
    const before = await linux.dump(web.path);
    // One pod is identified by its namespace, the other one by a process.
    const pause = new Background(['nsenter', `--net=${db.path}`, 'sleep', 'infinity'], {
      log: '/dev/null',
    });
    const dbPath = `/proc/${pause.pid}/ns/net`;
    await until('the process has entered the namespace', async () => {
      const identity = await linux.namespaceIdentity(dbPath);
      return identity?.inode === db.inode;
    });
    await node.attach(web);
    await node.attach(db, dbPath);
    assert.match(web.address, /^10\.1\.1\.\d+$/);
    assert.notEqual(web.address, db.address);
    for (const { pod, address } of [web, db]) await node.reflect(pod, address);

    await Promise.all([ping(web, db.address), ping(db, web.address)]);
    for (const [from, to] of [
      [web, db],
      [db, web],
    ] as const) {
      const { sent, received } = await transfer(from, to, 8);
      assert.equal(sent.bytes, 8 * 1024 * 1024);
      assert.deepEqual(received, sent);
    }
    assert.deepEqual(await node.agent.drift(), []);

    for (const [sandbox, path] of [
      [web, web.path],
      [db, dbPath],
    ] as const) {
      const reply = await node.agent.delete(sandbox, path);
      assert.deepEqual([reply.result, reply.error], [0, '']);
    }
    const after = await linux.dump(web.path);
    assert.deepEqual(
      after.links.map(({ name }) => name),
      before.links.map(({ name }) => name),
    );
    assert.deepEqual([after.routes, after.neighbors], [before.routes, before.neighbors]);
    await pause.end('SIGKILL');
    for (const sandbox of [web, db]) await destroy(canary, sandbox);
    for (const { pod } of [web, db]) await node.unreflect(pod);
    await until('the agent has processed the deleted records', async () => {
      const gone = (await node.agent.history()).filter(({ Description }) =>
        /^Kubernetes State Change\n\* resource: pod\n(.*\n)*\* new-value: <nil>$/.test(Description),
      );
      return gone.length === 2;
    });
    assert.deepEqual(await node.configuration(), empty);
    await node.agent.end('SIGTERM');
    assert.deepEqual(await remembered(node, [web, db]), []);
  });

  it('reach each other over VETH, each with less than 30 MB of kernel memory', async () => {
    const mtu = 1450;
    await using node = await RealNode.create({
      links: 'VETH',
      contiv: { mtuSize: mtu },
    });
    await node.agent.start();
    const web = await node.pod('web');
    const db = await node.pod('db');
    for (const [from, to] of [
      [web, db],
      [db, web],
    ] as const) {
      await pingUnfragmented(from, to.address, mtu);
      const { sent, received } = await transfer(from, to, 16);
      assert.deepEqual(received, sent);
    }
    assert.deepEqual(await node.agent.drift(), []);
    const devices = await node.vpp.cli('show hardware-interfaces');
    const rings = [...devices.matchAll(/block size:(\d+) nr:(\d+)/g)];
    // Of the host and of two pods, one for each direction.
    assert.equal(rings.length, 6);
    const bytes = rings.reduce((sum, [, size, count]) => sum + Number(size) * Number(count), 0);
    assert.ok(bytes / 3 < 30e6, `${bytes / 3} bytes an interface`);
    assert.doesNotMatch(await node.vpp.cli('show errors'), /tx ring overrun/);
  });

  it('are deleted after their namespace, which nothing but the TAP in it has kept alive', async () => {
    await using canary = await Canary.create();
    await using node = await RealNode.create();
    await node.agent.start();
    const empty = await node.configuration();
    const named = await node.sandbox('named');
    const nameless = await node.sandbox('nameless');
    const present = await node.sandbox('present');
    for (const sandbox of [named, nameless, present]) {
      await canary.watch(sandbox);
      await node.attach(sandbox);
    }
    for (const sandbox of [named, nameless]) await sandbox.remove();
    for (const [sandbox, path] of [
      [named, named.path],
      [nameless, ''],
      [present, ''],
      // Again, as runtimes retry DEL.
      [named, named.path],
      [nameless, ''],
      [present, present.path],
    ] as const) {
      const reply = await node.agent.delete(sandbox, path);
      assert.deepEqual([reply.result, reply.error], [0, '']);
    }
    for (const sandbox of [named, nameless]) await destroyed(canary, sandbox);
    await destroy(canary, present);
    assert.deepEqual(await node.configuration(), empty);
    await node.agent.end('SIGTERM');
    assert.deepEqual(await remembered(node, [named, nameless, present]), []);
  });

  it('without a namespace do not block a restart of the agent', async () => {
    // A failed healing resync would end the agent; none must be pending.
    await using node = await RealNode.create({ controller: { delayAfterErrorHealing: '100ms' } });
    await node.agent.start();
    const empty = await node.configuration();
    const web = await node.pod('web');
    const gone = await node.pod('gone');
    await node.agent.end('SIGKILL');
    await gone.remove();
    await node.agent.start();
    const db = await node.pod('db');
    await ping(db, web.address);
    await sleep(1000);
    assert.deepEqual(
      (await node.agent.history()).map(({ Name }) => Name),
      ['Database Resync', 'Add Pod default/db'],
    );
    assert.equal((await node.agent.get('/liveness')).status, 200);
    for (const sandbox of [web, gone, db])
      assert.equal((await node.agent.delete(sandbox)).result, 0);
    assert.deepEqual(await node.configuration(), empty);
  });
});
