// Made from cni/cni.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '../message.ts';

export const file: ProtoFile = {
  name: 'cni/cni.proto',
  imports: [],
  nested: { "cni": { "nested": { "RemoteCNI": { "methods": { "Add": { "requestType": "CNIRequest", "responseType": "CNIReply" }, "Delete": { "requestType": "CNIRequest", "responseType": "CNIReply" } } }, "CNIState": { "methods": { "Check": { "requestType": "CheckRequest", "responseType": "CNIReply" }, "GC": { "requestType": "GCRequest", "responseType": "CNIReply" }, "Status": { "requestType": "StatusRequest", "responseType": "StatusReply" } } }, "CNIRequest": { "fields": { "version": { "type": "string", "id": 1 }, "container_id": { "type": "string", "id": 2 }, "network_namespace": { "type": "string", "id": 3 }, "interface_name": { "type": "string", "id": 4 }, "extra_nw_config": { "type": "string", "id": 5 }, "extra_arguments": { "type": "string", "id": 6 }, "ipam_type": { "type": "string", "id": 7 }, "ipam_data": { "type": "string", "id": 8 } } }, "CNIReply": { "fields": { "result": { "type": "uint32", "id": 1 }, "error": { "type": "string", "id": 2 }, "interfaces": { "rule": "repeated", "type": "Interface", "id": 4 }, "routes": { "rule": "repeated", "type": "Route", "id": 5 }, "dns": { "rule": "repeated", "type": "DNS", "id": 6 } }, "nested": { "Interface": { "fields": { "name": { "type": "string", "id": 1 }, "mac": { "type": "string", "id": 2 }, "sandbox": { "type": "string", "id": 3 }, "ip_addresses": { "rule": "repeated", "type": "IP", "id": 4 } }, "nested": { "IP": { "fields": { "version": { "type": "Version", "id": 1 }, "address": { "type": "string", "id": 2 }, "gateway": { "type": "string", "id": 3 } }, "nested": { "Version": { "values": { "IPV4": 0, "IPV6": 1 } } } } } }, "Route": { "fields": { "dst": { "type": "string", "id": 1 }, "gw": { "type": "string", "id": 2 } } }, "DNS": { "fields": { "domain": { "type": "string", "id": 1 }, "nameservers": { "rule": "repeated", "type": "string", "id": 2 }, "search": { "rule": "repeated", "type": "string", "id": 3 }, "options": { "rule": "repeated", "type": "string", "id": 4 } } } } }, "CheckRequest": { "fields": { "request": { "type": "CNIRequest", "id": 1 }, "addresses": { "rule": "repeated", "type": "string", "id": 2 } } }, "GCRequest": { "fields": { "valid": { "rule": "repeated", "type": "Attachment", "id": 1 }, "network": { "type": "string", "id": 2 } }, "nested": { "Attachment": { "fields": { "container_id": { "type": "string", "id": 1 }, "interface_name": { "type": "string", "id": 2 } } } } }, "StatusRequest": { "fields": {} }, "StatusReply": { "fields": { "ready": { "type": "bool", "id": 1 }, "limited": { "type": "bool", "id": 2 }, "reason": { "type": "string", "id": 3 }, "pod_cidr": { "type": "string", "id": 4 } } } } } },
};

export interface CNIRequest {
  /** CNI version of the caller. */
  readonly version: string;
  readonly container_id: string;
  /** Path of the network namespace. */
  readonly network_namespace: string;
  /** Name of the interface inside the pod. */
  readonly interface_name: string;
  /** Network configuration as JSON. */
  readonly extra_nw_config: string;
  /** CNI_ARGS: `K=V;K=V`, with K8S_POD_NAME and K8S_POD_NAMESPACE. */
  readonly extra_arguments: string;
  /** IPAM plugin that ran before, and its result as JSON; empty: the agent allocates the addresses. */
  readonly ipam_type: string;
  readonly ipam_data: string;
}
export const CNIRequest: MessageType<CNIRequest> = messageType(file, 'cni.CNIRequest');

