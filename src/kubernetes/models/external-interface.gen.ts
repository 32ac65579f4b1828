// Made from external-interface.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '#models/message.ts';

export const file: ProtoFile = {
  name: 'external-interface.proto',
  imports: [],
  nested: { "model": { "nested": { "ExternalInterface": { "fields": { "name": { "type": "string", "id": 1 }, "type": { "type": "Type", "id": 2 }, "network": { "type": "string", "id": 3 }, "nodes": { "rule": "repeated", "type": "NodeInterface", "id": 4 } }, "nested": { "Type": { "values": { "L2": 0, "L3": 1 } }, "NodeInterface": { "fields": { "node": { "type": "string", "id": 1 }, "vpp_interface_name": { "type": "string", "id": 2 }, "ip": { "type": "string", "id": 3 }, "vlan": { "type": "uint32", "id": 4 } } } } } } } },
};

/** A NIC under one name on all nodes, from the ExternalInterface custom resource. */
export interface ExternalInterface {
  readonly name: string;
  readonly type: ExternalInterfaceType;
  /** Custom network that it belongs to; empty or "default": none. */
  readonly network: string;
  readonly nodes: readonly ExternalInterfaceNodeInterface[];
}
export const ExternalInterface: MessageType<ExternalInterface> = messageType(file, 'model.ExternalInterface');

export type ExternalInterfaceType =
  | 'L2'
  | 'L3';

export interface ExternalInterfaceNodeInterface {
  readonly node: string;
  readonly vpp_interface_name: string;
  readonly ip: string;
  readonly vlan: number;
}
export const ExternalInterfaceNodeInterface: MessageType<ExternalInterfaceNodeInterface> = messageType(file, 'model.ExternalInterface.NodeInterface');
