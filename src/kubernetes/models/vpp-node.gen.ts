// Made from vpp-node.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '#models/message.ts';

export const file: ProtoFile = {
  name: 'vpp-node.proto',
  imports: [],
  nested: { "vppnode": { "nested": { "VppNode": { "fields": { "id": { "type": "uint32", "id": 1 }, "name": { "type": "string", "id": 2 }, "ip_address": { "type": "string", "id": 3 }, "ip_addresses": { "rule": "repeated", "type": "string", "id": 5 }, "wireguard": { "type": "Wireguard", "id": 6 } }, "reserved": [ [ 4, 4 ], "management_ip_address" ] }, "Wireguard": { "fields": { "port": { "type": "uint32", "id": 1 }, "keys": { "rule": "repeated", "type": "WireguardKey", "id": 2 } } }, "WireguardKey": { "fields": { "public_key": { "type": "string", "id": 1 }, "is_replaced": { "type": "bool", "id": 2 } } } } } },
};

/**
 * Announcement of a node to the others: its ID and the addresses of its VPP.
 * Written by the node itself; other values with the reflector's prefix come from Kubernetes.
 */
export interface VppNode {
  /** Unique in the cluster, starting at 1; it determines the subnets of the node. */
  readonly id: number;
  readonly name: string;
  /** Deprecated: written by old agents; treated as an additional entry of ip_addresses. */
  readonly ip_address: string;
  /** CIDRs, both families. */
  readonly ip_addresses: readonly string[];
  /** Set while the node encrypts what it sends to other nodes; the original rejects a record with the field. */
  readonly wireguard?: Wireguard;
}
export const VppNode: MessageType<VppNode> = messageType(file, 'vppnode.VppNode');

/** How other nodes encrypt for a node. Private keys leave it never. */
export interface Wireguard {
  /** UDP port of the first session at the addresses of the node; that of the second one follows it. */
  readonly port: number;
  /** In the order of the sessions between two nodes: the first keys of both make the first one. */
  readonly keys: readonly WireguardKey[];
}
export const Wireguard: MessageType<Wireguard> = messageType(file, 'vppnode.Wireguard');

export interface WireguardKey {
  /** X25519, in Base64. */
  readonly public_key: string;
  /** Not to be used for packets, because the node replaces the key. */
  readonly is_replaced: boolean;
}
export const WireguardKey: MessageType<WireguardKey> = messageType(file, 'vppnode.WireguardKey');
