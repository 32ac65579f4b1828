import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { IndexMap } from '#infra/idxmap/idxmap.ts';
import { silentLogger } from '#infra/log/log.ts';
import { type DHCPLease, dhcpLeaseModel } from '#models/vpp/interface-state.ts';
import { ClosedControllerError, EventQueueFullError } from '#plugins/controller/api/errors.ts';
import type { Event } from '#plugins/controller/api/event.ts';
import { NodeIpChange } from '#plugins/ipv4net/api.ts';
import { watchLeases } from '#plugins/ipv4net/lease-watch.ts';
import { nodeValue, TestNode, vppNodeValue } from '../test-node.ts';
import { fakeVppWithNics } from './vpp-with.ts';

const YAML = 'ipamConfig: {nodeInterconnectDHCP: true, defaultGateway: 9.9.9.9}';
const nodeB = [vppNodeValue(2, 'node-b', '10.9.0.2/24'), nodeValue('node-b', '172.16.0.6')];

function lease(name: string, address: string, router = '10.9.0.1/24'): DHCPLease {
  return dhcpLeaseModel.canonical({
    interface_name: name,
    host_ip_address: address,
    router_ip_address: router,
  });
}

/** A node whose leases change as the southbound reports them. */
async function leased() {
  const node = new TestNode({ yaml: YAML, vpp: fakeVppWithNics('Gig1') });
  await node.resync([nodeValue('node-a', '172.16.0.5'), ...nodeB]);
  const leases = new IndexMap<DHCPLease>('leases', silentLogger);
  const pushed: Event[] = [];
  const clock = new ManualClock();
  let refusal: Error | undefined;
  const refuse = (error: Error | undefined): void => {
    refusal = error;
  };
  const end = watchLeases({
    leases,
    net: node.net,
    loop: {
      push: (event) => {
        if (refusal) throw refusal;
        pushed.push(event as Event);
      },
    },
    clock,
    log: silentLogger,
  });
  const gets = (address: string): void => {
    node.vpp.dhcp = [{ interfaceName: 'Gig1', address, router: '10.9.0.1' }];
    leases.put('Gig1', lease('Gig1', address));
  };
  const run = async (): Promise<void> => {
    for (const event of pushed.splice(0)) assert.equal((await node.run(event)).error, undefined);
  };
  return { node, leases, pushed, gets, run, end, refuse, clock };
}

const tunnel = (node: TestNode) =>
  node.config.get('config/vpp/v2/interfaces/vxlan-default-2') as
    | { vxlan: { src_address: string } }
    | undefined;

const problems = (node: TestNode) => node.net.problems!().map(({ code }) => code);

async function announced(node: TestNode): Promise<string[]> {
  const record = await node.clusterStore.get('/vnf-agent/contiv-ksr/allocatedIDs/1');
  return JSON.parse(record!).ip_addresses ?? [];
}

