import { defineInternalDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor } from '#kvscheduler/api/descriptor.ts';
import { formatIp, network, parseCidr } from '#models/ip.ts';
import { interfaceNetworkKey, interfaceVrfKey } from '#models/vpp/derived.ts';

/**
 * The network of an address, by its first address; undefined for the address of a single host. Networks
 * with the same first address overlap, whatever their lengths are.
 */
export function networkOf(address: string): string | undefined {
  const cidr = parseCidr(address);
  if (cidr === undefined || cidr.length === cidr.address.length * 8) return undefined;
  return formatIp(network(cidr).address);
}

/**
 * A property that exists while the interface has addresses of the network. It sends no request to VPP, but
 * claims the network: VPP refuses an address whose network is on another interface of the table. So a
 * network that moves is released before it is taken, although its addresses differ.
 */
export function interfaceNetworkDescriptor(): KvDescriptor<object, undefined> {
  return defineInternalDescriptor(
    'vpp-interface-network',
    { keys: [interfaceNetworkKey] },
    {
      // as the addresses: without its table the interface takes no network
      dependencies: (key) => {
        const { iface = '' } = interfaceNetworkKey.parse(key) ?? {};
        const prefixes = [interfaceVrfKey.prefix({ iface })];
        return [{ label: 'interface-assigned-to-vrf-table', anyOf: { prefixes } }];
      },
      claims: (key) => {
        const { vrf, network: first } = interfaceNetworkKey.parse(key) ?? {};
        return [`network/${vrf}/${first}`];
      },
      create: async () => undefined,
      delete: async () => undefined,
    },
  );
}
