/** A local store that was lost, emptied, restored or damaged never costs running pods their interfaces. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StoreUnavailableError } from '#datastore/api.ts';
import { AGENT_ROUTE_PROTOCOL, type LinuxHost } from '#linux/api.ts';
import { FaultInjectingStore } from '#test/support/fault-injecting-store.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { configuration } from './configuration.ts';
import {
  type AgentOptions,
  addPod,
  cniRequest,
  makeNode,
  type Node,
  type RunningAgent,
  replyAddress,
  startAgent,
  type TestPod,
  unreflectPod,
  until,
} from './harness.ts';
import { allocations, create, readiness, remove, testPod } from './test-pods.ts';

const pods = [testPod('web', 'ab'), testPod('db', 'cd'), testPod('cache', 'e0')];
const namespaces = pods.map(({ netns }) => netns);

/** The state of VPP and of the namespaces. */
async function southbound(node: Node): Promise<unknown> {
  const { vpp, linux } = await configuration(node, namespaces);
  return { vpp, linux };
}

/** `rtm_protocol` of routes that are added without one. */
const BOOT_PROTOCOL = 3;
/** The descriptors only show by commands. */
const READS =
  /show_|^feature_is_enabled$|^want_|^control_ping$|^cli_inband$|_get$|^sw_interface_get_table$/;

/** Requests and operations that change VPP or Linux, since the counts. */
function writes(node: Node, since: { requests: number; operations: number }): string[] {
  return [
    ...node.vpp.requests
      .slice(since.requests)
      .filter(({ kind, name }) => kind === 'request' && !READS.test(name))
      .map(({ name }) => name),
    ...node.linux.operations
      .slice(since.operations)
      .map(({ name }) => name)
      .filter((name) => name !== 'dump'),
  ];
}

interface Attached {
  readonly node: Node;
  /** Addresses by name of the pod. */
  readonly addresses: ReadonlyMap<string, string>;
}

/** A node with three pods whose agent has stopped. */
async function attached(options: AgentOptions): Promise<Attached> {
  const node = makeNode();
  await using running = await startAgent(node, options);
  const addresses = new Map<string, string>();
  for (const pod of pods) addresses.set(pod.name, await create(running, pod));
  return { node, addresses };
}

async function metrics({ agent }: RunningAgent): Promise<string> {
  return (await fetch(`http://127.0.0.1:${agent.port}/metrics`)).text();
}

