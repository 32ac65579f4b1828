/**
 * Two nodes on a network, each with its own VPP and agent, and one etcd: every path of a packet in a
 * cluster, and a third node that joins and leaves. Without source NAT: a machine outside of the
 * cluster has routes to the pods.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { selectCases } from '#test/support/part-of-cases.ts';
import { withoutNodes } from '#test/support/requirements.ts';
import { RealCluster } from '../support/cluster.ts';
import type { Sandbox } from '../support/sandbox.ts';
import {
  type Endpoint,
  type NetworkNamespace,
  ping,
  pingUnfragmented,
  transfer,
} from '../support/traffic.ts';

/** 1500 of the network minus the tunnel overhead; the agents derive it. */
const podMtus = { 4: 1450, 6: 1430 } as const;

function podMtu({ address }: Endpoint): number {
  return podMtus[address.includes(':') ? 6 : 4];
}

/** Pings, packets of full size, and TCP in both directions. */
async function reach(from: Endpoint, to: Endpoint): Promise<void> {
  await ping(from, to.address);
  await pingUnfragmented(from, to.address, podMtu(to));
  for (const [sender, receiver] of [
    [from, to],
    [to, from],
  ] as const) {
    const { sent, received } = await transfer(sender, receiver, 4);
    assert.equal(sent.bytes, 4 * 1024 * 1024);
    assert.deepEqual(received, sent);
  }
}

/** A packet that is too large is rejected in the pod and not lost on the path. */
async function refusesLarger(from: NetworkNamespace, to: Endpoint): Promise<void> {
  const larger = pingUnfragmented(from, to.address, podMtu(to) + 1);
  await assert.rejects(larger, /message too long|Frag needed|Packet too big/i);
}

const withOverlay = (family: 4 | 6) =>
  describe(`two nodes, IPv${family}`, { skip: withoutNodes(), timeout: 300_000 }, () => {
    let cluster: RealCluster;
    let web: Sandbox;
    let db: Sandbox;
    let far: Sandbox;

    before(async () => {
      cluster = await RealCluster.create({ nodes: 2, family });
      const [one, two] = cluster.nodes;
      [web, db, far] = [
        await one!.node.pod('web'),
        await one!.node.pod('db'),
        await two!.node.pod('far'),
      ];
    });

    after(() => cluster?.[Symbol.asyncDispose]());

    it('pod to pod on one node', async () => {
      await reach(web, db);
      await refusesLarger(web, db);
    });

    it('pod to pod across nodes', async () => {
      await reach(web, far);
      await refusesLarger(web, far);
      const [one] = cluster.nodes;
      assert.match(await one!.node.vpp.cli('show interface'), /vxlan_tunnel0 /);
    });

    it('pod to its host, at both addresses of the host', async () => {
      const [one] = cluster.nodes;
      await reach(web, one!.host);
      await ping(web, cluster.networks.hostLink(one!.id));
    });

    it('the host forwards, because the agent enabled it at startup', async () => {
      const name = family === 4 ? 'net.ipv4.ip_forward' : 'net.ipv6.conf.all.forwarding';
      for (const { host } of cluster.nodes)
        assert.equal((await host.run('sysctl', '-n', name)).trim(), '1');
    });

    it('host to pods of its own and of the other node', async () => {
      const [one] = cluster.nodes;
      const link: Endpoint = { ...one!.host, address: cluster.networks.hostLink(one!.id) };
      await reach(link, web);
      await reach(link, far);
    });

    it('pod to the other host', async () => {
      const [, two] = cluster.nodes;
      await reach(web, two!.host);
      await ping(web, cluster.networks.hostLink(two!.id));
    });

    it('pod out through the main interface', async () => {
      await reach(web, cluster.outside);
      await reach(far, cluster.outside);
    });

    it('a third node joins, is reachable, and leaves no state', async () => {
      const [one, two] = cluster.nodes;
      const before = [await one!.node.configuration(), await two!.node.configuration()];
      const third = await cluster.join();
      assert.notDeepEqual(await one!.node.configuration(), before[0]);
      const late = await third.node.pod('late');
      await reach(web, late);
      await reach(late, far);
      await cluster.leave(third);
      assert.deepEqual([await one!.node.configuration(), await two!.node.configuration()], before);
      await reach(web, far);
    });
  });

const withoutOverlay = () =>
  describe('two nodes without an overlay', { skip: withoutNodes(), timeout: 120_000 }, () => {
    it('reach pods, hosts and the outside by plain routes, with packets of the full size', async () => {
      await using cluster = await RealCluster.create({
        nodes: 2,
        contiv: { nodeToNodeTransport: 'nooverlay' },
      });
      const [one, two] = cluster.nodes;
      const [web, far] = [await one!.node.pod('web'), await two!.node.pod('far')];
      await ping(web, far.address);
      await pingUnfragmented(web, far.address, 1500);
      await assert.rejects(
        pingUnfragmented(web, far.address, 1501),
        /message too long|Frag needed/i,
      );
      await ping(web, two!.host.address);
      await ping(two!.host, web.address);
      await ping(web, cluster.outside.address);
      const { sent, received } = await transfer(web, far, 4);
      assert.deepEqual(received, sent);
    });
  });

const suites = [() => withOverlay(4), () => withOverlay(6), withoutOverlay];
for (const declare of selectCases(suites)) declare();
