/** REST documents about addresses, in the format that netctl and the telemetry validator read. */
import type { Allocations, IpamDocument } from '#documents/ipam.ts';
import type { IpamConfig } from '#plugins/contivconf/api.ts';
import type { AttachmentId, PodId } from '#plugins/podmanager/api.ts';
import { prefixText } from './prefix.ts';
import { clusterSubnets } from './subnets.ts';

/** Body of `GET /contiv/v1/ipam` with status 500 if the node has no address. */
export const NO_NODE_IP = 'Error getting node IP';

/**
 * `GET /contiv/v1/ipam`: the effective subnets, including those derived from contivCIDR.
 * @param node with its address as CIDR
 * @throws AddressPlanError
 */
export function ipamDocument(
  config: IpamConfig,
  node: {
    readonly id: number;
    readonly name: string;
    readonly address: string;
    readonly podSubnet: string;
    readonly vppHostSubnet: string;
  },
): IpamDocument {
  return {
    nodeId: node.id,
    nodeName: node.name,
    nodeIP: node.address.split('/')[0]!,
    podSubnetThisNode: node.podSubnet,
    vppHostNetwork: node.vppHostSubnet,
    config: withoutZeros({
      useExternalIPAM: config.useExternalIpam,
      contivCIDR: config.contivCidr,
      serviceCIDR: config.serviceCidr,
      nodeInterconnectDHCP: config.nodeInterconnectDhcp,
      ...effectiveSubnets(config),
      defaultGateway: config.defaultGateway,
      srv6: {},
    }),
  };
}

/**
 * The subnets of the cluster by their keys in `ipamConfig`: as configured, or derived from contivCIDR.
 * @throws AddressPlanError
 */
export function effectiveSubnets(config: IpamConfig): Readonly<Record<string, string | number>> {
  const cluster = clusterSubnets(config);
  return {
    podSubnetCIDR: prefixText(cluster.pods),
    podSubnetOneNodePrefixLen: cluster.podsOneNode,
    vppHostSubnetCIDR: prefixText(cluster.vppHost),
    vppHostSubnetOneNodePrefixLen: cluster.vppHostOneNode,
    nodeInterconnectCIDR: cluster.nodes ? prefixText(cluster.nodes) : '',
    vxlanCIDR: prefixText(cluster.vxlan),
  };
}

function withoutZeros(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => Boolean(value)));
}

interface Allocated {
  readonly address: string;
  readonly pod: PodId;
  /** undefined: reserved. */
  readonly attachment: AttachmentId | undefined;
}

const MAIN_INTERFACE = 'eth0';

/** `GET /contiv/v1/ipam/allocations`: addresses that pods own, sorted by pod; without reserved ones. */
export function allocationsDocument(allocations: Iterable<Allocated>): Allocations {
  const pods = new Map<string, { pod: PodId; byInterface: [string, string][] }>();
  for (const { pod, attachment, address } of allocations) {
    if (attachment === undefined) continue;
    const key = pod.name === '' ? attachment : `${pod.namespace}/${pod.name}`;
    const entry = pods.get(key) ?? { pod, byInterface: [] };
    entry.byInterface.push([attachment.slice(attachment.indexOf('/') + 1), address]);
    pods.set(key, entry);
  }
  const sorted = [...pods].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    Pods: sorted.map(([, { pod, byInterface }]) => {
      const main = byInterface.find(([name]) => name === MAIN_INTERFACE) ?? byInterface[0]!;
      const custom = byInterface.filter((one) => one !== main);
      return {
        PodID: { Name: pod.name, Namespace: pod.namespace },
        MainIP: main[1],
        CustomIfIPs: custom.length > 0 ? Object.fromEntries(custom) : null,
      };
    }),
  };
}
