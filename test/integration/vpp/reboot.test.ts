/**
 * A node is rebooted: all its processes end at once, it loses the namespaces of its pods and the files under
 * /run, and its disk keeps what was written. Afterwards kubelet deletes the old sandboxes and adds new ones,
 * and nothing of the old ones is left.
 */
import assert from 'node:assert/strict';
import { readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { withoutNodes } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { RealCluster } from '../support/cluster.ts';
import type { RealNode } from '../support/node.ts';
import { withoutDrawnMacs } from '../support/normalized-vpp-state.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { isReachable, ping } from '../support/traffic.ts';

const podNames = ['web', 'db', 'cache'];
/** Links of the machine, which the agent has not made. */
const machineLinks = new Set(['lo', 'mgmt', 'uplink']);

describe('a reboot of a node', { skip: withoutNodes(), timeout: 600_000 }, () => {
  let cluster: RealCluster;
  let node: RealNode;
  let far: Sandbox;
  let old: Sandbox[];
  /** Without pods. */
  let empty: unknown;

  before(async () => {
    cluster = await RealCluster.create({ nodes: 2 });
    const [first, second] = cluster.nodes;
    node = first!.node;
    far = await second!.node.pod('far');
    empty = await configuration();
  });
  after(() => cluster?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    old = await addPods();
  });

  async function configuration(): Promise<unknown> {
    return withoutDrawnMacs(await node.configuration());
  }

  async function addPods(): Promise<Sandbox[]> {
    const pods: Sandbox[] = [];
    for (const name of podNames) {
      const pod = await node.pod(name);
      await node.reflect(name, pod.address);
      pods.push(pod);
    }
    return pods;
  }

  /** Power is off, and on again; no program runs. */
  async function reboot(): Promise<void> {
    await Promise.all([node.agent.end('SIGKILL'), node.vpp.kill()]);
    for (const pod of old) await pod.remove();
    for (const socket of ['api.sock', 'cli.sock', 'stats.sock'])
      rmSync(join(node.vpp.folder, socket), { force: true });
    for (const socket of [node.agent.restSocket, node.agent.cniSocket])
      rmSync(socket, { force: true });
    const links = JSON.parse(await node.netns.run('ip', '-json', 'link')) as { ifname: string }[];
    for (const { ifname } of links)
      if (!machineLinks.has(ifname)) await node.netns.run('ip', 'link', 'del', ifname);
    await node.netns.run('sysctl', '-w', 'net.ipv4.ip_forward=0');
  }

  async function allocatedAddresses(): Promise<Record<string, string>> {
    const { body } = await node.agent.get('/contiv/v1/ipam/allocations');
    const { Pods } = body as { Pods: { PodID: { Name: string }; MainIP: string }[] };
    return Object.fromEntries(Pods.map(({ PodID, MainIP }) => [PodID.Name, MainIP]));
  }

  /** The node has these pods and nothing else, and is empty without them. */
  async function hasOnly(pods: readonly Sandbox[]): Promise<void> {
    assert.deepEqual(
      await allocatedAddresses(),
      Object.fromEntries(pods.map(({ pod, address }) => [pod, address])),
    );
    for (const pod of pods) {
      await until(`${pod.pod} answers the other node`, () => isReachable(far, pod.address));
      await ping(pod, far.address);
    }
    for (const pod of pods) {
      assert.equal((await node.agent.delete(pod)).result, 0);
      await node.unreflect(pod.pod);
    }
    assert.deepEqual(await configuration(), empty);
    assert.deepEqual(await allocatedAddresses(), {});
  }

  async function deleteOld(): Promise<void> {
    for (const pod of old) assert.equal((await node.agent.delete(pod, '')).result, 0);
  }

  it('VPP first, then the agent; kubelet deletes the old pods, then adds the new ones', async () => {
    await reboot();
    await node.vpp.start();
    await node.agent.start();
    await deleteOld();
    await hasOnly(await addPods());
  });

  it('the agent first: kubelet cannot reach it until VPP has started', async () => {
    await reboot();
    node.agent.launch();
    await sleep(3000);
    await assert.rejects(node.agent.delete(old[0]!, ''));
    await node.vpp.start();
    await node.agent.whenServing();
    await deleteOld();
    await hasOnly(await addPods());
  });

  it('kubelet adds the new pods before it deletes the old ones', async () => {
    await reboot();
    await Promise.all([node.vpp.start(), node.agent.start()]);
    const pods = await addPods();
    await deleteOld();
    await hasOnly(pods);
  });

  it('in the middle of two ADDs and a DEL', async () => {
    const late = [await node.sandbox('late-1'), await node.sandbox('late-2')];
    const calls = [...late.map((pod) => node.agent.add(pod)), node.agent.delete(old[0]!)];
    old.push(...late);
    await Promise.race(calls);
    await reboot();
    await Promise.allSettled(calls);
    await node.vpp.start();
    await node.agent.start();
    await deleteOld();
    await hasOnly(await addPods());
  });

  const losses: Readonly<Record<string, (size: number) => number>> = {
    'the last bytes': (size) => size - 10,
    half: (size) => Math.floor(size / 2),
  };
  for (const [lost, rest] of Object.entries(losses))
    it(`${lost} of the log of its database lost`, async () => {
      await reboot();
      const { storeFolder } = node.agent;
      for (const name of readdirSync(storeFolder).filter((one) => one.endsWith('.log'))) {
        const log = join(storeFolder, name);
        truncateSync(log, rest(statSync(log).size));
      }
      await node.vpp.start();
      await node.agent.start();
      await deleteOld();
      await hasOnly(await addPods());
    });
});
