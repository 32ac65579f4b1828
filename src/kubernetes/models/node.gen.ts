// Made from node.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '#models/message.ts';

export const file: ProtoFile = {
  name: 'node.proto',
  imports: [],
  nested: { "node": { "nested": { "Node": { "fields": { "name": { "type": "string", "id": 1 }, "pod_CIDR": { "type": "string", "id": 2 }, "provider_ID": { "type": "string", "id": 3 }, "addresses": { "rule": "repeated", "type": "NodeAddress", "id": 4 }, "node_info": { "type": "NodeSystemInfo", "id": 5 }, "zone": { "type": "string", "id": 6 }, "label": { "rule": "repeated", "type": "Label", "id": 7 } }, "nested": { "Label": { "fields": { "key": { "type": "string", "id": 1 }, "value": { "type": "string", "id": 2 } } } } }, "NodeAddress": { "fields": { "type": { "type": "AddressType", "id": 1 }, "address": { "type": "string", "id": 2 } }, "nested": { "AddressType": { "values": { "NodeUnknownAddr": 0, "NodeHostName": 1, "NodeExternalIP": 2, "NodeInternalIP": 3, "NodeExternalDNS": 4, "NodeInternalDNS": 5 } } } }, "NodeSystemInfo": { "fields": { "machine_ID": { "type": "string", "id": 1 }, "system_UUID": { "type": "string", "id": 2 }, "boot_ID": { "type": "string", "id": 3 }, "kernel_version": { "type": "string", "id": 4 }, "os_image": { "type": "string", "id": 5 }, "container_runtime_version": { "type": "string", "id": 6 }, "kubelet_version": { "type": "string", "id": 7 }, "KubeProxyVersion": { "type": "string", "id": 8 }, "OperatingSystem": { "type": "string", "id": 9 }, "Architecture": { "type": "string", "id": 10 } } } } } },
};

export interface Node {
  readonly name: string;
  readonly pod_CIDR: string;
  readonly provider_ID: string;
  readonly addresses: readonly NodeAddress[];
  readonly node_info?: NodeSystemInfo;
  /** Topology zone of the node. Not in the original; see docs/kube-models.md. */
  readonly zone: string;
  /** Labels of the node, by which policies of the cluster select it. Not in the original; see docs/kube-models.md. */
  readonly label: readonly NodeLabel[];
}
export const Node: MessageType<Node> = messageType(file, 'node.Node');

export interface NodeLabel {
  readonly key: string;
  readonly value: string;
}
export const NodeLabel: MessageType<NodeLabel> = messageType(file, 'node.Node.Label');

export interface NodeAddress {
  readonly type: NodeAddressAddressType;
  readonly address: string;
}
export const NodeAddress: MessageType<NodeAddress> = messageType(file, 'node.NodeAddress');

export type NodeAddressAddressType =
  | 'NodeUnknownAddr'
  | 'NodeHostName'
  | 'NodeExternalIP'
  | 'NodeInternalIP'
  | 'NodeExternalDNS'
  | 'NodeInternalDNS';

export interface NodeSystemInfo {
  readonly machine_ID: string;
  readonly system_UUID: string;
  readonly boot_ID: string;
  readonly kernel_version: string;
  readonly os_image: string;
  readonly container_runtime_version: string;
  readonly kubelet_version: string;
  readonly KubeProxyVersion: string;
  readonly OperatingSystem: string;
  readonly Architecture: string;
}
export const NodeSystemInfo: MessageType<NodeSystemInfo> = messageType(file, 'node.NodeSystemInfo');
