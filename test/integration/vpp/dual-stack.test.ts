/**
 * Two nodes whose pods have addresses of both families, with either one first: every path of a packet in both of them,
 * with an overlay and without, with TAP and with VETH. And a cluster of one family that gets the second one.
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import { pod, policy } from '#test/plugins/policy/policy-objects.ts';
import { only } from '#test/policies/compliance/policy-suite.ts';
import { selectCases } from '#test/support/part-of-cases.ts';
import { withoutNodes } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import type { Links } from '../support/agent.ts';
import { RealCluster } from '../support/cluster.ts';
import { MessageTrace } from '../support/message-trace.ts';
import { bothFamilies, networks } from '../support/networks.ts';
import { underTraffic } from '../support/pings.ts';
import type { Sandbox } from '../support/sandbox.ts';
import {
  isReachable,
  type NetworkNamespace,
  ping,
  pingUnfragmented,
  transfer,
} from '../support/traffic.ts';

const families = [4, 6] as const;
type Transport = 'vxlan' | 'nooverlay';

/** Pings of both families, TCP in both directions. */
async function reach(from: Sandbox, to: Sandbox): Promise<void> {
  for (const family of families) {
    await ping(from, to.addressOf(family));
    const { sent, received } = await transfer(
      { ...endpoint(from, family) },
      { ...endpoint(to, family) },
      1,
    );
    assert.deepEqual(received, sent);
  }
}

function endpoint(sandbox: Sandbox, family: 4 | 6) {
  const { path } = sandbox;
  const run: NetworkNamespace['run'] = (...command) => sandbox.run(...command);
  return { path, address: sandbox.addressOf(family), run };
}

const matrix = (first: 4 | 6, transport: Transport, links: Links) =>
  describe(`two nodes, IPv${first} first, ${transport}, ${links}`, {
    skip: withoutNodes(),
    timeout: 300_000,
  }, () => {
    let cluster: RealCluster;
    let web: Sandbox;
    let db: Sandbox;
    let far: Sandbox;

    before(async () => {
      cluster = await RealCluster.create({
        nodes: 2,
        family: first,
        isDual: true,
        links,
        contiv: { nodeToNodeTransport: transport },
      });
      const [one, two] = cluster.nodes;
      web = await one!.node.pod('web');
      db = await one!.node.pod('db');
      far = await two!.node.pod('far');
    });
    after(() => cluster?.[Symbol.asyncDispose]());

    it('pods have an address of each family, the primary one first', () => {
      for (const one of [web, db, far]) {
        assert.equal(one.addresses.length, 2);
        assert.equal(one.address, one.addressOf(first));
        assert.ok(one.addressOf(4) && one.addressOf(6));
      }
    });

    it('pod to pod on one node', () => reach(web, db));

    it('pod to pod across nodes, with packets of the full size', async () => {
      await reach(web, far);
      for (const family of families) {
        const outer = first === 4 ? 50 : 70;
        const mtu = transport === 'vxlan' ? 1500 - outer : 1500;
        await pingUnfragmented(web, far.addressOf(family), mtu);
      }
    });

    it('pod to its host, host to pods of both nodes', async () => {
      const [one, two] = cluster.nodes;
      for (const family of families) {
        await ping(web, networks[family].host(Number(one!.name.slice(4))).address);
        await ping(web, networks[family].hostLink(one!.id));
        await ping(one!.host, web.addressOf(family));
        await ping(one!.host, far.addressOf(family));
        await ping(two!.host, web.addressOf(family));
      }
    });

    it('pod to the host of the other node, and to the outside', async () => {
      const [, two] = cluster.nodes;
      for (const family of families) {
        await ping(web, networks[family].host(Number(two!.name.slice(4))).address);
        await ping(web, networks[family].outside.address);
        await ping(far, networks[family].outside.address);
      }
    });

    it('a policy isolates a pod in both families', async () => {
      const { store } = cluster.etcd;
      const write = (key: string, text: string) => store.put(REFLECTOR_PREFIX + key, text);
      for (const { pod: name, addresses } of [web, db, far]) {
        const value = pod({ name, namespace: 'default', labels: { app: name }, ips: addresses });
        await write(resources.pod.key(name, 'default'), valueText(resources.pod, value));
      }
      const isolation = policy({ name: 'isolation', namespace: 'default', ...only('web') });
      const key = resources.policy.key('isolation', 'default');
      await write(key, valueText(resources.policy, isolation));
      for (const family of families) {
        for (const from of [db, far])
          await until(`IPv${family} is refused`, async () => {
            return !(await isReachable(from, web.addressOf(family)));
          });
        // it may still send
        await ping(web, far.addressOf(family));
      }
      await store.delete(REFLECTOR_PREFIX + key);
      for (const family of families)
        await until(`IPv${family} is permitted`, () => isReachable(db, web.addressOf(family)));
    });

    it('a restarted agent changes nothing, and one without its store adopts both addresses', async () => {
      const [one] = cluster.nodes;
      const { agent } = one!.node;
      const before = await one!.node.configuration();
      const trace = new MessageTrace(one!.node.vpp);
      await trace.start();
      await agent.end('SIGKILL');
      await agent.start();
      assert.deepEqual(await one!.node.configuration(), before);
      assert.deepEqual((await trace.stop()).changes, []);
      await agent.end('SIGKILL');
      rmSync(agent.storeFolder, { recursive: true });
      await agent.start();
      assert.deepEqual(await one!.node.configuration(), before);
      await reach(web, far);
    });

    it('a restarted VPP gets both families again', async () => {
      const [one] = cluster.nodes;
      const { vpp, agent } = one!.node;
      await vpp.kill();
      await vpp.start();
      for (const family of families)
        await until(
          `pods ping by IPv${family}`,
          () => isReachable(web, db.addressOf(family)),
          60_000,
        );
      await until('the healing resync is in the history', async () =>
        (await agent.history()).some(({ Description }) => Description.includes('VPP reconnected')),
      );
      assert.deepEqual(await agent.drift(), []);
      await reach(web, db);
      await reach(web, far);
    });
  });

