// Made from vpp-node.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '#models/message.ts';

export const file: ProtoFile = {
  name: 'vpp-node.proto',
  imports: [],
  nested: { "vppnode": { "nested": { "VppNode": { "fields": { "id": { "type": "uint32", "id": 1 }, "name": { "type": "string", "id": 2 }, "ip_address": { "type": "string", "id": 3 }, "ip_addresses": { "rule": "repeated", "type": "string", "id": 5 } }, "reserved": [ [ 4, 4 ], "management_ip_address" ] } } } },
};

/**
 * What the nodes tell each other: which ID a node holds and under which addresses its VPP is reached.
 * The node itself writes it; everything else below the reflector's prefix comes from Kubernetes.
 */
export interface VppNode {
  /** Unique in the cluster, from 1 upwards; the subnets of the node are cut out by it. */
  readonly id: number;
  readonly name: string;
  /** Out of use: written by agents of long ago, to be read as one more of ip_addresses. */
  readonly ip_address: string;
  /** CIDRs, both families. */
  readonly ip_addresses: readonly string[];
}
export const VppNode: MessageType<VppNode> = messageType(file, 'vppnode.VppNode');
