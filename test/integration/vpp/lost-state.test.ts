/**
 * Three running pods on a real VPP whose agent starts with a lost, older or damaged local store, or with
 * another label, or has a full disk, invalid settings or invalid records. Pings at 100 a second run through all of it.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { nodeConfigModel } from '#kubernetes/models/node-config.ts';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import { selectCases } from '#test/support/part-of-cases.ts';
import { withoutNodes, withoutVhostNet } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { RealNode } from '../support/node.ts';
import { underTraffic } from '../support/pings.ts';
import type { Sandbox } from '../support/sandbox.ts';

const podNames = ['web', 'db', 'cache'];

async function nodeWithPods(useTAPInterfaces: boolean): Promise<[RealNode, Sandbox[]]> {
  const node = await RealNode.create({ contiv: { useTAPInterfaces } });
  await node.agent.start();
  return [node, await podsOf(node)];
}

async function podsOf(node: RealNode): Promise<Sandbox[]> {
  const pods: Sandbox[] = [];
  for (const name of podNames) {
    const pod = await node.pod(name);
    await node.reflect(name, pod.address);
    pods.push(pod);
  }
  return pods;
}

/** The agent knows the pods by name with their addresses, and answers for them. */
async function assertKnown(node: RealNode, pods: readonly Sandbox[]): Promise<void> {
  const { body } = await node.agent.get('/contiv/v1/ipam/allocations');
  const { Pods } = body as { Pods: { PodID: { Name: string }; MainIP: string }[] };
  assert.deepEqual(
    Object.fromEntries(Pods.map(({ PodID, MainIP }) => [PodID.Name, MainIP])),
    Object.fromEntries(pods.map(({ pod, address }) => [pod, address])),
  );
  for (const pod of pods) {
    const { error, interfaces } = await node.agent.add(pod);
    assert.equal(error, '');
    const own = interfaces.find(({ name }) => name === 'eth0');
    assert.equal(own?.ip_addresses[0]?.address, `${pod.address}/32`);
  }
}

/** Changes the local store of a stopped agent. */
type Loss = (folder: string, copy: string) => void;

const losses: Readonly<Record<string, Loss>> = {
  'emptied folder': (folder) => {
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
  },
  'removed folder': (folder) => rmSync(folder, { recursive: true }),
  'truncated log': (folder) => {
    for (const name of readdirSync(folder).filter((one) => one.endsWith('.log'))) {
      const path = join(folder, name);
      truncateSync(path, Math.floor(statSync(path).size / 2));
    }
  },
  'empty log': (folder) => {
    for (const name of readdirSync(folder).filter((one) => one.endsWith('.log')))
      truncateSync(join(folder, name), 0);
  },
  'older copy': (folder, copy) => {
    rmSync(folder, { recursive: true });
    cpSync(copy, folder, { recursive: true });
  },
};

async function loseStore(t: TestContext, useTap: boolean): Promise<void> {
  const [node, pods] = await nodeWithPods(useTap);
  await using _ = node;
  const { agent } = node;
  const copy = `${agent.storeFolder}-copy`;
  await agent.end('SIGTERM');
  cpSync(agent.storeFolder, copy, { recursive: true });
  await agent.start();
  // the copy lacks this pod
  const late = await node.pod('late');
  await node.reflect('late', late.address);
  const all = [...pods, late];
  const before = await node.configuration();
  for (const [what, lose] of Object.entries(losses)) {
    t.diagnostic(what);
    const lost = await underTraffic(t, all, async () => {
      await agent.end('SIGTERM');
      lose(agent.storeFolder, copy);
      await agent.start();
    });
    assert.deepEqual(await node.configuration(), before, what);
    await assertKnown(node, all);
    assert.equal(lost, 0, what);
  }
  // the whole ID of the container removes an adopted pod
  for (const pod of all) assert.equal((await agent.delete(pod)).error, '');
  assert.doesNotMatch(await node.vpp.cli('show interface'), /tap[1-9]|host-[0-9a-f]{10}/);
}

