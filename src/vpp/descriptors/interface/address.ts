import { defineInternalDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor, OperationContext } from '#kvscheduler/api/descriptor.ts';
import { interfaceAddressKey, interfaceVrfKey } from '#models/vpp/derived.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import { toPrefix } from '../../binapi/addresses.ts';
import { ignoreNotFound, ignoreRetvals } from '../ignored-retvals.ts';
import type { VppDescriptorOptions } from '../options.ts';

/** The same address on the same interface twice. */
const DUPLICATE_ADDRESS = -127;

/** Which table the address is in: an address stands only once in a table. */
export interface AddressValue {
  readonly vrf: number;
}

/**
 * An address of an interface; reads back with the interface. Which table the interface is in can
 * only be changed while it has none.
 */
export function interfaceAddressDescriptor({
  client,
}: VppDescriptorOptions): KvDescriptor<AddressValue, undefined> {
  const set = (key: string, isAdd: boolean, ctx: OperationContext): Promise<unknown> => {
    const { iface, address } = parts(key);
    const { swIfIndex } = ctx.metadata<VppInterfaceMetadata>(
      vppInterfaceKey.build({ name: iface }),
    );
    return client.request('sw_interface_add_del_address', {
      sw_if_index: swIfIndex,
      is_add: isAdd,
      del_all: false,
      prefix: toPrefix(address),
    });
  };
  return defineInternalDescriptor(
    'vpp-interface-address',
    { keys: [interfaceAddressKey] },
    {
      dependencies: (key) => {
        const prefix = interfaceVrfKey.prefix({ iface: parts(key).iface });
        return [{ label: 'interface-assigned-to-vrf-table', anyOf: { prefixes: [prefix] } }];
      },
      // One that moves to another interface goes there before it comes here. One that DHCP gave is
      // not ours to place.
      claims: (key, { vrf }) => {
        const { source, address } = parts(key);
        return source === 'from_dhcp' ? [] : [`address/${vrf}/${address.split('/')[0]}`];
      },
      async create(key, _value, ctx) {
        await ignoreRetvals(set(key, true, ctx), [DUPLICATE_ADDRESS]);
        return undefined;
      },
      delete: (key, _value, _metadata, ctx) => ignoreNotFound(set(key, false, ctx)),
    },
  );
}

function parts(key: string): {
  readonly iface: string;
  readonly source: string;
  readonly address: string;
} {
  const parsed = interfaceAddressKey.parse(key);
  if (parsed === undefined) throw new TypeError(`${key} is no key of an interface address`);
  return parsed;
}
