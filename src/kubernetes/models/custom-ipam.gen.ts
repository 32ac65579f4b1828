// Made from custom-ipam.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '#models/message.ts';

export const file: ProtoFile = {
  name: 'custom-ipam.proto',
  imports: [],
  nested: { "ipalloc": { "nested": { "CustomPodInterface": { "fields": { "name": { "type": "string", "id": 1 }, "network": { "type": "string", "id": 2 }, "ip_address": { "type": "string", "id": 3 }, "service_endpoint": { "type": "bool", "id": 4 } } }, "CustomIPAllocation": { "fields": { "pod_name": { "type": "string", "id": 1 }, "pod_namespace": { "type": "string", "id": 2 }, "custom_interfaces": { "rule": "repeated", "type": "CustomPodInterface", "id": 3 } } } } } },
};

export interface CustomPodInterface {
  readonly name: string;
  readonly network: string;
  readonly ip_address: string;
  /** Services reach the pod through this interface instead of its main one. */
  readonly service_endpoint: boolean;
}
export const CustomPodInterface: MessageType<CustomPodInterface> = messageType(file, 'ipalloc.CustomPodInterface');

/** Addresses given to the custom interfaces of a pod. */
export interface CustomIPAllocation {
  readonly pod_name: string;
  readonly pod_namespace: string;
  readonly custom_interfaces: readonly CustomPodInterface[];
}
export const CustomIPAllocation: MessageType<CustomIPAllocation> = messageType(file, 'ipalloc.CustomIPAllocation');
