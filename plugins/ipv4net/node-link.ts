import { familyOf } from '#models/ip.ts';
import type { Node } from '#plugins/nodesync/api.ts';
import type { NodeLink } from './api.ts';
import { vxlanTunnel } from './names.ts';
import { type NodeInput, nodeIp } from './node-input.ts';
import type { RemoteAddresses } from './remote-addresses.ts';
import type { Wiring } from './wiring.ts';

export function nodeLink(
  { input, remote, reachable }: Pick<Wiring, 'input' | 'remote' | 'reachable'>,
  node: Node,
): NodeLink {
  const address = reachable.find(node.name)?.address;
  if (address === undefined)
    return {
      address,
      tunnel: undefined,
      whyUnreachable: reachable.conflict(node.name) ?? whyWithoutAddress(input, remote, node),
    };
  const isTunneled = input.routing.transport === 'vxlan';
  return {
    address,
    tunnel: isTunneled ? vxlanTunnel(node.id) : undefined,
    whyUnreachable: undefined,
  };
}

function whyWithoutAddress(input: NodeInput, remote: RemoteAddresses, node: Node): string {
  const own = nodeIp(input);
  if (own === undefined) return 'this node has no address on the network of the nodes';
  if (node.namesake !== undefined)
    return `it has no Node object: the name of ${node.namesake} differs in upper and lower case`;
  if (node.managementAddresses.length === 0)
    return 'its Node object has no address: it is joining or leaving the cluster';
  const [refused] = remote.refusedTunnelEnds(node);
  if (refused !== undefined)
    return `it announces ${refused.address}, which ${refused.refusal.phrase}`;
  return `it has announced no IPv${familyOf(own)} address of its VPP`;
}