describe('a lease of the main interface', () => {
  it('is what the node announces and builds its tunnels on', async () => {
    const { node, gets, run } = await leased();
    assert.equal(tunnel(node), undefined);
    assert.deepEqual(problems(node), ['CV_NET_NO_LEASE']);
    gets('10.9.0.5/24');
    await run();
    assert.deepEqual(problems(node), []);
    assert.equal(node.net.nodeAddresses()[0], '10.9.0.5/24');
    assert.deepEqual(node.net.defaultGateways(), ['10.9.0.1']);
    assert.equal(tunnel(node)!.vxlan.src_address, '10.9.0.5');
    assert.deepEqual(await announced(node), ['10.9.0.5/24']);
    const nic = node.at('config/vpp/v2/interfaces/Gig1');
    assert.deepEqual([nic['set_dhcp_client'], nic['ip_addresses']], [true, []]);
    // the way out is VPP's own affair
    assert.equal(
      [...node.config.keys()].some((key) => key.includes('9.9.9.9')),
      false,
    );
  });

  it('that changes moves everything, and one that is lost takes it away', async () => {
    const { node, leases, gets, run, pushed } = await leased();
    gets('10.9.0.5/24');
    await run();
    gets('10.9.0.77/24');
    assert.deepEqual(pushed[0]!.payload, {
      addresses: ['10.9.0.77/24'],
      defaultGateway: '10.9.0.1',
    });
    await run();
    assert.equal(tunnel(node)!.vxlan.src_address, '10.9.0.77');
    assert.deepEqual(await announced(node), ['10.9.0.77/24']);
    node.vpp.dhcp = [];
    leases.delete('Gig1');
    assert.deepEqual(pushed[0]!.payload, { addresses: [], defaultGateway: '' });
    await run();
    assert.equal(tunnel(node), undefined);
    assert.deepEqual(await announced(node), []);
    assert.deepEqual(problems(node), ['CV_NET_NO_LEASE']);
    assert.match(node.net.problems!()[0]!.message, /^Gig1: no DHCP lease: other nodes cannot/);
  });

  it('that was an address of another node, or is one now, counts as one of this node only', async () => {
    const { node, gets, run } = await leased();
    const routes = () =>
      [...node.config.keys()].filter((key) => key.includes('/dst/10.9.0.5/32/gw/192.168.30.2'));
    const nodeProblems = () => node.net.nodeProblems().of('node-b').join();
    gets('10.9.0.5/24');
    await run();
    await node.put(nodeValue('node-b', '10.9.0.5'));
    assert.equal(tunnel(node)?.vxlan.src_address, '10.9.0.5');
    assert.deepEqual(routes(), []);
    assert.match(nodeProblems(), /10\.9\.0\.5 is an address of this node/);
    gets('10.9.0.77/24');
    await run();
    assert.equal(tunnel(node)?.vxlan.src_address, '10.9.0.77');
    assert.equal(routes().length, 1);
    assert.equal(nodeProblems(), '');
    gets('10.9.0.5/24');
    await run();
    assert.deepEqual(routes(), []);
    assert.match(nodeProblems(), /10\.9\.0\.5 is an address of this node/);
  });

  it('is pushed once, and only if it is new and of the main interface', async () => {
    const { leases, pushed, gets, run, end } = await leased();
    leases.put('Gig2', lease('Gig2', '10.8.0.5/24'));
    assert.equal(pushed.length, 0);
    gets('10.9.0.5/24');
    gets('10.9.0.5/24');
    assert.equal(pushed.length, 1);
    assert.ok(NodeIpChange.is(pushed[0]!));
    await run();
    gets('10.9.0.5/24');
    assert.equal(pushed.length, 0);
    gets('10.9.0.6/24');
    await run();
    gets('10.9.0.5/24');
    assert.equal(pushed.length, 1);
    end();
    gets('10.9.0.7/24');
    assert.equal(pushed.length, 1);
  });

  it('is pushed with its current value as soon as the queue accepts it', async () => {
    const { node, leases, gets, run, pushed, refuse, clock } = await leased();
    refuse(new EventQueueFullError('queue with events is full'));
    gets('10.9.0.5/24');
    gets('10.9.0.6/24');
    await clock.advance(1_000);
    refuse(undefined);
    await clock.advance(1_000);
    assert.equal(pushed.length, 1);
    await run();
    assert.equal(node.net.nodeAddresses()[0], '10.9.0.6/24');
    refuse(new ClosedControllerError('controller was closed'));
    leases.delete('Gig1');
    refuse(undefined);
    await clock.advance(10_000);
    assert.equal(pushed.length, 0, 'at the end of the agent nothing is tried again');
    assert.equal(clock.pending, 0);
  });

  it('is known at once after a restart of the agent, so that no tunnel goes', async () => {
    const { node, gets, run } = await leased();
    gets('10.9.0.5/24');
    await run();
    const before = node.config;
    const next = node.restart();
    await next.resync(node.state());
    assert.deepEqual([...next.config].sort(), [...before].sort());
  });

  it('is kept while VPP does not answer', async () => {
    const { node, gets, run } = await leased();
    gets('10.9.0.5/24');
    await run();
    node.vpp.failing = new Error('gone');
    await node.heal();
    assert.equal(tunnel(node)!.vxlan.src_address, '10.9.0.5');
  });
});
