/** Real nodes that encrypt for each other by WireGuard: what the network between them sees, and what is lost. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { idRecordKey } from '#plugins/nodesync/id-allocator.ts';
import { testKeys } from '#test/plugins/test-keys.ts';
import { withoutNodes } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { Capture } from './capture.ts';
import { RealCluster } from './cluster.ts';
import { allEncrypted, encryptedPackets, keysOf, newKeys, wireguard } from './encryption.ts';
import { underTraffic } from './pings.ts';
import type { Sandbox } from './sandbox.ts';
import { type Endpoint, isReachable, ping, pingUnfragmented, transfer } from './traffic.ts';

/** 1500 less the headers of WireGuard over the network between the nodes. */
const podMtus = { 4: 1440, 6: 1420 } as const;

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

/** @param family of the network between the nodes */
export function encryptionSuite(family: 4 | 6): void {
  describe(`two nodes with WireGuard, IPv${family}`, {
    skip: withoutNodes(),
    timeout: 900_000,
  }, () => {
    let cluster: RealCluster;
    let web: Sandbox;
    let far: Sandbox;
    const nodesOf = () => cluster.nodes.map(({ node }) => node);

    before(async () => {
      cluster = await RealCluster.create({ nodes: 2, family, isDual: true, contiv: wireguard });
      await allEncrypted(nodesOf());
      const [one, two] = cluster.nodes;
      [web, far] = [await one!.node.pod('web'), await two!.node.pod('far')];
    });

    after(() => cluster?.[Symbol.asyncDispose]());

    it('send each other nothing but WireGuard, in both families of the pods', async (t) => {
      const [one, two] = cluster.nodes;
      const text = await encryptedPackets(one!.node, async () => {
        await reach(web, far, podMtus[family]);
        for (const address of far.addresses) await ping(web, address);
        await ping(web, two!.host.address);
        const link: Endpoint = { ...one!.host, address: cluster.networks.hostLink(one!.id) };
        await ping(link, far.address);
      });
      t.diagnostic(text);
    });

    it('keep sessions and configuration when an agent is killed and restarted', async (t) => {
      const [one] = cluster.nodes;
      const lost = await underTraffic(t, [web, far], async () => {
        await one!.node.agent.end('SIGKILL');
        await one!.node.agent.start();
        await allEncrypted(nodesOf());
      });
      assert.equal(lost, 0);
      assert.deepEqual(await one!.node.agent.drift(), []);
    });

    it('replace the keys of a node by command without a lost packet', async (t) => {
      const [one] = cluster.nodes;
      const before = await keysOf(one!.node);
      const lost = await underTraffic(t, [web, far], async () => {
        assert.equal(
          (await one!.node.agent.post('/contiv/v1/encryption/replace-keys')).status,
          200,
        );
        await newKeys(one!.node, before);
      });
      assert.equal(lost, 0);
      await allEncrypted(nodesOf());
    });

    it('send nothing to a node whose record has other keys, or none', async () => {
      const [one, two] = cluster.nodes;
      const { store } = cluster.etcd;
      const key = idRecordKey(two!.id);
      const text = (await store.get(key)) ?? '';
      const { wireguard: published, ...plain } = JSON.parse(text);
      const unused = await testKeys('a node that does not exist').ownKeys();
      const keys = unused.keys.map(({ publicKey }) => ({ public_key: publicKey }));
      const arrives = () => isReachable(web, far.address);
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
      await allEncrypted(nodesOf());
      await until('a packet arrives', arrives);
    });

    it('reach each other again after VPP was killed, with the same keys, and send nothing in clear text meanwhile', async (t) => {
      const [one] = cluster.nodes;
      const before = await keysOf(one!.node);
      const text = await encryptedPackets(one!.node, async () => {
        await underTraffic(t, [web, far], async () => {
          await one!.node.vpp.kill();
          await one!.node.vpp.start();
          await allEncrypted(nodesOf());
          await until('a ping arrives', () => isReachable(web, far.address));
        });
      });
      t.diagnostic(text);
      assert.deepEqual(await keysOf(one!.node), before);
    });
  });
}
