import type { OwnNetwork } from '#plugins/nodesync/api.ts';
import { hasOverlay, hostAddresses, type NodeInput, withoutPrefixLength } from './node-input.ts';

/** Addresses and subnets that this node uses itself. */
export function ownNetwork(input: NodeInput): OwnNetwork {
  const { defaultGateways, main, others } = input;
  const plans = input.networks.map(({ addresses }) => addresses);
  const ofNics = [main, ...others].flatMap((nic) => nic.addresses.map(withoutPrefixLength));
  return {
    addresses: [...ofNics, ...hostAddresses(input)],
    gateways: defaultGateways,
    subnets: {
      'pod subnet': plans.map((one) => one.podSubnetAllNodes()),
      'service subnet': plans.map((one) => one.serviceSubnet()),
      'host link subnet': plans.map((one) => one.hostInterconnectSubnetAllNodes()),
      ...(hasOverlay(input) && {
        'VXLAN subnet': plans.map((one) => one.vxlanSubnet()),
      }),
    },
  };
}
