import { fnv1a32 } from '#models/fnv.ts';
import type { VppInterface } from '#models/vpp/interface.ts';
import { fromMac, toMac } from '../../../binapi/addresses.ts';
import { IfType } from '../../../binapi/enums.gen.ts';
import type { InterfaceTypeHandler } from './handler.ts';

/**
 * If the configuration sets no MAC, the loopback gets one computed from its name instead of VPP's next
 * one. It identifies the loopback if its creator crashed before tagging it.
 */
function macOf(value: VppInterface): string {
  if (value.phys_address !== '') return value.phys_address;
  const hash = fnv1a32(`loopback/${value.name}`);
  return fromMac(Uint8Array.of(0x02, 0xfe, hash >>> 24, hash >>> 16, hash >>> 8, hash));
}

export const loopback: InterfaceTypeHandler = {
  type: 'SOFTWARE_LOOPBACK',
  mac: 'create',
  mtu: 'software',
  startsUp: false,
  downOnDelete: true,
  hasUniqueIdentity: false,
  validate: () => undefined,
  dependencies: () => [],
  settings: () => ({}),
  identity: (value) => `loopback/${macOf(value)}`,

  async create(client, value) {
    const { sw_if_index } = await client.request('create_loopback', {
      mac_address: toMac(macOf(value)),
    });
    return { swIfIndex: sw_if_index };
  },

  async delete(client, _value, { swIfIndex }) {
    await client.request('delete_loopback', { sw_if_index: swIfIndex });
  },

  async dump(_client, { details }) {
    const { IF_API_TYPE_HARDWARE: itself } = IfType;
    return details
      .filter((each) => each.interface_dev_type === 'Loopback' && each.type === itself)
      .map((each) => ({
        swIfIndex: each.sw_if_index,
        fields: {},
        identity: `loopback/${fromMac(each.l2_address)}`,
      }));
  },

  adopt: () => ({}),
};
