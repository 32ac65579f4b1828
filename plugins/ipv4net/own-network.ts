import { effectiveSubnets } from '#plugins/ipam/api.ts';
import type { OwnNetwork } from '#plugins/nodesync/api.ts';
import { type NodeInput, withoutPrefixLength } from './node-input.ts';

/** Addresses and subnets that this node uses itself. */
export function ownNetwork(input: NodeInput): OwnNetwork {
  const { addresses, defaultGateway, hostAddresses, main, others, routing } = input;
  const ofNics = [main, ...others].flatMap((nic) => nic.addresses.map(withoutPrefixLength));
  return {
    addresses: [...ofNics, ...hostAddresses],
    gateway: defaultGateway,
    subnets: {
      'pod subnet': addresses.podSubnetAllNodes(),
      'service subnet': addresses.serviceSubnet(),
      'host link subnet': addresses.hostInterconnectSubnetAllNodes(),
      ...(routing.transport === 'vxlan' && {
        'VXLAN subnet': String(effectiveSubnets(addresses.settings())['vxlanCIDR']),
      }),
    },
  };
}
