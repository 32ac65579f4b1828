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
import type { Sandbox } from '../support/sandbox.ts';
import { isReachable, ping } from '../support/traffic.ts';

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
