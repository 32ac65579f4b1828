import { fromMac, toMac } from '../../binapi/addresses.ts';
import type { InterfaceKind } from './kind.ts';

const anyMac = new Uint8Array(6);

/** A loopback is known by its tag, or where it has none yet by the MAC that it was given. */
export const loopback: InterfaceKind = {
  type: 'SOFTWARE_LOOPBACK',
  tagsItself: false,
  mac: 'create',
  mtu: true,
  downOnDelete: true,
  validate: () => undefined,
  dependencies: () => [],
  settings: () => ({}),
  identity: ({ phys_address }) => (phys_address === '' ? undefined : `loopback/${phys_address}`),

  async create(client, value) {
    const mac_address = value.phys_address === '' ? anyMac : toMac(value.phys_address);
    const { sw_if_index } = await client.request('create_loopback', { mac_address });
    return { swIfIndex: sw_if_index };
  },

  async delete(client, _value, { swIfIndex }) {
    await client.request('delete_loopback', { sw_if_index: swIfIndex });
  },

  async dump(_client, { details }) {
    return details
      .filter((each) => each.interface_dev_type === 'Loopback')
      .map((each) => ({
        swIfIndex: each.sw_if_index,
        fields: {},
        identity: `loopback/${fromMac(each.l2_address)}`,
      }));
  },

  adopt: () => ({}),
};
