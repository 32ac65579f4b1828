/** Interfaces that VPP has by itself: they are taken over and given back. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { toMac } from '#vpp/binapi/addresses.ts';
import { NicNotFoundError } from '#vpp/descriptors/interface/types/dpdk.ts';
import { Driver } from './driver.ts';
import { keyedValue } from './example-values.ts';
import { entries, type SharedVpp, SharedVppAgent } from './shared-vpp-agent.ts';

export function nicSuite(start: () => Promise<SharedVpp>): void {
  describe('NICs', () => {
    const owner = new SharedVppAgent(start);

    /** An unmanaged interface with VPP's name for it. */
    const withNic = async (
      then: (name: string, sw_if_index: number) => Promise<void>,
    ): Promise<void> => {
      const host_if_name = owner.hostLink;
      const { sw_if_index } = await owner.client.request('af_packet_create_v3', {
        mode: 1,
        hw_addr: toMac('02:fe:00:00:00:55'),
        use_random_hw_addr: false,
        host_if_name,
        rx_frame_size: 0,
        tx_frame_size: 0,
        rx_frames_per_block: 0,
        tx_frames_per_block: 0,
        flags: 0,
      });
      try {
        await then(`host-${host_if_name}`, sw_if_index);
        await owner.commit('full-resync', []);
      } finally {
        await owner.client.request('af_packet_delete', { host_if_name });
      }
    };

    test('an interface of VPP becomes managed and unmanaged again', () =>
      withNic(async (name, sw_if_index) => {
        const readState = async (): Promise<unknown> => {
          const found = await owner.client.dump('sw_interface_dump', {
            sw_if_index,
            name_filter_valid: false,
            name_filter: '',
          });
          // the link of an interface that was up and is down again is down as well
          return found.map((each) => ({ ...each, flags: each.flags & 1 }));
        };
        const theirs = await readState();
        const nic = keyedValue(vppInterfaceModel, {
          name,
          type: 'DPDK',
          enabled: true,
          ip_addresses: ['192.168.16.1/24'],
        });
        await owner.commit('full-resync', entries([nic]));
        await owner.assertReadsBack([nic]);
        await owner.commit('full-resync', []);
        assert.deepEqual(await readState(), theirs);
      }));

    test('VLANs keep their MTU when that of the NIC changes', () =>
      withNic(async (name) => {
        const nic = (mtu: number) => keyedValue(vppInterfaceModel, { name, type: 'DPDK', mtu });
        const vlans = [0, 1300].map((mtu, position) =>
          keyedValue(vppInterfaceModel, {
            name: `vlan-${position}`,
            type: 'SUB_INTERFACE',
            mtu,
            sub: { parent_name: name, sub_id: 10 + position },
          }),
        );
        await owner.applyInTurn(
          [nic(1450), ...vlans],
          [nic(1400), ...vlans],
          [nic(1300), ...vlans],
          [nic(1450), ...vlans],
        );
      }));

    test('a NIC that VPP does not have fails once and is not retried', async () => {
      const driver = new Driver(owner.descriptors());
      const nic = keyedValue(vppInterfaceModel, { name: 'GigabitEthernet0/99/0', type: 'DPDK' });
      const failure = await driver.put(nic.key, nic.value).catch((thrown: Error) => thrown);
      assert.ok(failure instanceof NicNotFoundError);
      assert.equal(failure.isRetriable, false);
    });
  });
}
