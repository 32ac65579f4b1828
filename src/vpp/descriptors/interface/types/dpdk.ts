import { defineError } from '#infra/errors/errors.ts';
import { checkField } from '#kvscheduler/api/check-field.ts';
import type { InterfaceTypeHandler } from './handler.ts';

export const NicNotFoundError = defineError({
  name: 'NicNotFoundError',
  code: 'CV_VPP_NO_SUCH_NIC',
  isRetriable: false,
  remedy:
    'Compare the name with `vppctl show interface`, and the NICs with the dpdk section of startup.conf.',
});

/**
 * A NIC exists since VPP started, under VPP's own name for it, which is also its logical name.
 * Creating the value makes the NIC managed (tag, MTU, state), deleting it makes it unmanaged.
 */
export const dpdk: InterfaceTypeHandler = {
  type: 'DPDK',
  mac: 'never',
  mtu: 'hardware',
  startsUp: false,
  downOnDelete: true,
  hasUniqueIdentity: false,

  validate(key, { phys_address }) {
    checkField(key, phys_address === '', 'phys_address', 'cannot be set for a NIC');
  },

  dependencies: () => [],
  settings: () => ({}),
  identity: () => undefined,

  async create(client, value) {
    // VPP's filter also matches parts of names
    const found = await client.dump('sw_interface_dump', {
      name_filter_valid: true,
      name_filter: value.name,
    });
    const exact = found.find((each) => each.interface_name === value.name);
    if (exact === undefined)
      throw new NicNotFoundError('VPP has no NIC of this name', { where: value.name });
    return { swIfIndex: exact.sw_if_index };
  },

  async delete(client, value, { swIfIndex }) {
    await client.request('sw_interface_tag_add_del', {
      is_add: false,
      sw_if_index: swIfIndex,
      tag: value.name,
    });
  },

  async dump(_client, { details }) {
    return details
      .filter((each) => each.interface_dev_type === 'dpdk')
      .map((each) => ({ swIfIndex: each.sw_if_index, fields: {}, identity: undefined }));
  },

  adopt: () => ({}),
};
