// Made from pod.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '#models/message.ts';

export const file: ProtoFile = {
  name: 'pod.proto',
  imports: [],
  nested: { "pod": { "nested": { "Pod": { "fields": { "name": { "type": "string", "id": 1 }, "namespace": { "type": "string", "id": 2 }, "label": { "rule": "repeated", "type": "Label", "id": 3 }, "ip_address": { "type": "string", "id": 4 }, "host_ip_address": { "type": "string", "id": 5 }, "container": { "rule": "repeated", "type": "Container", "id": 6 }, "annotations": { "keyType": "string", "type": "string", "id": 7 }, "labels": { "keyType": "string", "type": "string", "id": 8 }, "uid": { "type": "string", "id": 9 }, "ip_addresses": { "rule": "repeated", "type": "string", "id": 10 }, "runtime_class": { "type": "string", "id": 11 } }, "nested": { "Label": { "fields": { "key": { "type": "string", "id": 1 }, "value": { "type": "string", "id": 2 } } }, "Container": { "fields": { "name": { "type": "string", "id": 1 }, "port": { "rule": "repeated", "type": "Port", "id": 2 } }, "nested": { "Port": { "fields": { "name": { "type": "string", "id": 1 }, "host_port": { "type": "int32", "id": 2 }, "container_port": { "type": "int32", "id": 3 }, "protocol": { "type": "Protocol", "id": 4 }, "host_ip_address": { "type": "string", "id": 5 } }, "nested": { "Protocol": { "values": { "TCP": 0, "UDP": 1, "SCTP": 2 } } } } } } } } } } },
};

export interface Pod {
  readonly name: string;
  readonly namespace: string;
  /** The same labels twice: as a list here, as a map in `labels`. */
  readonly label: readonly PodLabel[];
  /** Empty while the pod has none. */
  readonly ip_address: string;
  /** Address of the pod's node. Equal to ip_address for a pod in the host's network. */
  readonly host_ip_address: string;
  readonly container: readonly PodContainer[];
  /** Only those with the prefix contivpp.io and, not in the original, those for the bandwidth. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  /** Distinguishes a pod from its predecessor of the same name. Not in the original. */
  readonly uid: string;
  /** All addresses, ip_address first, where there is more than one. Not in the original. */
  readonly ip_addresses: readonly string[];
  /** Name of the runtime class, if the pod has one. Not in the original. */
  readonly runtime_class: string;
}
export const Pod: MessageType<Pod> = messageType(file, 'pod.Pod');

export interface PodLabel {
  readonly key: string;
  readonly value: string;
}
export const PodLabel: MessageType<PodLabel> = messageType(file, 'pod.Pod.Label');

export interface PodContainer {
  readonly name: string;
  readonly port: readonly PodContainerPort[];
}
export const PodContainer: MessageType<PodContainer> = messageType(file, 'pod.Pod.Container');

export interface PodContainerPort {
  readonly name: string;
  readonly host_port: number;
  readonly container_port: number;
  readonly protocol: PodContainerPortProtocol;
  readonly host_ip_address: string;
}
export const PodContainerPort: MessageType<PodContainerPort> = messageType(file, 'pod.Pod.Container.Port');

export type PodContainerPortProtocol =
  | 'TCP'
  | 'UDP'
  | 'SCTP';
