import { allSettled } from '#infra/rollback/rollback.ts';
import { defineInternalDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { Dependency, KvDescriptor, OperationContext } from '#kvscheduler/api/descriptor.ts';
import { parseCidr } from '#models/ip.ts';
import { interfaceAddressKey, interfaceNetworkKey, interfaceVrfKey } from '#models/vpp/derived.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import { toPrefix } from '../../binapi/addresses.ts';
import { ignoreNotFound, ignoreRetvals } from '../ignored-retvals.ts';
import type { VppDescriptorOptions } from '../options.ts';
import { networkOf } from './network.ts';

/** Nothing is left to restore: the interface was deleted, or the neighbor is static now. */
const notRestored = [-2, -116];

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
  learnedNeighbors,
}: VppDescriptorOptions): KvDescriptor<AddressValue, undefined> {
  const indexOf = (key: string, ctx: OperationContext): number => {
    const interfaceKey = vppInterfaceKey.build({ name: parts(key).iface });
    return ctx.metadata<VppInterfaceMetadata>(interfaceKey).swIfIndex;
  };
  const set = (key: string, isAdd: boolean, ctx: OperationContext): Promise<unknown> =>
    client.request('sw_interface_add_del_address', {
      sw_if_index: indexOf(key, ctx),
      is_add: isAdd,
      del_all: false,
      prefix: toPrefix(parts(key).address),
    });
  /** VPP removes configured neighbors with the address. The connection keeps the order of the requests. */
  const restoreNeighbors = (key: string, ctx: OperationContext): readonly Promise<unknown>[] => {
    const cidr = parseCidr(parts(key).address);
    const removed = cidr ? learnedNeighbors.coveredBy(indexOf(key, ctx), cidr) : [];
    return removed.map((neighbor) =>
      ignoreRetvals(client.request('ip_neighbor_add_del', { is_add: true, neighbor }), notRestored),
    );
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
      delete(key, _value, _metadata, ctx) {
        const request = ignoreNotFound(set(key, false, ctx));
        const neighbors = restoreNeighbors(key, ctx);
        if (neighbors.length === 0) return request;
        return allSettled([request, ...neighbors]).then(() => undefined);
      },
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
