/**
 * The addresses of nodes that no Node object has: at both ends of the link between VPP and the host, at the NICs and the overlay of
 * VPP, and the gateway of the pods. Pods reach the node by them, too. Most follow from the ID of the node.
 */
import type { Slices } from '#infra/clock/slices.ts';
import { parseIp } from '#models/ip.ts';
import { podGatewayOf, unusableNodeIds } from '#plugins/ipam/api.ts';
import { AddressRules, type Node } from '#plugins/nodesync/api.ts';
import type { OwnAddresses } from './cache/node-table.ts';
import { type PolicyNodeDeps, policyNode } from './policy-node.ts';

/** Of all nodes with an ID. */
export async function allOwnAddresses(deps: PolicyNodeDeps, slices: Slices): Promise<OwnAddresses> {
  const addressesOf = ownAddressesOf(deps);
  const all = new Map<string, readonly string[]>();
  for (const node of deps.nodes.allNodes().values()) {
    const object = objectName(node);
    all.set(object, union([all.get(object) ?? [], addressesOf(node)]));
    if (slices.due()) await slices.turn();
  }
  return all;
}

/** Of all nodes that have the Node object of this name: records may be left of a name that differs in case. */
export function ownAddressesOfObject(deps: PolicyNodeDeps, object: string): readonly string[] {
  const nodes = [...deps.nodes.allNodes().values()].filter((node) => objectName(node) === object);
  return nodes.length === 0 ? [] : union(nodes.map(ownAddressesOf(deps)));
}

function union(lists: readonly (readonly string[])[]): readonly string[] {
  return [...new Set(lists.flat())].sort();
}

/** Of one node; the link to the host is its whole subnet, so that those of many nodes are one prefix. */
function ownAddressesOf(deps: PolicyNodeDeps): (node: Node) => readonly string[] {
  const { nodes, ipam, net } = deps;
  const own = nodes.thisNode().id;
  const whyUnusable = unusableNodeIds(ipam.settings(), net.defaultGateway());
  const rules = new AddressRules(net.ownNetwork());
  const hasOverlay = net.vxlanBvi() !== undefined;
  return ({ id, vppAddresses }) => {
    const announced = vppAddresses.map(withoutPrefixLength);
    // an address of a record that leads elsewhere is none of the node
    const ofRecord =
      id === own
        ? policyNode(deps).addresses
        : announced.filter((one) => rules.whyNot('tunnel end', parseIp(one)) === undefined);
    if (whyUnusable(id) !== undefined) return ofRecord;
    const computed = ipam
      .families()
      .flatMap((plan) => [
        plan.hostInterconnectSubnetOtherNode(id),
        podGatewayOf(plan.podSubnetOtherNode(id)),
        ...(hasOverlay && plan.vxlanSubnet() !== ''
          ? [withoutPrefixLength(plan.vxlanAddress(id))]
          : []),
      ]);
    return [...ofRecord, ...computed];
  };
}

/** The name of the Node object of a node. */
export function objectName({ name, namesake = name }: Node): string {
  return namesake;
}

function withoutPrefixLength(cidr: string): string {
  return cidr.split('/')[0] ?? '';
}
