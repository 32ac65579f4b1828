/** Values that share something with each other or with VPP's own objects: no further resync sends a change for them. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import { linuxInterfaceModel } from '#models/linux/interface.ts';
import type { DeepInput } from '#models/model.ts';
import { type VppRoute, vppRouteModel } from '#models/vpp/route.ts';
import { TestAgent } from '../transitions/test-agent.ts';
import { keyedValue, loop, table } from './example-values.ts';
import type { Backend } from './suite.ts';

/** The values by the name of the case. */
export type SharingValues = Readonly<Record<string, readonly KeyedValue[]>>;

function numbered(name: string, ...ip_addresses: string[]): KeyedValue {
  return loop(name, { enabled: true, ip_addresses });
}

function inTable(name: string, vrf: number, ...ip_addresses: string[]): KeyedValue {
  return loop(name, { enabled: true, vrf, ip_addresses });
}

function route(dst_network: string, more: DeepInput<VppRoute>): KeyedValue {
  return keyedValue(vppRouteModel, { dst_network, ...more });
}

const a = numbered('a', '10.1.1.1/24', 'fd01::1/64');
const viaA = { outgoing_interface: 'a' };

export const sharingVppValues: SharingValues = {
  'routes to the subnets of their interface': [
    a,
    route('10.1.1.0/24', viaA),
    route('10.1.1.0/24', { ...viaA, next_hop_addr: '10.1.1.9' }),
    route('fd01::/64', viaA),
  ],
  'routes to the address of an interface': [
    a,
    route('10.1.1.1/32', viaA),
    route('10.1.1.1/32', { next_hop_addr: '10.1.1.1' }),
  ],
  'routes to the subnet of a link with two addresses': [
    numbered('a', '10.1.1.0/31'),
    route('10.1.1.0/31', viaA),
    route('10.1.1.1/32', viaA),
  ],
  'a route to the subnet of an interface that is down': [
    loop('a', { ip_addresses: ['10.1.1.1/24'] }),
    route('10.1.1.0/24', viaA),
  ],
  'a route that drops the subnet of an interface': [a, route('10.1.1.0/24', { type: 'DROP' })],
  'a route to the borrowed subnet of an interface': [
    a,
    loop('b', { enabled: true, unnumbered: { interface_with_ip: 'a' } }),
    route('10.1.1.0/24', { outgoing_interface: 'b' }),
  ],
  'host routes via themselves': [
    table(1),
    a,
    route('10.9.9.1/32', { next_hop_addr: '10.9.9.1' }),
    route('10.9.9.2/32', { ...viaA, next_hop_addr: '10.9.9.2' }),
    route('10.9.9.3/32', { type: 'INTER_VRF', via_vrf_id: 1, next_hop_addr: '10.9.9.3' }),
    route('fd09::1/128', { next_hop_addr: 'fd09::1' }),
  ],
  'a host route via itself, with and without a next hop': [
    a,
    route('10.9.9.2/32', { ...viaA, next_hop_addr: '10.9.9.2' }),
    route('10.9.9.2/32', viaA),
  ],
  'routes to networks via themselves': [
    route('10.9.9.0/24', { next_hop_addr: '10.9.9.0' }),
    route('10.9.8.0/24', { next_hop_addr: '10.9.8.7' }),
  ],
  'names with repeated slashes': [
    numbered('x//a/', '10.1.1.1/24'),
    route('10.2.1.0/24', { outgoing_interface: 'x//a' }),
  ],
  'an address that is listed twice': [
    numbered('a', '10.1.1.1/24', '10.1.1.1/24', 'fd01::1/64', 'FD01:0::1/64'),
  ],
  'an address with two prefix lengths': [
    numbered('a', '10.1.1.1/24', '10.1.1.1/32', '10.1.1.1/16'),
  ],
  'interfaces that want one address': [
    a,
    numbered('b', '10.1.1.1/24', 'fd01::1/64'),
    numbered('c', '10.1.1.1/24', '10.7.1.1/24'),
  ],
  'an interface with an address of its own and one that another has': [
    a,
    numbered('b', '10.7.1.1/24', 'fd01::1/64'),
    numbered('c', '10.1.1.1/24', 'fd07::1/64'),
  ],
  'interfaces of a table that want one address': [
    table(1),
    table(1, 'IPV6'),
    inTable('a', 1, '10.1.1.1/24', 'fd01::1/64'),
    inTable('b', 1, '10.1.1.1/24'),
    inTable('c', 1, '10.1.1.1/24', 'fd07::1/64'),
    inTable('d', 1, '10.7.1.1/24', 'fd01::1/64'),
    loop('e', { enabled: true, vrf: 1, unnumbered: { interface_with_ip: 'b' } }),
  ],
  'interfaces of tables that do not exist': [
    inTable('a', 1, '10.1.1.1/24'),
    loop('b', { enabled: true, vrf: 1, set_dhcp_client: true }),
    loop('c', { enabled: true, vrf: 1, unnumbered: { interface_with_ip: 'a' } }),
  ],
  'interfaces in one subnet': [a, numbered('b', '10.1.1.2/24'), numbered('c', '10.1.1.3/24')],
};

function veth(name: string, peer: string, ...ip_addresses: string[]): KeyedValue {
  return keyedValue(linuxInterfaceModel, {
    name,
    type: 'VETH',
    enabled: true,
    veth: { peer_if_name: peer },
    host_if_name: name,
    ip_addresses,
  });
}

export const sharingLinuxValues: SharingValues = {
  'an address that is listed twice': [veth('a', 'b', '10.1.1.1/24', '10.1.1.1/24'), veth('b', 'a')],
  'an address with two prefix lengths': [
    veth('a', 'b', '10.1.1.1/24', '10.1.1.1/16'),
    veth('b', 'a'),
  ],
  'interfaces that want one address': [
    veth('a', 'b', '10.1.1.1/24'),
    veth('b', 'a', '10.1.1.1/24'),
  ],
};

export function repeatedResyncSuite(start: () => Promise<Backend>, cases: SharingValues): void {
  describe('further resyncs of values that share something', () => {
    let backend: Backend;
    before(async () => {
      backend = await start();
    });
    after(() => backend?.stop());

    for (const [name, values] of Object.entries(cases))
      test(name, async () => {
        const desired = new Map(values.map(({ key, value }) => [key, value]));
        const empty = await backend.state();
        const assertUnchanged = async (resync: () => Promise<readonly string[]>) => {
          backend.cut(0);
          assert.deepEqual(await resync(), [], 'operations');
          assert.equal(backend.changes, 0);
        };
        // an agent that starts adds hidden routes once more
        for (const agent of [new TestAgent(backend), new TestAgent(backend)]) {
          await agent.resync(desired);
          await assertUnchanged(() => agent.resync(desired));
          await assertUnchanged(() => agent.reconcile());
          await agent.close();
        }
        const last = new TestAgent(backend);
        await last.resync(desired);
        await last.resync(new Map());
        await last.close();
        assert.deepEqual(await backend.state(), empty);
      });
  });
}
