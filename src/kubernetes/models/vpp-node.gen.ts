// Made from vpp-node.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '#models/message.ts';

export const file: ProtoFile = {
  name: 'vpp-node.proto',
  imports: [],
  nested: { "vppnode": { "nested": { "VppNode": { "fields": { "id": { "type": "uint32", "id": 1 }, "name": { "type": "string", "id": 2 }, "ip_address": { "type": "string", "id": 3 }, "ip_addresses": { "rule": "repeated", "type": "string", "id": 5 } }, "reserved": [ [ 4, 4 ], "management_ip_address" ] } } } },
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
}
export const VppNode: MessageType<VppNode> = messageType(file, 'vppnode.VppNode');
