/** Source NAT at the link before the uplink: pods and a machine outside of the cluster, and packets that would go round. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { NAT_LINK_TABLE } from '#plugins/ipv4net/api.ts';
import { withoutNodes } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { type ClusterNode, RealCluster } from '../support/cluster.ts';
import { networks } from '../support/networks.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { EchoServer, echo, isReachable, ping, transfer } from '../support/traffic.ts';

/** Of the edge link; no interface has it. */
const NEIGHBOR = '169.254.254.246';

describe('source NAT at the edge link', { skip: withoutNodes(), timeout: 300_000 }, () => {
  let cluster: RealCluster;
  let node: ClusterNode;
  let web: Sandbox;
  let far: Sandbox;

  before(async () => {
    cluster = await RealCluster.create({ nodes: 2, gateway: '192.168.16.200' });
    const [one, two] = cluster.nodes;
    node = one!;
    [web, far] = [await one!.node.pod('web'), await two!.node.pod('far')];
  });
  after(() => cluster?.[Symbol.asyncDispose]());

  /** Packets that the loopback has received: those that went over the link. */
  const packetsOverLink = async (): Promise<number> => {
    const { stdout } = await showEdgeLink();
    return Number(/rx packets +(\d+)/.exec(stdout)?.[1] ?? 0);
  };

  const showEdgeLink = async () => {
    const addresses = await node.node.vpp.cli('show interface address');
    const name = /^(loop\d+) \(up\):\s+L3 169\.254\.254\.245\/30/m.exec(addresses)?.[1];
    assert.ok(name, addresses);
    return { name, stdout: await node.node.vpp.cli(`show interface ${name}`) };
  };

  it('lets pods out with the address of the node, by TCP, UDP and ICMP, and in fragments', async () => {
    // outside has no route to pods: only what is translated gets an answer
    await ping(web, cluster.outside.address);
    await web.run('ping', '-c', '2', '-i', '0.2', '-W', '2', '-s', '4000', cluster.outside.address);
    const { sent, received } = await transfer(web, cluster.outside, 4);
    assert.deepEqual(received, sent);
    await using _server = await EchoServer.start(cluster.outside);
    await echo(web, cluster.outside.address);
    const sessions = await node.node.vpp.cli('show nat44 sessions');
    assert.match(sessions, new RegExp(`o2i .*${node.nodeIp}`));
  });

  it('lets a pod reach the own address of its node, its host and pods of other nodes with its own address', async () => {
    const before = await packetsOverLink();
    await ping(web, node.nodeIp);
    await ping(web, node.host.address);
    await ping(web, far.address);
    assert.equal(await packetsOverLink(), before);
  });

  it('leaves external addresses to the uplink, which answers ARP requests for them', async () => {
    const external = '192.168.16.77';
    const ip = Uint8Array.from(external.split('.').map(Number));
    // the pool of an external address of a service, in a table without interfaces of pods
    await node.node.vpp.withClient((client) =>
      client.request('nat44_add_del_address_range', {
        is_add: true,
        flags: 0,
        first_ip_address: ip,
        last_ip_address: ip,
        vrf_id: NAT_LINK_TABLE,
      }),
    );
    // VPP has the address as its own now
    await ping(cluster.outside, external);
  });

  it('leads no packet round', async () => {
    await cluster.routeOutside(`${NEIGHBOR}/32`, node.nodeIp);
    await node.host.run('ip', 'route', 'replace', `${NEIGHBOR}/32`, 'dev', 'vpp1');
    const before = await packetsOverLink();
    for (const from of [cluster.outside, node.host, web])
      await assert.rejects(from.run('ping', '-c', '1', '-W', '1', NEIGHBOR));
    // the packet of the pod went over the link once
    assert.ok((await packetsOverLink()) - before <= 1);
  });
});

describe('a node of both families, IPv6 first', { skip: withoutNodes(), timeout: 300_000 }, () => {
  /** Behind the gateways. */
  const remote = { 4: '198.51.100.1', 6: '2001:db8::1' } as const;

  it('translates sources of IPv4 alone, and has a default route in each family', async () => {
    await using cluster = await RealCluster.create({
      nodes: 2,
      family: 6,
      isDual: true,
      gateway: `${networks[6].outside.address}, ${networks[4].outside.address}`,
      before: async ({ outside }) => {
        await outside.run('ip', 'addr', 'add', `${remote[4]}/32`, 'dev', 'lo');
        await outside.run('ip', 'addr', 'add', `${remote[6]}/128`, 'dev', 'lo', 'nodad');
      },
    });
    const { outside } = cluster;
    const [one, two] = cluster.nodes;
    const [web, far] = [await one!.node.pod('web'), await two!.node.pod('far')];
    for (const { id } of cluster.nodes)
      await outside.run('ip', 'route', 'del', networks[4].pods(id));
    for (const pod of [web, far]) {
      await ping(pod, networks[4].outside.address);
      await ping(pod, remote[4]);
      await ping(pod, remote[6]);
    }
    for (const family of [4, 6] as const) await ping(web, far.addressOf(family));
    for (const { id, node } of cluster.nodes) {
      const sessions = await node.vpp.cli('show nat44 sessions');
      assert.match(sessions, new RegExp(`o2i .*192\\.168\\.16\\.${id}\\b`));
      assert.deepEqual(await node.agent.drift(), []);
    }
    // a restart of VPP brings both back
    const { vpp } = one!.node;
    await vpp.kill();
    await vpp.start();
    for (const family of [4, 6] as const)
      await until(`IPv${family} leaves again`, () => isReachable(web, remote[family]), 60_000);
  });
});
