import { formatIp, parseIp } from '#models/ip.ts';
import type { ContivConfApi } from '#plugins/contivconf/api.ts';
import { familyOfAddress, type IpamApi } from '#plugins/ipam/api.ts';
import type { Ipv4NetApi } from '#plugins/ipv4net/api.ts';
import { AddressRules, type Node, type NodeSyncApi } from '#plugins/nodesync/api.ts';
import type { ServiceConfig } from './config.ts';
import type { EtcdEndpoint, LocalNode } from './processor/local-node.ts';
import type { OtherNode } from './processor/other-nodes.ts';
import type { AddressedNode } from './socket/node-addresses.ts';

export interface LocalNodeDeps {
  readonly config: Pick<ServiceConfig, 'disableExternalIPs'>;
  readonly nodeName: string;
  /** Endpoints of the etcd of the agent, as it is configured. */
  readonly etcdEndpoints: readonly string[];
  readonly conf: ContivConfApi;
  readonly nodes: NodeSyncApi;
  readonly ipam: IpamApi;
  readonly net: Ipv4NetApi;
}

export function otherNode(
  net: Pick<Ipv4NetApi, 'routedAddresses' | 'ownNetwork'>,
  node: Node,
): OtherNode {
  const { name, managementAddresses, vppAddresses } = node;
  return {
    name,
    routedAddresses: net.routedAddresses(node),
    addresses: [...managementAddresses, ...vppAddresses.map(withoutPrefixLength)],
    nodePortAddresses: nodePortAddresses(net, node),
  };
}

/** All nodes with the addresses at which sockets of this node reach node ports. */
export function addressedNodes(
  { nodes, net }: Pick<LocalNodeDeps, 'nodes' | 'net'>,
  { name: ownName, addresses }: LocalNode,
): AddressedNode[] {
  const others = [...nodes.allNodes().values()].filter(({ name }) => name !== ownName);
  return [
    { name: ownName, addresses },
    ...others.map((node) => ({ name: node.name, addresses: nodePortAddresses(net, node) })),
  ];
}

/** Of another node: those that lead to it, so that nothing is led astray by them which would not be without them. */
export function nodePortAddresses(
  net: Pick<Ipv4NetApi, 'routedAddresses' | 'ownNetwork'>,
  node: Node,
): readonly string[] {
  const rules = new AddressRules(net.ownNetwork());
  const ofVpp = node.vppAddresses
    .map(withoutPrefixLength)
    .filter((one) => rules.whyNot('node port', parseIp(one)) === undefined);
  return [...net.routedAddresses(node), ...ofVpp];
}

function withoutPrefixLength(cidr: string): string {
  return cidr.split('/')[0] ?? '';
}

const DHCP_CLIENT_PORT = 68;

function isOneOf(addresses: readonly string[]): (address: string) => boolean {
  const all = new Set(addresses);
  return (address) => all.has(address);
}

/** With or without scheme; a name is none: it may lead to other addresses later. */
const ENDPOINT = /^(?:\w+:\/\/)?(?:\[(?<ipv6>[^\]]+)\]|(?<ipv4>[\d.]+)):(?<port>\d+)\/?$/;

function endpointsOfEtcd(texts: readonly string[]): EtcdEndpoint[] {
  return texts.flatMap((text) => {
    const { ipv6, ipv4, port } = ENDPOINT.exec(text)?.groups ?? {};
    const address = parseIp(ipv6 ?? ipv4 ?? '');
    return address === undefined ? [] : [{ address: formatIp(address), port: Number(port) }];
  });
}

/**
 * This node as the processor needs it.
 * @param servesIpv6Outside whether clients outside of the cluster are served in IPv6
 */
export function localNode(deps: LocalNodeDeps, servesIpv6Outside: boolean): LocalNode {
  const { nodeName, etcdEndpoints, config, conf, nodes, ipam, net } = deps;
  const cidrs = [...net.nodeAddresses(), ...conf.otherInterfaces().flatMap((one) => one.addresses)];
  const addresses = [
    ...cidrs.map(withoutPrefixLength),
    ...net.hostAddresses(),
    ...nodes.thisNode().managementAddresses,
  ];
  const plans = ipam.families();
  const families = plans.map(({ family }) => family);
  const ofHost = nodes.thisNode().managementAddresses.filter(isOneOf(net.hostAddresses()));
  const otherNodes = [...nodes.allNodes().values()].filter(({ name }) => name !== nodeName);
  return {
    name: nodeName,
    families,
    familiesOutside: families.filter((family) => family === 4 || servesIpv6Outside),
    hasExternalIps: !config.disableExternalIPs,
    hostSources: families.flatMap(
      (family) => ofHost.find((one) => familyOfAddress(one) === family) ?? [],
    ),
    addresses: [...new Set(addresses)].filter((address) => address !== ''),
    podSubnets: plans.map((one) => one.podSubnetAllNodes()),
    ownPodSubnets: plans.map((one) => one.podSubnetThisNode()),
    network: net.ownNetwork(),
    otherNodes: otherNodes.map((node) => otherNode(net, node)),
    etcdEndpoints: endpointsOfEtcd(etcdEndpoints),
    neededPorts: [
      ...net.overlayPorts().map((one) => ({ protocol: 'UDP' as const, ...one })),
      ...(conf.mainInterface().useDhcp
        ? [{ protocol: 'UDP' as const, port: DHCP_CLIENT_PORT, user: 'the DHCP client' }]
        : []),
    ],
  };
}