for (const useTAPInterfaces of [true, false]) {
  const options = { contiv: { useTAPInterfaces } };

  describe(`running pods by ${useTAPInterfaces ? 'TAP' : 'VETH'}`, () => {
    const losses: Record<string, (node: Node) => Promise<Node>> = {
      'that was emptied': async (node) => ({ ...node, local: new MemoryStore() }),
      'and a mirror that are empty': async (node) => ({
        ...node,
        local: new MemoryStore(),
        mirror: new MemoryStore(),
      }),
      'with invalid records': async (node) => {
        for (const { key } of (await node.local.list('local/')).entries)
          await node.local.put(key, '{"not": "a record"');
        return node;
      },
      'with invalid address records': async (node) => {
        for (const { key } of (await node.local.list('local/ipam/')).entries)
          await node.local.put(key, '{"not": "a record"');
        return node;
      },
      'without address records': async (node) => {
        for (const { key } of (await node.local.list('local/ipam/')).entries)
          await node.local.delete(key);
        return node;
      },
      'without attachments': async (node) => {
        for (const { key } of (await node.local.list('local/podmanager/')).entries)
          await node.local.delete(key);
        return node;
      },
    };
    for (const [what, lose] of Object.entries(losses))
      it(`are adopted without a write after a start with a store ${what}`, async () => {
        const { node, addresses } = await attached(options);
        const before = await southbound(node);
        const since = {
          requests: node.vpp.requests.length,
          operations: node.linux.operations.length,
        };
        const after = await lose(node);
        await using running = await startAgent(after, options);
        assert.deepEqual(writes(node, since), []);
        assert.deepEqual(await southbound(node), before);
        assert.equal(await readiness(running), 'ready');
        assert.deepEqual(await allocations(running), Object.fromEntries(addresses));

        // no address is allocated twice
        const late = testPod('late', '12');
        assert.ok(![...addresses.values()].includes(replyAddress(await addPod(running, late))));
        // kubelet knows the whole ID of the container
        for (const pod of pods) {
          const again = await running.client.add(cniRequest(pod));
          assert.equal(again.error, '');
          assert.equal(replyAddress(again), addresses.get(pod.name));
        }
        for (const pod of [...pods, late]) {
          const { error } = await running.client.delete(cniRequest(pod));
          assert.equal(error, '');
        }
        assert.deepEqual(await allocations(running), {});
        assert.ok(!JSON.stringify(node.vpp.snapshot()).includes('vpp-tap-'));
        assert.ok(!JSON.stringify(node.vpp.snapshot()).includes('afpacketveth2-'));
      });

    for (const what of useTAPInterfaces ? ['that was emptied', 'with invalid records'] : [])
      it(`are adopted although any one write to the store ${what} fails at the start`, async () => {
        for (let failing = 0, hasFailed = true; hasFailed; failing++) {
          const { node, addresses } = await attached(options);
          const before = await southbound(node);
          const since = {
            requests: node.vpp.requests.length,
            operations: node.linux.operations.length,
          };
          const after = await losses[what]!(node);
          const local = new FaultInjectingStore(after.local);
          let started = 0;
          hasFailed = false;
          local.beforeWrite = () => {
            if (started++ !== failing) return;
            hasFailed = true;
            throw new StoreUnavailableError('EIO');
          };
          await using running = await startAgent(
            { ...after, local },
            { ...options, controller: { delayAfterErrorHealing: 1e8 } },
          );
          await until(async () => (await readiness(running)) === 'ready');
          assert.deepEqual(writes(node, since), [], `write ${failing}`);
          assert.deepEqual(await southbound(node), before);
          assert.deepEqual(await allocations(running), Object.fromEntries(addresses));
        }
      });

    it('are adopted once: the next start needs no search', async () => {
      const { node } = await attached(options);
      const after = { ...node, local: new MemoryStore() };
      await (await startAgent(after, options)).stop();
      const { requests } = node.vpp;
      const since = requests.length;
      await using running = await startAgent(after, options);
      assert.equal(await readiness(running), 'ready');
      assert.equal(running.logged.filter(({ msg }) => /adopting/.test(String(msg))).length, 0);
      assert.ok(requests.length > since);
    });

    it('keep their links when an older copy of the store is restored', async () => {
      const node = makeNode();
      const copy = new MemoryStore();
      const [first, gone, newer] = pods as [TestPod, TestPod, TestPod];
      {
        await using running = await startAgent(node, options);
        for (const pod of [first, gone]) await create(running, pod);
        for (const { key, value } of (await node.local.list('')).entries)
          await copy.put(key, value);
        await remove(running, gone);
        assert.equal(await create(running, newer), '10.1.1.4');
      }
      const before = (await configuration(node, [first.netns, newer.netns])).vpp;
      const after = { ...node, local: copy };
      await using running = await startAgent(after, options);
      assert.deepEqual((await configuration(node, [first.netns, newer.netns])).vpp, before);
      await until(async () => (await readiness(running)) === 'ready');
      assert.deepEqual(await allocations(running), { web: '10.1.1.2', cache: '10.1.1.4' });
      assert.ok(
        !(await copy.list('local/')).entries.some(({ key }) => key.includes(gone.containerId)),
      );
    });

    it('are kept and reported while their namespace cannot be found', async () => {
      const { node, addresses } = await attached(options);
      const before = await southbound(node);
      const hidden = new Proxy<LinuxHost>(node.linux, {
        get: (target, name) => {
          if (name === 'namespaces') return async () => [];
          const method: unknown = Reflect.get(target, name);
          return typeof method === 'function' ? method.bind(target) : method;
        },
      });
      const after = { ...node, local: new MemoryStore() };
      const environment = { ...after, linux: hidden, connectVpp: node.vpp.connect() };
      const since = {
        requests: node.vpp.requests.length,
        operations: node.linux.operations.length,
      };
      {
        await using running = await startAgent(after, { ...options, environment });
        assert.deepEqual(writes(node, since), []);
        assert.deepEqual(await southbound(node), before);
        const text = await readiness(running);
        assert.match(await metrics(running), /^contiv_pods_not_recovered 3$/m);
        assert.match(await metrics(running), /^contiv_attachments_adopted 3$/m);
        for (const pod of pods) assert.match(text, new RegExp(`pod default/${pod.name}: `));
        assert.deepEqual(await allocations(running), Object.fromEntries(addresses));
        // a DEL with the whole ID ends it
        const [web] = pods as [TestPod];
        assert.equal((await running.client.delete(cniRequest(web))).error, '');
        assert.doesNotMatch(await readiness(running), /default\/web/);
        await unreflectPod(node, web);
      }
      // found at the next start
      await using running = await startAgent(after, options);
      await until(async () => (await readiness(running)) === 'ready');
      const [, db] = pods as [TestPod, TestPod];
      const reply = await running.client.add(cniRequest(db));
      assert.equal(replyAddress(reply), addresses.get('db'));
    });

    it('of the original agent are taken over: only its routes are marked', async () => {
      const { node, addresses } = await attached(options);
      // it sets no protocol number, and the kernel takes that of `boot`
      for (const namespace of [undefined, ...namespaces])
        for (const { protocol, ...route } of (await node.linux.dump(namespace)).routes)
          if (protocol === AGENT_ROUTE_PROTOCOL)
            node.linux.setRouteProtocol(namespace, route, BOOT_PROTOCOL);
      const before = await southbound(node);
      const since = {
        requests: node.vpp.requests.length,
        operations: node.linux.operations.length,
      };
      const after = { ...node, local: new MemoryStore(), mirror: new MemoryStore() };
      await using running = await startAgent(after, options);
      assert.deepEqual([...new Set(writes(node, since))], ['replaceRoute']);
      assert.deepEqual(await southbound(node), before);
      assert.equal(await readiness(running), 'ready');
      assert.deepEqual(await allocations(running), Object.fromEntries(addresses));
      for (const pod of pods)
        assert.equal((await running.client.delete(cniRequest(pod))).error, '');
    });

    it('and the link to the host keep their links when the label of the node changes', async () => {
      const { node, addresses } = await attached(options);
      await using running = await startAgent(node, { ...options, label: 'renamed' });
      assert.deepEqual(await allocations(running), Object.fromEntries(addresses));
      const { links } = await node.linux.dump(undefined);
      for (const { alias } of links) if (alias) assert.match(alias, /^\/vnf-agent\/renamed\//);
      for (const namespace of namespaces) {
        const state = await node.linux.dump(namespace);
        const link = state.links.find(({ name }) => name === 'eth0');
        assert.match(link?.alias ?? '', /^\/vnf-agent\/renamed\//);
      }
      assert.doesNotMatch(await readiness(running), /File exists/);
      for (const pod of pods)
        assert.equal((await running.client.delete(cniRequest(pod))).error, '');
    });

    it('get their names when a Pod record with their address is read', async () => {
      const { node, addresses } = await attached(options);
      const records = (await node.cluster.list('/vnf-agent/contiv-ksr/k8s/pod/')).entries;
      for (const { key } of records) await node.cluster.delete(key);
      const after = { ...node, local: new MemoryStore(), mirror: new MemoryStore() };
      {
        await using running = await startAgent(after, options);
        const { body } = await running.get('/contiv/v1/ipam/allocations');
        const { Pods } = body as { Pods: { MainIP: string }[] };
        assert.deepEqual(Pods.map(({ MainIP }) => MainIP).sort(), [...addresses.values()]);
      }
      for (const { key, value } of records) await node.cluster.put(key, value);
      await using running = await startAgent(after, options);
      assert.deepEqual(await allocations(running), Object.fromEntries(addresses));
    });
  });
}
