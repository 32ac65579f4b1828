// Made from vpp/wireguard.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '../message.ts';

export const file: ProtoFile = {
  name: 'vpp/wireguard.proto',
  imports: [],
  nested: { "ligato": { "nested": { "vpp": { "nested": { "wireguard": { "nested": { "Peer": { "fields": { "public_key": { "type": "string", "id": 1 }, "port": { "type": "uint32", "id": 2 }, "persistent_keepalive": { "type": "uint32", "id": 3 }, "endpoint": { "type": "string", "id": 4 }, "wg_if_name": { "type": "string", "id": 5 }, "allowed_ips": { "rule": "repeated", "type": "string", "id": 7 }, "next_hops": { "rule": "repeated", "type": "string", "id": 8 } } } } } } } } } },
};

export interface Peer {
  /** Base64 of the 32 bytes. */
  readonly public_key: string;
  /** UDP port of the endpoint. */
  readonly port: number;
  /** In seconds; 0: none. */
  readonly persistent_keepalive: number;
  /** Address of the endpoint. */
  readonly endpoint: string;
  /** Logical name of the WireGuard interface. */
  readonly wg_if_name: string;
  /** Networks whose packets are accepted from the peer, and to which its next hops belong. */
  readonly allowed_ips: readonly string[];
  /**
   * Addresses on the interface by which routes lead to the peer. A route to each of them, by itself, must exist as
   * long as the peer. Contiv/VPP has no such field.
   */
  readonly next_hops: readonly string[];
}
export const Peer: MessageType<Peer> = messageType(file, 'ligato.vpp.wireguard.Peer');
