/** REST documents about addresses, in the format that netctl and the telemetry validator read. */
import type { Allocations, IpamDocument } from '#documents/ipam.ts';
import type { IpFamily } from '#models/ip.ts';
import { addressList, type IpamConfig } from '#plugins/contivconf/api.ts';
import type { AttachmentId, PodId } from '#plugins/podmanager/api.ts';
import { familyOfAddress } from './address-pools.ts';
import { type Prefix, prefixText } from './prefix.ts';
import { clusterSubnets } from './subnets.ts';

/** Body of `GET /contiv/v1/ipam` with status 500 if the node has no address. */
export const NO_NODE_IP = 'Error getting node IP';

/** The subnets and the address of this node in one family. */
interface NodeNetwork {
  readonly family: IpFamily;
  readonly podSubnet: string;
  readonly vppHostSubnet: string;
  readonly overlayAddress?: string;
}

/**
 * `GET /contiv/v1/ipam`: the effective subnets, including those derived from contivCIDR. The fields of the original
 * are about the primary family, as are the networks in `config`.
 * @param node with its addresses as CIDRs, that by which other nodes reach it first
 * @throws AddressPlanError
 */
export function ipamDocument(
  config: IpamConfig,
  node: {
    readonly id: number;
    readonly name: string;
    readonly addresses: readonly string[];
    readonly networks: readonly [NodeNetwork, ...NodeNetwork[]];
  },
): IpamDocument {
  const [primary, ...others] = node.networks;
  const [first = '', ...more] = node.addresses.map((cidr) => cidr.split('/')[0]!);
  const services = addressList(config.serviceCidr);
  return {
    nodeId: node.id,
    nodeName: node.name,
    nodeIP: first,
    podSubnetThisNode: primary.podSubnet,
    vppHostNetwork: primary.vppHostSubnet,
    ...overlay(primary),
    config: withoutZeros({
      useExternalIPAM: config.useExternalIpam,
      contivCIDR: config.contivCidr,
      serviceCIDR: services.find((one) => familyOfAddress(one) === primary.family) ?? services[0],
      nodeInterconnectDHCP: config.nodeInterconnectDhcp,
      ...subnetsOf(config, primary.family),
      defaultGateway: config.defaultGateway,
      srv6: {},
    }),
    ...(others.length > 0 && {
      furtherNetworks: others.map(({ family, podSubnet, vppHostSubnet, ...network }) => ({
        nodeIP: more.find((one) => familyOfAddress(one) === family) ?? '',
        podSubnetThisNode: podSubnet,
        vppHostNetwork: vppHostSubnet,
        ...overlay(network),
        config: withoutZeros({
          serviceCIDR: services.find((one) => familyOfAddress(one) === family),
          ...subnetsOf(config, family),
        }),
      })),
    }),
  };
}

/**
 * The subnets of the cluster by their keys in `ipamConfig`: as configured, or derived from contivCIDR.
 * @throws AddressPlanError
 */
export function effectiveSubnets(config: IpamConfig): Readonly<Record<string, string | number>> {
  const { families, nodes, vxlan } = clusterSubnets(config);
  const [primary] = families;
  const texts = (prefixes: readonly Prefix[]): string => prefixes.map(prefixText).join(',');
  return {
    podSubnetCIDR: texts(families.map(({ pods }) => pods)),
    podSubnetOneNodePrefixLen: primary.podsOneNode,
    vppHostSubnetCIDR: texts(families.map(({ vppHost }) => vppHost)),
    vppHostSubnetOneNodePrefixLen: primary.vppHostOneNode,
    nodeInterconnectCIDR: texts(nodes),
    vxlanCIDR: texts(vxlan),
  };
}

function overlay({ overlayAddress }: Pick<NodeNetwork, 'overlayAddress'>) {
  return overlayAddress === undefined ? {} : { overlayAddress };
}

/** Those of one family. The nodes, and without an overlay VXLAN, may have another one than the pods. */
function subnetsOf(
  config: IpamConfig,
  family: IpFamily,
): Readonly<Record<string, string | number>> {
  const { families, nodes, vxlan } = clusterSubnets(config);
  const { pods, podsOneNode, vppHost, vppHostOneNode } = families.find(
    (one) => one.family === family,
  )!;
  const isPrimary = family === families[0].family;
  const text = (all: readonly Prefix[]): string => {
    const found = all.find((one) => one.family === family) ?? (isPrimary ? all[0] : undefined);
    return found ? prefixText(found) : '';
  };
  return {
    podSubnetCIDR: prefixText(pods),
    podSubnetOneNodePrefixLen: podsOneNode,
    vppHostSubnetCIDR: prefixText(vppHost),
    vppHostSubnetOneNodePrefixLen: vppHostOneNode,
    nodeInterconnectCIDR: text(nodes),
    vxlanCIDR: text(vxlan),
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

/**
 * `GET /contiv/v1/ipam/allocations`: addresses that pods own, sorted by pod; without reserved ones.
 * @param primary family of the addresses in the fields of the original, where a pod has one
 */
export function allocationsDocument(
  allocations: Iterable<Allocated>,
  primary: IpFamily,
): Allocations {
  const pods = new Map<string, { pod: PodId; byInterface: Map<string, string[]> }>();
  for (const { pod, attachment, address } of allocations) {
    if (attachment === undefined) continue;
    const key = pod.name === '' ? attachment : `${pod.namespace}/${pod.name}`;
    const entry = pods.get(key) ?? { pod, byInterface: new Map<string, string[]>() };
    const name = attachment.slice(attachment.indexOf('/') + 1);
    const addresses = entry.byInterface.get(name) ?? [];
    if (familyOfAddress(address) === primary) addresses.unshift(address);
    else addresses.push(address);
    entry.byInterface.set(name, addresses);
    pods.set(key, entry);
  }
  const sorted = [...pods].sort(([a], [b]) => (a < b ? -1 : 1));
  return { Pods: sorted.map(([, { pod, byInterface }]) => allocated(pod, [...byInterface])) };
}

function allocated(
  { name, namespace }: PodId,
  byInterface: readonly (readonly [name: string, addresses: readonly string[]])[],
): Allocations['Pods'][number] {
  const main = byInterface.find(([one]) => one === MAIN_INTERFACE) ?? byInterface[0]!;
  const custom = byInterface.filter((one) => one !== main);
  const further = byInterface.filter(([, addresses]) => addresses.length > 1);
  return {
    PodID: { Name: name, Namespace: namespace },
    MainIP: main[1][0]!,
    CustomIfIPs:
      custom.length > 0
        ? Object.fromEntries(custom.map(([one, [address = '']]) => [one, address]))
        : null,
    ...(further.length > 0 && {
      FurtherIPs: Object.fromEntries(further.map(([one, [, ...rest]]) => [one, rest])),
    }),
  };
}