/** Agents are restarted one after the other with networks of both families while pods ping each other. */
const addition = (first: 4 | 6, links: Links) =>
  describe(`a cluster of IPv${first} gets the other family, ${links}`, {
    skip: withoutNodes(),
    timeout: 300_000,
  }, () => {
    it('pods that run keep what they have, new ones get both, and few packets are lost', async (t) => {
      await using cluster = await RealCluster.create({ nodes: 2, family: first, links });
      const [one, two] = cluster.nodes;
      const [web, db] = [await one!.node.pod('web'), await one!.node.pod('db')];
      const far = await two!.node.pod('far');
      const lost = await underTraffic(t, [web, db, far], async () => {
        for (const { node } of cluster.nodes) {
          await node.agent.end('SIGTERM');
          node.agent.configure({ ipamConfig: bothFamilies(first).ipamConfig });
          await node.agent.start();
        }
      });
      // interfaces are bound to the tables of both families at once, on each node: 100 packets are a second of a pod
      assert.ok(lost < 100, `${lost} packets lost`);
      const late = await one!.node.pod('late');
      const remote = await two!.node.pod('remote');
      for (const one of [late, remote]) assert.equal(one.addresses.length, 2);
      await reach(late, remote);
      for (const pod of [web, db, far]) {
        const shown = await pod.run(
          'ip',
          '-o',
          'address',
          'show',
          'dev',
          'eth0',
          'scope',
          'global',
        );
        assert.deepEqual(addressesIn(shown), [pod.address]);
        await ping(pod, late.address);
        await ping(remote, pod.address);
      }
      const before = await one!.node.configuration();
      await one!.node.agent.end('SIGKILL');
      await one!.node.agent.start();
      assert.deepEqual(await one!.node.configuration(), before);
    });
  });

function addressesIn(shown: string): string[] {
  return [...shown.matchAll(/inet6? (\S+?)\//g)].map(([, address = '']) => address);
}

const cases = families.flatMap((first) =>
  (['vxlan', 'nooverlay'] as const).flatMap((transport) =>
    (['TAP', 'VETH'] as const).map((links) => () => matrix(first, transport, links)),
  ),
);

const additions = families.flatMap((first) =>
  (['TAP', 'VETH'] as const).map((links) => () => addition(first, links)),
);

for (const declare of [...selectCases(cases), ...selectCases(additions)]) declare();
