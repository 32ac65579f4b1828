import type { ContivConfApi } from '#plugins/contivconf/api.ts';
import type { IpamApi } from '#plugins/ipam/api.ts';
import type { Ipv4NetApi } from '#plugins/ipv4net/api.ts';
import { type NodeSyncApi, whyNoHost } from '#plugins/nodesync/api.ts';
import type { PolicyNode } from './rendered-state.ts';

export interface PolicyNodeDeps {
  readonly conf: ContivConfApi;
  readonly nodes: NodeSyncApi;
  readonly ipam: IpamApi;
  readonly net: Ipv4NetApi;
}

/** This node as policies see it. */
export function policyNode({ conf, nodes, ipam, net }: PolicyNodeDeps): PolicyNode {
  const plans = ipam.families();
  const cidrs = [
    ...net.nodeAddresses(),
    ...conf.otherInterfaces().flatMap(({ addresses }) => addresses),
    ...plans.flatMap((plan) => [plan.hostInterconnectVpp(), plan.hostInterconnectLinux()]),
  ];
  const addresses = [
    ...cidrs.map((cidr) => cidr.split('/')[0] ?? ''),
    ...net.hostAddresses(),
    ...nodes.thisNode().managementAddresses.filter((one) => whyNoHost(one) === undefined),
    ...plans.map((plan) => plan.podGateway()),
  ];
  return {
    addresses: [...new Set(addresses)].sort(),
    natLoopbacks: plans.map((plan) => plan.natLoopback()),
    podSubnets: plans.map((plan) => plan.podSubnetThisNode()),
    // the host is reached without them; packets leave by NICs after source NAT
    interfaces: [net.vrfLink(), ...net.overlayInterfaces()],
    nics: [net.mainInterface(), ...net.otherInterfaces()],
    hostLink: net.hostInterconnect(),
  };
}
