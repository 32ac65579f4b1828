/** Neighbors of VPP, which removes those that are not static by itself. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import { type VppArpEntry, vppArpModel } from '#models/vpp/arp.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { fromAddress, toAddress, toMac, toPrefix } from '#vpp/binapi/addresses.ts';
import { AddressFamily, IpNeighborFlags } from '#vpp/binapi/enums.gen.ts';
import { keyedValue, loop } from './example-values.ts';
import { entries, type SharedVpp, SharedVppAgent } from './shared-vpp-agent.ts';

const ALL = 0xffff_ffff;
const MAC = '02:fe:00:00:00:09';

export function neighborSuite(start: () => Promise<SharedVpp>): void {
  describe('neighbors that VPP removes', () => {
    const owner = new SharedVppAgent(start);

    const neighbors = async (): Promise<string[]> => {
      const families = [AddressFamily.ADDRESS_IP4, AddressFamily.ADDRESS_IP6];
      const dumps = families.map((af) =>
        owner.client.dump('ip_neighbor_dump', { sw_if_index: ALL, af }),
      );
      const found = (await Promise.all(dumps)).flat();
      return found.map(({ neighbor }) => fromAddress(neighbor.ip_address)).sort();
    };

    const neighbor = (ip_address: string, on: string, isStatic = false): KeyedValue =>
      keyedValue(vppArpModel, {
        interface: on,
        ip_address,
        phys_address: MAC,
        static: isStatic,
      });

    test('one that is not static is created again with its interface up', async () => {
      const out = (enabled: boolean) => loop('out', { enabled, ip_addresses: ['10.1.1.1/24'] });
      const vlan = (enabled: boolean) =>
        keyedValue(vppInterfaceModel, {
          name: 'vlan',
          type: 'SUB_INTERFACE',
          enabled,
          ip_addresses: ['fd01::1/64'],
          sub: { parent_name: 'out', sub_id: 7 },
        });
      const all = [
        neighbor('10.1.1.8', 'out', true),
        neighbor('10.1.1.9', 'out'),
        neighbor('fd01::9', 'vlan'),
      ];
      await owner.commit('update', entries([out(true), vlan(true), ...all]));
      assert.deepEqual(await neighbors(), ['10.1.1.8', '10.1.1.9', 'fd01::9']);
      await owner.commit('update', entries([vlan(false)]));
      assert.deepEqual(await neighbors(), ['10.1.1.8', '10.1.1.9']);
      await owner.commit('update', entries([vlan(true), out(false)]));
      assert.deepEqual(await neighbors(), ['10.1.1.8']);
      await owner.commit('update', entries([out(true)]));
      assert.deepEqual(await neighbors(), ['10.1.1.8', '10.1.1.9', 'fd01::9']);
    });

    test('those of the configuration stay when an address that covers them is deleted', async () => {
      const out = (...ip_addresses: string[]) => loop('out', { enabled: true, ip_addresses });
      const all = [
        neighbor('10.1.1.8', 'out', true),
        neighbor('10.1.1.9', 'out'),
        neighbor('10.2.1.9', 'out'),
        neighbor('fd01::9', 'out'),
      ];
      const addresses = all.map(({ value }) => (value as VppArpEntry).ip_address);
      const both = ['10.1.1.1/24', 'fd01::1/64'];
      await owner.commit('full-resync', entries([out(...both), ...all]));
      for (const kept of [['fd01::1/64'], ['10.1.1.1/24', '10.2.1.1/16'], [], both]) {
        await owner.commit('update', entries([out(...kept)]));
        assert.deepEqual(await neighbors(), addresses);
        assert.deepEqual(await owner.commit('full-resync', entries([out(...kept), ...all])), []);
      }
      await owner.restart();
      await owner.commit('full-resync', entries([out(...both), ...all]));
      await owner.commit('update', [...entries([out()]), [all[1]!.key, null]]);
      assert.deepEqual(await neighbors(), ['10.1.1.8', '10.2.1.9', 'fd01::9']);
      await owner.commit('update', entries([out(...both)]));
      await owner.commit('update', [...entries([out()]), [all[3]!.key, null]]);
      assert.deepEqual(await neighbors(), ['10.1.1.8', '10.2.1.9']);
    });

    test('one that has become static stays, and the address is deleted without a failure', async () => {
      const out = (...ip_addresses: string[]) => loop('out', { enabled: true, ip_addresses });
      const learned = neighbor('10.1.1.9', 'out');
      const other = keyedValue(vppArpModel, {
        ...(learned.value as VppArpEntry),
        phys_address: '02:fe:00:00:00:0a',
        static: true,
      });
      for (const mode of ['update', 'full-resync'] as const) {
        await owner.commit('full-resync', entries([out('10.1.1.1/24'), learned]));
        if (mode === 'full-resync') await owner.restart();
        await owner.commit(mode, entries([out('10.1.1.1/24'), other]));
        await owner.commit('update', entries([out()]));
        assert.deepEqual(await neighbors(), ['10.1.1.9']);
        assert.deepEqual(await owner.commit('full-resync', entries([out(), other])), []);
      }
    });

    test('VPP removes those that a deleted address covers, also if another one does', async () => {
      const { client } = owner;
      const interfaces = await Promise.all(
        [1, 2].map(() => client.request('create_loopback', { mac_address: new Uint8Array(6) })),
      );
      const [{ sw_if_index }, other] = interfaces as [
        { sw_if_index: number },
        (typeof interfaces)[0],
      ];
      const setAddress = (prefix: string, is_add: boolean) =>
        client.request('sw_interface_add_del_address', {
          sw_if_index,
          is_add,
          del_all: false,
          prefix: toPrefix(prefix),
        });
      const add = (index: number, address: string, flags: number = 0) =>
        client.request('ip_neighbor_add_del', {
          is_add: true,
          neighbor: {
            sw_if_index: index,
            flags: flags | IpNeighborFlags.IP_API_NEIGHBOR_FLAG_NO_FIB_ENTRY,
            mac_address: toMac(MAC),
            ip_address: toAddress(address),
          },
        });
      for (const prefix of ['10.1.1.1/24', '10.1.1.2/24', 'fd01::1/64']) {
        await setAddress(prefix, true);
      }
      await add(sw_if_index, '10.1.1.8', IpNeighborFlags.IP_API_NEIGHBOR_FLAG_STATIC);
      for (const address of ['10.1.1.9', '10.2.1.9', 'fd01::9']) await add(sw_if_index, address);
      await add(other.sw_if_index, '10.1.1.10');
      await setAddress('10.1.1.2/24', false);
      assert.deepEqual(await neighbors(), ['10.1.1.10', '10.1.1.8', '10.2.1.9', 'fd01::9']);
      await setAddress('fd01::1/64', false);
      assert.deepEqual(await neighbors(), ['10.1.1.10', '10.1.1.8', '10.2.1.9']);
      for (const { sw_if_index: index } of interfaces) {
        await client.request('delete_loopback', { sw_if_index: index });
      }
    });
  });
}
