/**
 * Two nodes on a network, each with its own VPP and agent, over one etcd: every way that a packet
 * takes in a cluster, and a third node that comes and goes. There is no source NAT: a place outside
 * of the cluster has routes to the pods.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { RealCluster } from '../real/cluster.ts';
import { missing } from '../real/missing.ts';
import type { Sandbox } from '../real/sandbox.ts';
import { type Endpoint, type Place, ping, pingWhole, transfer } from '../real/traffic.ts';

/** 1500 of the network without the 50 of a tunnel: nobody has told the agents. */
const podMtu = 1450;

/** Pings, packets of full size, and TCP both ways. */
async function reach(from: Endpoint, to: Endpoint): Promise<void> {
  await ping(from, to.address);
  await pingWhole(from, to.address, podMtu);
  for (const [sender, receiver] of [
    [from, to],
    [to, from],
  ] as const) {
    const { sent, received } = await transfer(sender, receiver, 4);
    assert.equal(sent.bytes, 4 * 1024 * 1024);
    assert.deepEqual(received, sent);
  }
}

/** What is too large for a pod is refused at once, instead of vanishing on the way. */
async function refusesLarger(from: Place, address: string): Promise<void> {
  await assert.rejects(pingWhole(from, address, podMtu + 1), /message too long|Frag needed/i);
}

describe('two nodes', { skip: missing, timeout: 240_000 }, () => {
  let cluster: RealCluster;
  let web: Sandbox;
  let db: Sandbox;
  let far: Sandbox;

  before(async () => {
    cluster = await RealCluster.create({ nodes: 2 });
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
    await refusesLarger(web, db.address);
  });

  it('pod to pod across nodes', async () => {
    await reach(web, far);
    await refusesLarger(web, far.address);
    const [one] = cluster.nodes;
    assert.match(await one!.node.vpp.cli('show interface'), /vxlan_tunnel0 /);
  });

  it('pod to its host, under both of the addresses of the host', async () => {
    const [one] = cluster.nodes;
    await reach(web, one!.host);
    await ping(web, `172.30.${one!.id}.2`);
  });

  it('the host forwards, as it was told at the start', async () => {
    for (const { host } of cluster.nodes)
      assert.equal((await host.run('sysctl', '-n', 'net.ipv4.ip_forward')).trim(), '1');
  });

  it('host to pods of its own and of the other node', async () => {
    const [one] = cluster.nodes;
    const link: Endpoint = { ...one!.host, address: `172.30.${one!.id}.2` };
    await reach(link, web);
    await reach(link, far);
  });

  it('pod to the other host', async () => {
    const [, two] = cluster.nodes;
    await reach(web, two!.host);
    await ping(web, `172.30.${two!.id}.2`);
  });

  it('pod out through the main interface', async () => {
    await reach(web, cluster.outside);
    await reach(far, cluster.outside);
  });

  it('a third node joins, is reached, and leaves nothing behind', async () => {
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