async function fillDiskAndInvalidate(t: TestContext, useTap: boolean): Promise<void> {
  const contiv = { useTAPInterfaces: useTap, crdNodeConfigurationDisabled: false };
  const node = await RealNode.create({ contiv });
  await using stack = new AsyncDisposableStack();
  stack.use(node);
  const { agent, etcd } = node;
  mkdirSync(agent.storeFolder, { recursive: true });
  const key = REFLECTOR_PREFIX + resources.nodeconfig.key('node1', '');
  await etcd.store.put(key, '{"node_name":"node1"}');
  const options = ['-t', 'tmpfs', '-o', 'size=2m', 'small-disk', agent.storeFolder];
  execFileSync('mount', options);
  stack.defer(async () => {
    await agent.end('SIGKILL');
    execFileSync('umount', [agent.storeFolder]);
  });
  await agent.start();
  const pods = await podsOf(node);
  const ready = (wanted: RegExp | 200) =>
    until(`readiness is ${wanted}`, async () => {
      const { status, body } = await agent.get('/readiness');
      return wanted === 200 ? status === 200 : wanted.test(JSON.stringify(body));
    });
  const steps: Readonly<Record<string, () => Promise<void>>> = {
    'full disk': async () => {
      const file = join(agent.storeFolder, 'filler');
      assert.throws(() => writeFileSync(file, Buffer.alloc(4 << 20)), /ENOSPC/);
      // the last page of LevelDB's log may have space for some records
      const refused = await node.sandbox('refused');
      const add = async () => (await agent.add(refused)).result;
      let result = await add();
      for (let more = 0; result === 0 && more < 40; more++) {
        await agent.delete(refused);
        result = await add();
      }
      assert.equal(result, 11);
      await ready(/local-store.*ENOSPC|local-store.*No space/);
      rmSync(file);
      await ready(200);
      const added = await node.pod('added');
      await node.reflect('added', added.address);
      pods.push(added);
    },
    'NIC that does not exist': async () => {
      const key = REFLECTOR_PREFIX + resources.nodeconfig.key('node1', '');
      const main = { interface_name: 'GigabitEthernet0/99/0' };
      const value = nodeConfigModel.canonical({
        node_name: 'node1',
        main_vpp_interface: main,
      });
      await etcd.store.put(key, valueText(resources.nodeconfig, value));
      await ready(/GigabitEthernet0\/99\/0/);
      await etcd.store.delete(key);
      await ready(200);
    },
    'unreadable own record': async () => {
      const key = REFLECTOR_PREFIX + resources.vppnode.key('1', '');
      await etcd.store.put(key, '{"id": "not a number"');
      await agent.end('SIGKILL');
      await agent.start();
      await until('the record is valid again', async () => {
        const text = (await etcd.store.get(key)) ?? '';
        return text.includes('"name":"node1"');
      });
      await ready(200);
    },
  };
  for (const [what, step] of Object.entries(steps)) {
    t.diagnostic(what);
    assert.equal(await underTraffic(t, [...pods], step), 0, what);
    await assertKnown(node, pods);
  }
}

async function renameNode(t: TestContext, useTap: boolean): Promise<void> {
  const [node, pods] = await nodeWithPods(useTap);
  await using _ = node;
  await underTraffic(t, pods, async () => {
    await node.agent.end('SIGTERM');
    node.agent.rename('renamed');
    node.agent.launch();
    // readiness reports that the pods are outside of the subnet of the new node ID
    await until('the node has resynced under its new label', async () => {
      const { body } = await node.agent
        .get('/controller/event-history')
        .catch(() => ({ body: null }));
      return Array.isArray(body) && body.length > 0;
    });
    await sleep(1000);
  });
  for (const [at, pod] of pods.entries())
    await pod.run('ping', '-n', '-c', '2', '-i', '0.1', '-W', '2', pods[(at + 1) % 3]!.address);
  await assertKnown(node, pods);
  const { body } = await node.agent.get('/readiness');
  assert.doesNotMatch(JSON.stringify(body), /File exists/);
}

const tests: Readonly<Record<string, (t: TestContext, useTap: boolean) => Promise<void>>> = {
  'lose no packet when the local store is lost': loseStore,
  'lose no packet when the disk is full, or settings and records are invalid':
    fillDiskAndInvalidate,
  'keep their addresses when the label of the node is changed': renameNode,
};

const cases = Object.entries(tests).flatMap(([title, play]) =>
  (['TAP', 'VETH'] as const).map((links) => ({ title, links, play })),
);

describe('three pods', { skip: withoutNodes(), timeout: 900_000 }, () => {
  for (const { title, links, play } of selectCases(cases)) {
    const skip = links === 'TAP' && withoutVhostNet();
    it(`by ${links} ${title}`, { skip, timeout: 200_000 }, (t) => play(t, links === 'TAP'));
  }
});
