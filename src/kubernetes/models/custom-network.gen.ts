// Made from custom-network.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '#models/message.ts';

export const file: ProtoFile = {
  name: 'custom-network.proto',
  imports: [],
  nested: { "model": { "nested": { "CustomNetwork": { "fields": { "name": { "type": "string", "id": 1 }, "type": { "type": "Type", "id": 2 }, "subnetCIDR": { "type": "string", "id": 3 }, "subnet_one_node_prefix": { "type": "uint32", "id": 4 } }, "nested": { "Type": { "values": { "L2": 0, "L3": 1 } } } } } } },
};

/** A pod network beside the default one, from the CustomNetwork custom resource. */
export interface CustomNetwork {
  readonly name: string;
  readonly type: CustomNetworkType;
  readonly subnetCIDR: string;
  /** Prefix length of the part of the subnet that one node gets. */
  readonly subnet_one_node_prefix: number;
}
export const CustomNetwork: MessageType<CustomNetwork> = messageType(file, 'model.CustomNetwork');

export type CustomNetworkType =
  | 'L2'
  | 'L3';
