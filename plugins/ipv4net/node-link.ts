import type { Node } from '#plugins/nodesync/api.ts';
import type { NodeLink } from './api.ts';
import { vxlanTunnel } from './names.ts';
import { familyOf, type NodeInput, nodeIp } from './node-input.ts';
import type { ReachableNodes } from './reachable-nodes.ts';

export function nodeLink(input: NodeInput, reachable: ReachableNodes, node: Node): NodeLink {
  const address = reachable.find(node.name)?.address;
  if (address === undefined)
    return {
      address,
      tunnel: undefined,
      whyUnreachable: reachable.conflict(node.name) ?? whyWithoutAddress(input, node),
    };
  const isTunneled = input.routing.transport === 'vxlan';
  return {
    address,
    tunnel: isTunneled ? vxlanTunnel(node.id) : undefined,
    whyUnreachable: undefined,
  };
}

function whyWithoutAddress(input: NodeInput, node: Node): string {
  const own = nodeIp(input);
  if (own === undefined) return 'this node has no address on the network of the nodes';
  if (node.managementAddresses.length === 0)
    return 'its Node object has no address: it is joining or leaving the cluster';
  return `it has announced no IPv${familyOf(own)} address of its VPP`;
}
