/** Nodes with addresses from a DHCP server on their network, on a real VPP. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { withoutDhcpServer, withoutNodes } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { nodeIdentity, RealCluster } from '../support/cluster.ts';
import { DhcpServer } from '../support/dhcp-server.ts';
import { bothFamilies, networks } from '../support/networks.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { isReachable, ping } from '../support/traffic.ts';

/** Behind the gateway of IPv6. */
const REMOTE = '2001:db8::1';

const lastByte = (address: string) => Number(address.split('.')[3]);

describe('nodes with DHCP', {
  skip: withoutNodes() || withoutDhcpServer(),
  timeout: 240_000,
}, () => {
  const folder = mkdtempSync(join(tmpdir(), 'dhcp-'));
  let server: DhcpServer;
  let cluster: RealCluster;
  let web: Sandbox;
  let far: Sandbox;

  before(async () => {
    cluster = await RealCluster.create({
      nodes: 2,
      ipam: { nodeInterconnectDHCP: true },
      before: async ({ outside }) => {
        server = DhcpServer.start(outside, 'eth0', folder, 50);
      },
    });
    const [one, two] = cluster.nodes;
    [web, far] = [await one!.node.pod('web'), await two!.node.pod('far')];
  });

  after(async () => {
    await cluster?.[Symbol.asyncDispose]();
    await server?.end();
    rmSync(folder, { recursive: true });
  });

  it('have the leased addresses, and reach each other and the outside', async () => {
    server.assertRunning();
    for (const { nodeIp } of cluster.nodes)
      assert.ok(lastByte(nodeIp) >= 50 && lastByte(nodeIp) < 60, nodeIp);
    await ping(web, far.address);
    await ping(web, cluster.outside.address);
    const [one] = cluster.nodes;
    // The default route is the router of the lease.
    assert.match(await one!.node.vpp.cli('show ip fib 0.0.0.0/0'), /192\.168\.16\.200 host-uplink/);
    const names = (await one!.node.agent.history()).map(({ Name }) => Name);
    assert.ok(names.includes('Node IP Change'), names.join());
  });

  it('keep them when the agent restarts, without packet loss', async () => {
    const [one] = cluster.nodes;
    const before = await one!.node.configuration();
    await one!.node.agent.end('SIGKILL');
    await one!.node.agent.start();
    assert.deepEqual(await one!.node.configuration(), before);
    assert.equal((await nodeIdentity(one!.node)).nodeIp, one!.nodeIp);
    const names = (await one!.node.agent.history()).map(({ Name }) => Name);
    assert.equal(names.includes('Node IP Change'), false, names.join());
    await ping(web, far.address);
  });

  it('change them when VPP restarts and the server leases others', async () => {
    const [one] = cluster.nodes;
    await server.end();
    await one!.node.vpp.kill();
    server = DhcpServer.start(cluster.outside, 'eth0', folder, 150);
    await one!.node.vpp.start();
    await until('the node has another address', async () => {
      const { status, body } = await one!.node.agent.get('/contiv/v1/ipam');
      return status === 200 && lastByte((body as { nodeIP: string }).nodeIP) >= 150;
    });
    await until('the pods reach each other again', () => isReachable(web, far.address));
    await ping(far, web.address);
    const { nodeIp } = await nodeIdentity(one!.node);
    await cluster.routeFromOutside(one!, nodeIp);
    await ping(web, cluster.outside.address);
  });
});

for (const first of [4, 6] as const)
  describe(`nodes with DHCP and a network of IPv6, IPv${first} first`, {
    skip: withoutNodes() || withoutDhcpServer(),
    timeout: 240_000,
  }, () => {
    it('have both addresses, and reach each other and the outside in both families', async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'dhcp-'));
      let server: DhcpServer | undefined;
      t.after(async () => {
        await server?.end();
        rmSync(folder, { recursive: true });
      });
      const { ipamConfig } = bothFamilies(first);
      await using cluster = await RealCluster.create({
        nodes: 2,
        family: first,
        isDual: true,
        ipam: {
          ...ipamConfig,
          nodeInterconnectDHCP: true,
          nodeInterconnectCIDR: 'fd16::/64',
          defaultGateway: networks[6].outside.address,
        },
        before: async ({ outside }) => {
          await outside.run('ip', 'addr', 'add', `${REMOTE}/128`, 'dev', 'lo', 'nodad');
          const leasing = { ...outside, address: networks[4].outside.address };
          server = DhcpServer.start(leasing, 'eth0', folder, 50);
        },
      });
      const [one, two] = cluster.nodes;
      const { agent, vpp } = one!.node;
      const [web, far] = [await one!.node.pod('web'), await two!.node.pod('far')];
      const identities = await Promise.all(cluster.nodes.map(({ node }) => nodeIdentity(node)));
      for (const { id, nodeIps } of identities) {
        const [leased = '', computed] = first === 4 ? nodeIps : nodeIps.toReversed();
        assert.ok(lastByte(leased) >= 50 && lastByte(leased) < 60, nodeIps.join());
        assert.equal(computed, `fd16::${id}`);
        // sources of IPv4 are translated
        await cluster.outside.run('ip', 'route', 'flush', networks[4].pods(id));
      }
      const reach = async () => {
        for (const family of [4, 6] as const) {
          await until(`IPv${family} is up`, () => isReachable(web, far.addressOf(family)), 60_000);
          await until(`IPv${family} leaves`, () =>
            isReachable(web, networks[family].outside.address),
          );
        }
        await until('the way by the gateway of IPv6', () => isReachable(web, REMOTE));
      };
      await reach();
      assert.deepEqual(await agent.drift(), []);
      const before = await one!.node.configuration();
      await agent.end('SIGKILL');
      await agent.start();
      assert.deepEqual(await one!.node.configuration(), before);
      await vpp.kill();
      await vpp.start();
      await reach();
    });
  });
