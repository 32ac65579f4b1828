import { familyOf } from '#models/ip.ts';
import type { Node } from '#plugins/nodesync/api.ts';
import type { NodeEncryption, NodeLink, Peer } from './api.ts';
import { vxlanTunnel, wireguardInterface } from './names.ts';
import { type NodeInput, nodeIp } from './node-input.ts';
import { nodeWay } from './node-way.ts';
import type { RemoteAddresses } from './remote-addresses.ts';
import type { Wiring } from './wiring.ts';

export function nodeLink(
  { input, remote, reachable, keys }: Pick<Wiring, 'input' | 'remote' | 'reachable' | 'keys'>,
  node: Node,
): NodeLink {
  const unreachable = (encryption: NodeEncryption, whyUnreachable: string): NodeLink => ({
    address: undefined,
    tunnel: undefined,
    encryptedBy: [],
    encryption: input.wireguard && encryption,
    whyUnreachable,
  });
  const address = reachable.find(node.name)?.address;
  if (address === undefined) {
    const reason = reachable.conflict(node.name) ?? whyWithoutAddress(input, remote, node);
    return unreachable('unreachable', reason);
  }
  const way = nodeWay(input, node, keys.of(node));
  if (way.kind === 'isolated') return unreachable('isolated', way.reason);
  const isEncrypted = way.kind === 'wireguard';
  if (isEncrypted && way.used.length === 0)
    return unreachable('no-session', 'no session of WireGuard with it is established');
  return {
    address,
    tunnel: way.kind === 'vxlan' ? vxlanTunnel(node.id) : undefined,
    encryptedBy: isEncrypted ? way.used.map(wireguardInterface) : [],
    encryption: input.wireguard && (isEncrypted ? 'encrypted' : 'clear-text'),
    whyUnreachable: undefined,
  };
}

/** The peers of each other node that encrypts. */
export function peersOfNodes(
  { input, reachable, keys }: Pick<Wiring, 'input' | 'reachable' | 'keys'>,
  nodes: Iterable<Node>,
): (readonly Peer[])[] {
  return [...nodes].flatMap((node) => {
    const way = reachable.find(node.name) && nodeWay(input, node, keys.of(node));
    return way?.kind === 'wireguard' ? [way.peers] : [];
  });
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
