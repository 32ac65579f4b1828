/** How packets reach another node: a pure function of its record and of the keys and settings of this node. */

import type { Slot } from '#plugins/controller/api/ports/wireguard-keys.ts';
import type { Node } from '#plugins/nodesync/api.ts';
import type { NodeInput, WireguardInput } from './node-input.ts';
import type { PeerKey } from './peer-keys.ts';

export type NodeWay =
  | { readonly kind: 'vxlan' | 'nooverlay' }
  | {
      readonly kind: 'wireguard';
      /** One for each slot in which both nodes have a key. */
      readonly peers: readonly PeerKey[];
      /**
       * Of the sessions that encrypt packets to the node, which share its connections: a route that loses one of two paths
       * loses no packet. Empty: none is established.
       */
      readonly used: readonly Slot[];
    }
  /** Nothing may be sent to it in clear text. */
  | { readonly kind: 'isolated'; readonly reason: string };

/** @param keys those of the node that can be used */
export function nodeWay(input: NodeInput, node: Node, keys: readonly PeerKey[]): NodeWay {
  const { routing, wireguard } = input;
  if (routing.transport !== 'wireguard') return { kind: routing.transport };
  if (wireguard === undefined || isInClearText(wireguard, node)) return { kind: 'vxlan' };
  if (node.wireguard === undefined)
    return { kind: 'isolated', reason: 'it has published no key, and wireguardClearText is false' };
  if (wireguard.keys.length === 0)
    return { kind: 'isolated', reason: 'the keys of this node are not known' };
  const peers = keys.filter(({ slot }) => wireguard.keys.some((own) => own.slot === slot));
  if (peers.length === 0) return { kind: 'isolated', reason: 'none of its keys can be used' };
  const isReplaced = ({ slot, ...peer }: PeerKey): boolean =>
    peer.isReplaced || wireguard.keys.some((own) => own.slot === slot && own.isReplaced);
  // to a peer without a session VPP would lose packets of other nodes, too
  const established = peers.filter(({ isEstablished }) => isEstablished);
  const staying = established.filter((peer) => !isReplaced(peer));
  const used = (staying.length > 0 ? staying : established).map(({ slot }) => slot);
  return { kind: 'wireguard', peers, used };
}

/** A node with a key is never reached in clear text, also where none of its keys can be used. */
export function isInClearText({ clearText }: WireguardInput, node: Node): boolean {
  return clearText && node.wireguard === undefined;
}
