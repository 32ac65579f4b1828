import { defineInternalDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { Dependency, KvDescriptor, OperationContext } from '#kvscheduler/api/descriptor.ts';
import { interfaceAddressKey, interfaceNetworkKey, interfaceVrfKey } from '#models/vpp/derived.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import { toPrefix } from '../../binapi/addresses.ts';
import { ignoreNotFound, ignoreRetvals } from '../ignored-retvals.ts';
import type { VppDescriptorOptions } from '../options.ts';
import { networkOf } from './network.ts';

/** The interface already has the address. */
const DUPLICATE_ADDRESS = -127;

/** The table of the address: an address can exist only once in a table. */
export interface AddressValue {
  readonly vrf: number;
}

/**
 * An address of an interface; read back with the interface. The table of the interface can be changed
 * only while it has no address.
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
      dependencies: (key, value) => dependencies(key, value),
      // An address that moves is deleted from its old interface first. DHCP places its own addresses.
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

function dependencies(key: string, { vrf }: AddressValue): readonly Dependency[] {
  const { iface, source, address } = parts(key);
  const table = {
    label: 'interface-assigned-to-vrf-table',
    anyOf: { prefixes: [interfaceVrfKey.prefix({ iface })] },
  };
  const network = source === 'from_dhcp' ? undefined : networkOf(address);
  if (network === undefined) return [table];
  const networkKey = interfaceNetworkKey.build({ iface, vrf, network });
  return [table, { label: 'network-on-no-other-interface', key: networkKey }];
}

function parts(key: string): {
  readonly iface: string;
  readonly source: string;
  readonly address: string;
} {
  const parsed = interfaceAddressKey.parse(key);
  if (parsed === undefined) throw new TypeError(`${key} is not a key of an interface address`);
  return parsed;
}
