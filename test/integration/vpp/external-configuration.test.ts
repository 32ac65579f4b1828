/** External configuration by gRPC on a real VPP, and after the agent was killed. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ExternalClient } from '#test/plugins/extconfig/grpc-client.ts';
import { withoutNodes } from '#test/support/requirements.ts';
import { RealNode } from '../support/node.ts';

const items = {
  Interfaces: [
    {
      name: 'ext-loop1',
      type: 'SOFTWARE_LOOPBACK',
      enabled: true,
      ip_addresses: ['198.18.1.1/24'],
    },
    { name: 'ext-loop2', type: 'SOFTWARE_LOOPBACK', enabled: true },
  ],
  StaticRoutes: [
    {
      dst_network: '198.19.0.0/16',
      next_hop_addr: '198.18.1.9',
      outgoing_interface: 'ext-loop1',
    },
  ],
  ArpEntries: [
    {
      interface: 'ext-loop1',
      ip_address: '198.18.1.9',
      phys_address: '02:00:00:00:00:09',
      static: true,
    },
  ],
  AccessLists: [
    {
      name: 'ext-acl',
      rules: [{ action: 'PERMIT', ip_rule: { ip: { source_network: '198.18.0.0/15' } } }],
      interfaces: { ingress: ['ext-loop1'] },
    },
  ],
  BridgeDomains: [
    {
      name: 'ext-bd',
      forward: true,
      learn: true,
      flood: true,
      interfaces: [{ name: 'ext-loop2' }],
    },
  ],
  FIBs: [
    {
      bridge_domain: 'ext-bd',
      phys_address: '02:00:00:00:00:22',
      outgoing_interface: 'ext-loop2',
      static_config: true,
    },
  ],
} as const;

describe('external configuration by gRPC', { skip: withoutNodes() }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'extconfig-'));
  const socket = join(folder, 'external.sock');
  let node: RealNode;
  let client: ExternalClient;
  before(async () => {
    const file = join(folder, 'grpc2.conf');
    writeFileSync(file, JSON.stringify({ network: 'unix', endpoint: socket }));
    node = await RealNode.create({ agentFlags: [`--grpc2-config=${file}`] });
    await node.agent.start();
    client = new ExternalClient(`unix:${socket}`);
  });
  after(async () => {
    client?.[Symbol.dispose]();
    await node?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const shown = async () => ({
    address: /198\.18\.1\.1\/24/.test(await node.vpp.cli('show interface addr')),
    route: /198\.18\.1\.9/.test(await node.vpp.cli('show ip fib 198.19.0.0/16')),
    neighbor: /198\.18\.1\.9 +S\w* +02:00:00:00:00:09/.test(
      await node.vpp.cli('show ip neighbors'),
    ),
    acl: /ext-acl/.test(await node.vpp.cli('show acl-plugin acl')),
    bridge: /02:00:00:00:00:22/.test(await node.vpp.cli('show l2fib all')),
  });
  const all = { address: true, route: true, neighbor: true, acl: true, bridge: true };
  const none = { address: false, route: false, neighbor: false, acl: false, bridge: false };

  it('is in VPP when the call returns', async () => {
    assert.deepEqual(await shown(), none);
    assert.equal((await client.put(items)).text, '');
    assert.deepEqual(await shown(), all);
  });

  it('is configured again by an agent that was killed, in a VPP that has restarted', async () => {
    await node.agent.end('SIGKILL');
    await node.vpp.kill();
    await node.vpp.start();
    await node.agent.start();
    assert.deepEqual(await shown(), all);
  });

  it('is removed from VPP', async () => {
    assert.equal((await client.del({ FIBs: items.FIBs, AccessLists: items.AccessLists })).text, '');
    assert.deepEqual(await shown(), { ...all, acl: false, bridge: false });
    assert.equal((await client.resync({})).text, '');
    assert.deepEqual(await shown(), none);
  });
});
