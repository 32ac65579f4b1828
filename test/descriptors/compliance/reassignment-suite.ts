/** Objects that are reassigned from one value of VPP to another. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import type { DeepInput } from '#models/model.ts';
import { bridgeDomainModel } from '#models/vpp/bridge-domain.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { type VppRoute, vppRouteModel } from '#models/vpp/route.ts';
import { vrfTableModel } from '#models/vpp/vrf-table.ts';
import { fromPrefix } from '#vpp/binapi/addresses.ts';
import { vppPort } from '#vpp/vpp-port.ts';
import { keyedValue, loop } from './example-values.ts';
import { entries, type SharedVpp, SharedVppAgent } from './shared-vpp-agent.ts';
import { vppState } from './vpp-state.ts';

function tunnel(name: string): KeyedValue {
  return keyedValue(vppInterfaceModel, {
    name,
    type: 'VXLAN_TUNNEL',
    vxlan: { src_address: '192.168.16.1', dst_address: '192.168.16.2', vni: 10 },
  });
}

function bridge(name: string, members: readonly string[], bvi?: string): KeyedValue {
  return keyedValue(bridgeDomainModel, {
    name,
    forward: true,
    interfaces: [
      ...members.map((member) => ({ name: member })),
      ...(bvi === undefined ? [] : [{ name: bvi, bridged_virtual_interface: true }]),
    ],
  });
}

export function reassignmentSuite(start: () => Promise<SharedVpp>): void {
  describe('reassigned objects', () => {
    const owner = new SharedVppAgent(start);

    test('an address moves to another interface in one transaction, either way', async () => {
      const a = (...ip_addresses: string[]) => loop('a', { enabled: true, ip_addresses });
      const b = (...ip_addresses: string[]) => loop('b', { enabled: true, ip_addresses });
      const start = await vppState(owner.client);
      await owner.commit('update', entries([a('10.1.1.1/24'), b('10.2.2.2/24')]));
      for (const swapped of [true, false, true]) {
        const [first, second] = ['10.1.1.1/24', '10.2.2.2/24'];
        await owner.commit(
          'update',
          entries(swapped ? [a(second), b(first)] : [a(first), b(second)]),
        );
      }
      const addressesOf = async (tag: string) => {
        const found = await vppPort(owner.client).interfaces();
        const sw_if_index = found.find((each) => each.tag === tag)?.swIfIndex ?? 0;
        const dumped = await owner.client.dump('ip_address_dump', { sw_if_index, is_ipv6: false });
        return dumped.map(({ prefix }) => fromPrefix(prefix));
      };
      assert.deepEqual(await addressesOf('a'), ['10.2.2.2/24']);
      assert.deepEqual(await addressesOf('b'), ['10.1.1.1/24']);
      await owner.commit('full-resync', []);
      assert.deepEqual(await vppState(owner.client), start);
    });

    test('a network moves to another interface in one transaction, with other addresses', async () => {
      const numbered = (name: string, ...ip_addresses: string[]) =>
        loop(name, { enabled: true, ip_addresses });
      const borrower = loop('c', { enabled: true, unnumbered: { interface_with_ip: 'b' } });
      const at = (a: readonly string[], b: readonly string[]) => [
        numbered('a', ...a),
        numbered('b', ...b),
        borrower,
      ];
      const [one, two] = [
        ['10.8.0.1/24', '10.8.0.9/24', 'fd08::1/64'],
        ['10.9.0.1/24', 'fd09::1/64'],
      ];
      await owner.applyInTurn(
        at(['10.40.0.1/24'], ['10.8.0.1/24']),
        at(['10.40.0.1/24', '10.8.0.2/24'], ['10.9.0.1/24']),
        at(['10.40.0.1/24', '10.9.0.2/16'], one),
        at(['10.40.0.1/24', '10.8.0.2/24', 'fd08::2/64'], two),
        at(['10.40.0.1/24', '10.9.0.2/16', 'fd09::2/80'], one),
        at(['10.8.0.7/25', '10.8.0.8/25'], two),
      );
    });

    test('a route to the subnet of an interface that loses its address is read back', async () => {
      const out = loop('out', { enabled: true, ip_addresses: ['10.2.2.2/24', 'fd02::2/64'] });
      const routes = [
        { dst_network: '10.1.1.0/24', next_hop_addr: '10.2.2.9' },
        { dst_network: 'fd01::/64', next_hop_addr: 'fd02::9' },
      ].map((route) => keyedValue(vppRouteModel, { ...route, outgoing_interface: 'out' }));
      const ip_addresses = ['10.1.1.1/24', 'fd01::1/64'];
      const before = [loop('a', { enabled: true, ip_addresses }), out];
      await owner.commit('update', entries(before));
      await owner.commit('update', entries(routes));
      const after = [loop('a', { enabled: true }), out, ...routes];
      await owner.commit('update', entries(after));
      await owner.assertReadsBack(after);
    });

    test('a tunnel is reassigned to another name', async () => {
      await owner.applyInTurn([tunnel('one')], [tunnel('two')], [tunnel('one')]);
    });

    test('the BVI of a bridge domain becomes a plain member, and another one the BVI', async () => {
      const loops = [loop('a'), loop('b')];
      await owner.applyInTurn(
        [...loops, bridge('bd', ['b'], 'a')],
        [...loops, bridge('bd', ['a'], 'b')],
        [...loops, bridge('bd', ['b'], 'a')],
      );
    });

    test('a member is reassigned to another bridge domain and back', async () => {
      const loops = [loop('a'), loop('b')];
      await owner.applyInTurn(
        [...loops, bridge('bd1', ['a', 'b']), bridge('bd2', [])],
        [...loops, bridge('bd1', ['b']), bridge('bd2', ['a'])],
        [...loops, bridge('bd1', ['a']), bridge('bd2', ['b'])],
      );
    });

    test('a route gives its path to another key', async () => {
      const path = (next_hop_addr: string, more: DeepInput<VppRoute> = {}): KeyedValue =>
        keyedValue(vppRouteModel, {
          type: 'INTER_VRF',
          dst_network: '10.1.0.0/16',
          next_hop_addr,
          via_vrf_id: 1,
          ...more,
        });
      const table = keyedValue(vrfTableModel, { id: 1, label: 'podVRF' });
      await owner.applyInTurn(
        [table, path('0.0.0.0')],
        [table, path('')],
        [table, path('0.0.0.0')],
      );
    });

    test('a host route on an interface is the same with its own address as next hop', async () => {
      const out = loop('out', { enabled: true, ip_addresses: ['10.1.1.1/24'] });
      const host = (next_hop_addr: string): KeyedValue =>
        keyedValue(vppRouteModel, {
          dst_network: '10.1.1.2/32',
          next_hop_addr,
          outgoing_interface: 'out',
        });
      await owner.applyInTurn([out, host('')], [out, host('10.1.1.2')], [out, host('')]);
    });

    test('a tunnel with an outer table lends its address, which is in table 0', async () => {
      const vxlan = { src_address: '192.168.16.1', dst_address: '192.168.16.2', vni: 10 };
      const tunnelInTable = keyedValue(vppInterfaceModel, {
        name: 'tunnel',
        type: 'VXLAN_TUNNEL',
        enabled: true,
        vrf: 1,
        ip_addresses: ['10.55.0.1/24'],
        vxlan,
      });
      const table = keyedValue(vrfTableModel, { id: 1, label: 'outer' });
      const borrower = loop('borrower', { unnumbered: { interface_with_ip: 'tunnel' } });
      const same = loop('same', { vrf: 1, ip_addresses: ['10.55.0.1/32'] });
      await owner.applyInTurn([table, tunnelInTable, borrower, same]);
    });

    test('an interface changes its table with everything on it', async () => {
      const tables = [1, 2].map((id) => keyedValue(vrfTableModel, { id, label: `table-${id}` }));
      const lender = (vrf: number): KeyedValue =>
        loop('lender', { vrf, enabled: true, ip_addresses: ['10.1.1.1/24'] });
      const borrower = (vrf: number): KeyedValue =>
        loop('borrower', { vrf, enabled: true, unnumbered: { interface_with_ip: 'lender' } });
      const route = keyedValue(vppRouteModel, {
        vrf_id: 1,
        dst_network: '10.9.0.0/16',
        next_hop_addr: '10.1.1.2',
        outgoing_interface: 'lender',
      });
      await owner.applyInTurn(
        [...tables, lender(1), borrower(1), route],
        [...tables, lender(2), borrower(2), route],
        [...tables, lender(1), borrower(1), route],
      );
      const found = await vppPort(owner.client).interfaces();
      const index = found.find(({ tag }) => tag === 'borrower')?.swIfIndex ?? 0;
      const table = await owner.client.request('sw_interface_get_table', {
        sw_if_index: index,
        is_ipv6: false,
      });
      assert.equal(table.vrf_id, 1, 'the borrower follows its lender');
    });
  });
}