export interface CNIReply {
  /** 0: success, 4: invalid request, 11: temporary failure, retry later; others: failure. */
  readonly result: number;
  /** Error text if result is not 0. */
  readonly error: string;
  readonly interfaces: readonly CNIReplyInterface[];
  readonly routes: readonly CNIReplyRoute[];
  readonly dns: readonly CNIReplyDNS[];
}
export const CNIReply: MessageType<CNIReply> = messageType(file, 'cni.CNIReply');

export interface CNIReplyInterface {
  readonly name: string;
  readonly mac: string;
  /** Path of the network namespace; empty for an interface of the host. */
  readonly sandbox: string;
  readonly ip_addresses: readonly CNIReplyInterfaceIP[];
}
export const CNIReplyInterface: MessageType<CNIReplyInterface> = messageType(file, 'cni.CNIReply.Interface');

export interface CNIReplyInterfaceIP {
  readonly version: CNIReplyInterfaceIPVersion;
  /** CIDR. */
  readonly address: string;
  readonly gateway: string;
}
export const CNIReplyInterfaceIP: MessageType<CNIReplyInterfaceIP> = messageType(file, 'cni.CNIReply.Interface.IP');

export type CNIReplyInterfaceIPVersion =
  | 'IPV4'
  | 'IPV6';

export interface CNIReplyRoute {
  /** CIDR. */
  readonly dst: string;
  /** Empty: the default gateway. */
  readonly gw: string;
}
export const CNIReplyRoute: MessageType<CNIReplyRoute> = messageType(file, 'cni.CNIReply.Route');

export interface CNIReplyDNS {
  readonly domain: string;
  readonly nameservers: readonly string[];
  readonly search: readonly string[];
  readonly options: readonly string[];
}
export const CNIReplyDNS: MessageType<CNIReplyDNS> = messageType(file, 'cni.CNIReply.DNS');

export interface CheckRequest {
  readonly request?: CNIRequest;
  /** Addresses that the attachment was given, without prefix length. */
  readonly addresses: readonly string[];
}
export const CheckRequest: MessageType<CheckRequest> = messageType(file, 'cni.CheckRequest');

export interface GCRequest {
  readonly valid: readonly GCRequestAttachment[];
  /** Name of the network of the attachments; empty: all networks. */
  readonly network: string;
}
export const GCRequest: MessageType<GCRequest> = messageType(file, 'cni.GCRequest');

export interface GCRequestAttachment {
  readonly container_id: string;
  readonly interface_name: string;
}
export const GCRequestAttachment: MessageType<GCRequestAttachment> = messageType(file, 'cni.GCRequest.Attachment');

export interface StatusRequest {
}
export const StatusRequest: MessageType<StatusRequest> = messageType(file, 'cni.StatusRequest');

export interface StatusReply {
  /** Pods can be attached. */
  readonly ready: boolean;
  /** Attached pods may be disconnected, too. */
  readonly limited: boolean;
  /** Why the agent is not ready, or limited. */
  readonly reason: string;
  /** Pod CIDR of this node; empty while unknown. */
  readonly pod_cidr: string;
}
export const StatusReply: MessageType<StatusReply> = messageType(file, 'cni.StatusReply');

export const RemoteCNIService = {
  Add: {
    path: '/cni.RemoteCNI/Add',
    request: CNIRequest,
    response: CNIReply,
    requestStream: false,
    responseStream: false,
  },
  Delete: {
    path: '/cni.RemoteCNI/Delete',
    request: CNIRequest,
    response: CNIReply,
    requestStream: false,
    responseStream: false,
  },
} as const;

export const CNIStateService = {
  Check: {
    path: '/cni.CNIState/Check',
    request: CheckRequest,
    response: CNIReply,
    requestStream: false,
    responseStream: false,
  },
  GC: {
    path: '/cni.CNIState/GC',
    request: GCRequest,
    response: CNIReply,
    requestStream: false,
    responseStream: false,
  },
  Status: {
    path: '/cni.CNIState/Status',
    request: StatusRequest,
    response: StatusReply,
    requestStream: false,
    responseStream: false,
  },
} as const;
