// Made from node-config-status.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '#models/message.ts';

export const file: ProtoFile = {
  name: 'node-config-status.proto',
  imports: [],
  nested: { "model": { "nested": { "NodeConfigStatus": { "fields": { "node_name": { "type": "string", "id": 1 }, "state": { "type": "string", "id": 2 }, "node_config": { "type": "string", "id": 3 }, "message": { "type": "string", "id": 4 }, "refused_fields": { "rule": "repeated", "type": "RefusedField", "id": 5 }, "since": { "type": "string", "id": 6 } }, "nested": { "RefusedField": { "fields": { "field": { "type": "string", "id": 1 }, "reason": { "type": "string", "id": 2 } } } } } } } },
};

/** Decision of a node about its NodeConfig, written by its agent and shown in the status of the resource. */
export interface NodeConfigStatus {
  readonly node_name: string;
  /** Applied, PartlyApplied, Refused, Failed, Ignored or Waiting. */
  readonly state: string;
  /** SHA-256 of the NodeConfig record that it is about; empty: the node has none. */
  readonly node_config: string;
  /** The state in words, for operators. */
  readonly message: string;
  readonly refused_fields: readonly NodeConfigStatusRefusedField[];
  /** RFC 3339. */
  readonly since: string;
}
export const NodeConfigStatus: MessageType<NodeConfigStatus> = messageType(file, 'model.NodeConfigStatus');

export interface NodeConfigStatusRefusedField {
  /** Path in the spec of the resource, for example mainVPPInterface.ip. */
  readonly field: string;
  readonly reason: string;
}
export const NodeConfigStatusRefusedField: MessageType<NodeConfigStatusRefusedField> = messageType(file, 'model.NodeConfigStatus.RefusedField');
