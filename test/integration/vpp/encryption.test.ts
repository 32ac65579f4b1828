/** Real nodes that encrypt for each other by WireGuard: what the network between them sees, and what is lost. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { idRecordKey } from '#plugins/nodesync/id-allocator.ts';
import { testKeys } from '#test/plugins/test-keys.ts';
import { withoutNodes } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { Capture } from '../support/capture.ts';
import { type ClusterNode, RealCluster } from '../support/cluster.ts';
import { underTraffic } from '../support/pings.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { type Endpoint, ping, pingUnfragmented, transfer } from '../support/traffic.ts';

interface NodeList {
  readonly nodes: readonly {
    readonly name: string;
    readonly link: { readonly kind: string } | null;
    readonly sessions: readonly { readonly interface: string; readonly isUsed: boolean }[];
  }[];
}

interface Encryption {
  readonly keys: readonly { readonly publicKey: string; readonly state: string }[];
}

const wireguard = { nodeToNodeTransport: 'wireguard' };
/** 1500 less the headers of WireGuard over the network between the nodes. */
const podMtus = { 4: 1440, 6: 1420 } as const;

async function encrypted(from: ClusterNode, to: ClusterNode): Promise<void> {
  await until(`${from.name} has a session with ${to.name}`, async () => {
    const { body } = await from.node.agent.get('/contiv/v1/nodes');
    const { nodes } = body as NodeList;
    return nodes.find(({ name }) => name === to.name)?.link?.kind === 'wireguard';
  });
}

async function allEncrypted({ nodes }: RealCluster): Promise<void> {
  for (const from of nodes) for (const to of nodes) if (from !== to) await encrypted(from, to);
}

async function keysOf({ node }: ClusterNode): Promise<Encryption['keys']> {
  const { body } = await node.agent.get('/contiv/v1/encryption');
  return (body as Encryption).keys;
}

async function reach(from: Endpoint, to: Endpoint, mtu: number): Promise<void> {
  await ping(from, to.address);
  await pingUnfragmented(from, to.address, mtu);
  await assert.rejects(pingUnfragmented(from, to.address, mtu + 1));
  for (const [sender, receiver] of [
    [from, to],
    [to, from],
  ] as const) {
    const { sent, received } = await transfer(sender, receiver, 4);
    assert.deepEqual(received, sent);
  }
}

for (const family of [4, 6] as const)
  describe(`two nodes with WireGuard, IPv${family}`, {
    skip: withoutNodes(),
    timeout: 900_000,
  }, () => {
    let cluster: RealCluster;
    let web: Sandbox;
    let far: Sandbox;

    before(async () => {
      cluster = await RealCluster.create({ nodes: 2, family, isDual: true, contiv: wireguard });
      await allEncrypted(cluster);
      const [one, two] = cluster.nodes;
      [web, far] = [await one!.node.pod('web'), await two!.node.pod('far')];
    });

    after(() => cluster?.[Symbol.asyncDispose]());

    it('send each other nothing but WireGuard, in both families of the pods', async (t) => {
      const [one, two] = cluster.nodes;
      const capture = await Capture.start(one!.node.netns.path, 'uplink');
      try {
        await reach(web, far, podMtus[family]);
        for (const address of far.addresses) await ping(web, address);
        await ping(web, two!.host.address);
        const link: Endpoint = { ...one!.host, address: cluster.networks.hostLink(one!.id) };
        await ping(link, far.address);
        const packets = await capture.packets('udp portrange 51820-51821');
        const others = await capture.packets('(ip or ip6) and not udp portrange 51820-51821');
        const neighborDiscovery = /^(fe80:|fd16:|::)|> (ff02:|fe80:)/;
        assert.deepEqual(
          others
            .map(({ from, to }) => `${from} > ${to}`)
            .filter((text) => !neighborDiscovery.test(text)),
          [],
        );
        t.diagnostic(
          `${packets.length} packets of WireGuard, ${others.length} of neighbor discovery`,
        );
        assert.ok(packets.length > 1_000);
      } finally {
        capture.remove();
      }
    });

    it('keep sessions and configuration when an agent is killed and restarted', async (t) => {
      const [one] = cluster.nodes;
      const lost = await underTraffic(t, [web, far], async () => {
        await one!.node.agent.end('SIGKILL');
        await one!.node.agent.start();
        await allEncrypted(cluster);
      });
      assert.equal(lost, 0);
      assert.deepEqual(await one!.node.agent.drift(), []);
    });

    it('replace the keys of a node by command without a lost packet', async (t) => {
      const [one] = cluster.nodes;
      const before = await keysOf(one!);
      const lost = await underTraffic(t, [web, far], async () => {
        assert.equal(
          (await one!.node.agent.post('/contiv/v1/encryption/replace-keys')).status,
          200,
        );
        await until(
          'both keys are new',
          async () => {
            const now = await keysOf(one!);
            const isNew = now.every((key, at) => key.publicKey !== before[at]!.publicKey);
            return isNew && now.every(({ state }) => state === 'in use');
          },
          300_000,
        );
      });
      assert.equal(lost, 0);
      await allEncrypted(cluster);
    });

    it('send nothing to a node whose record has other keys, or none', async () => {
      const [one, two] = cluster.nodes;
      const { store } = cluster.etcd;
      const key = idRecordKey(two!.id);
      const text = (await store.get(key)) ?? '';
      const { wireguard: published, ...plain } = JSON.parse(text);
      const unused = await testKeys('a node that does not exist').ownKeys();
      const keys = unused.keys.map(({ publicKey }) => ({ public_key: publicKey }));
      const arrives = () =>
        ping(web, far.address).then(
          () => true,
          () => false,
        );
      for (const record of [plain, { ...plain, wireguard: { ...published, keys } }]) {
        await store.put(key, JSON.stringify(record));
        await until('no packet arrives', async () => !(await arrives()));
        const capture = await Capture.start(one!.node.netns.path, 'uplink');
        try {
          assert.equal(await arrives(), false);
          assert.deepEqual(await capture.packets('icmp or icmp6 and ip6[40] = 128'), []);
        } finally {
          capture.remove();
        }
      }
      await store.put(key, text);
      await allEncrypted(cluster);
      await until('a packet arrives', arrives);
    });

    it('reach each other again after VPP was killed, with the same keys', async (t) => {
      const [one] = cluster.nodes;
      const before = await keysOf(one!);
      await one!.node.vpp.kill();
      await one!.node.vpp.start();
      await allEncrypted(cluster);
      await until('a ping arrives', () =>
        ping(web, far.address).then(
          () => true,
          () => false,
        ),
      );
      t.diagnostic('pods of both nodes reach each other');
      assert.deepEqual(await keysOf(one!), before);
    });
  });
