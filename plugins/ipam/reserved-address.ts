import { contains, parseCidr, parseIp } from '#models/ip.ts';
import type { Node, NodeSyncApi } from '#plugins/nodesync/api.ts';
import { familyOfAddress } from './address-pools.ts';
import type { FamilyPlan } from './family-plan.ts';
import { addressText, lastAddress, parsePrefix } from './prefix.ts';

/**
 * Why no pod can have the address; undefined if one can.
 * @param address in its canonical text, without prefix length
 */
export function whyReserved(
  address: string,
  families: readonly FamilyPlan[],
  nodes: Pick<NodeSyncApi, 'thisNode' | 'allNodes'>,
): string | undefined {
  const plan = families.find(({ family }) => family === familyOfAddress(address));
  if (!plan) return 'of another family than the pods';
  const podSubnet = parsePrefix(plan.podSubnetThisNode(), 'podCIDR');
  const { family, base } = podSubnet;
  if (address === addressText(family, base)) return 'the network address of the pod subnet';
  if (address === plan.podGateway()) return 'the gateway of the pods';
  if (address === plan.natLoopback()) return 'the NAT loopback';
  if (family === 4 && address === addressText(family, lastAddress(podSubnet)))
    return 'the broadcast address of the pod subnet';
  const hostLink = [plan.hostInterconnectVpp(), plan.hostInterconnectLinux()];
  if (hostLink.map(withoutLength).includes(address)) return 'an address of the link to the host';
  // an address of the pods is none of another node, whatever its records say
  const isOfPods = contains(parseCidr(plan.podSubnetAllNodes())!, parseIp(address)!);
  const candidates = isOfPods ? [nodes.thisNode()] : nodes.allNodes().values();
  const owner = ownerOf(candidates, address);
  return owner === undefined ? undefined : `an address of node ${owner}`;
}

function ownerOf(nodes: Iterable<Node>, address: string): string | undefined {
  for (const { name, vppAddresses, managementAddresses } of nodes)
    if ([...vppAddresses.map(withoutLength), ...managementAddresses].includes(address)) return name;
  return undefined;
}

function withoutLength(cidr: string): string {
  return cidr.split('/')[0]!;
}
