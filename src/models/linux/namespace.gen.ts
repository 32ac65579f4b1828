// Made from linux/namespace.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '../message.ts';

export const file: ProtoFile = {
  name: 'linux/namespace.proto',
  imports: [],
  nested: { "ligato": { "nested": { "linux": { "nested": { "namespace": { "nested": { "NetNamespace": { "fields": { "type": { "type": "ReferenceType", "id": 1 }, "reference": { "type": "string", "id": 2 } }, "nested": { "ReferenceType": { "values": { "UNDEFINED": 0, "NSID": 1, "PID": 2, "FD": 3, "MICROSERVICE": 4 } } } } } } } } } } },
};

/** Names a network namespace. */
export interface NetNamespace {
  readonly type: NetNamespaceReferenceType;
  /** Name below /run/netns, process ID, path, or label of a microservice. */
  readonly reference: string;
}
export const NetNamespace: MessageType<NetNamespace> = messageType(file, 'ligato.linux.namespace.NetNamespace');

export type NetNamespaceReferenceType =
  | 'UNDEFINED'
  | 'NSID'
  | 'PID'
  | 'FD'
  | 'MICROSERVICE';
