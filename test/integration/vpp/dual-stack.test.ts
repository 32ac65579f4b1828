/**
 * Two nodes whose pods have addresses of both families, with either one first: every path of a packet in both of them,
 * with an overlay and without, with TAP and with VETH. And a cluster of one family that gets the second one.
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import type { Snapshot } from '#packet-trace/snapshot.ts';
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
import { hasReply, snapshotOf } from '../support/traced-pings.ts';
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
    let near: Sandbox;

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
      near = await two!.node.pod('near');
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

    /** Reachability in each family: all cells, without a policy and with one that isolates the targets. */
    it('every source reaches every pod in both families, and a policy leaves it to the node of the pod', async (t) => {
      const [one, two] = cluster.nodes;
      const hostOf = (n: number) => (family: 4 | 6) => networks[family].host(n).address;
      const ofPod = (sandbox: Sandbox) => (family: 4 | 6) => sandbox.addressOf(family);
      const sources = {
        'pod of node1': { place: db, node: undefined, address: ofPod(db) },
        'pod of node2': { place: near, node: undefined, address: ofPod(near) },
        'host of node1': { place: one!.host, node: one, address: hostOf(1) },
        'host of node2': { place: two!.host, node: two, address: hostOf(2) },
        outside: { place: cluster.outside, node: undefined, address: undefined },
      };
      const targets = {
        'web of node1': { pod: web, node: one },
        'far of node2': { pod: far, node: two },
      };
      const cells = Object.entries(sources).flatMap(([source, from]) =>
        Object.entries(targets).flatMap(([target, to]) =>
          families.map((family) => ({
            name: `${source} to ${target}, IPv${family}`,
            isOwn: from.node === to.node,
            reaches: () => isReachable(from.place, to.pod.addressOf(family)),
            isTraced: (seen: Snapshot) =>
              from.address === undefined
                ? undefined
                : hasReply(seen, from.address(family), to.pod.addressOf(family)),
          })),
        ),
      );
      const reached = async () => {
        const found = await Promise.all(
          cells.map(async ({ name, reaches }) => ((await reaches()) ? [name] : [])),
        );
        return found.flat();
      };
      /** Packet traces say the same; they know no machine outside. */
      const compareTraces = async (expected: readonly string[]) => {
        const seen = await snapshotOf(cluster);
        for (const { name, isTraced } of cells) {
          const found = isTraced(seen);
          if (found !== undefined) assert.equal(found, expected.includes(name), name);
        }
      };
      const all = cells.map(({ name }) => name);
      const own = cells.filter(({ isOwn }) => isOwn).map(({ name }) => name);
      // the first packet to a neighbor may be lost
      await until('every cell is reached', async () => (await reached()).length === all.length);
      assert.deepEqual(await reached(), all);
      await compareTraces(all);

      const { store } = cluster.etcd;
      const write = (key: string, text: string) => store.put(REFLECTOR_PREFIX + key, text);
      for (const { pod: name, addresses } of [web, db, near, far]) {
        const value = pod({ name, namespace: 'default', labels: { app: name }, ips: addresses });
        await write(resources.pod.key(name, 'default'), valueText(resources.pod, value));
      }
      const keys = ['web', 'far'].map((name) => resources.policy.key(`only-${name}`, 'default'));
      for (const [at, name] of ['web', 'far'].entries()) {
        const value = policy({ name: `only-${name}`, namespace: 'default', ...only(name) });
        await write(keys[at]!, valueText(resources.policy, value));
      }
      await until('the policies are carried', async () => (await reached()).length === own.length);
      assert.deepEqual(await reached(), own);
      await compareTraces(own);
      // they may still send
      for (const family of families) await ping(web, db.addressOf(family));
      for (const key of keys) await store.delete(REFLECTOR_PREFIX + key);
      await until('everything is permitted', async () => (await reached()).length === all.length);
      t.diagnostic(`${2 * all.length} cells: ${all.join('; ')}`);
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
