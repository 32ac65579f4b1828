// Made from stn/stn.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '../message.ts';

export const file: ProtoFile = {
  name: 'stn/stn.proto',
  imports: [],
  nested: { "stn": { "nested": { "STN": { "methods": { "StealInterface": { "requestType": "STNRequest", "responseType": "STNReply" }, "ReleaseInterface": { "requestType": "STNRequest", "responseType": "STNReply" }, "StolenInterfaceInfo": { "requestType": "STNRequest", "responseType": "STNReply" } } }, "STNRequest": { "fields": { "interface_name": { "type": "string", "id": 1 }, "dhcp_enabled": { "type": "bool", "id": 2 } } }, "STNReply": { "fields": { "result": { "type": "uint32", "id": 1 }, "error": { "type": "string", "id": 2 }, "pci_address": { "type": "string", "id": 3 }, "ip_addresses": { "rule": "repeated", "type": "string", "id": 4 }, "routes": { "rule": "repeated", "type": "Route", "id": 5 }, "kernel_driver": { "type": "string", "id": 6 } }, "nested": { "Route": { "fields": { "destination_subnet": { "type": "string", "id": 1 }, "next_hop_ip": { "type": "string", "id": 2 } } } } } } } },
};

export interface STNRequest {
  readonly interface_name: string;
  readonly dhcp_enabled: boolean;
}
export const STNRequest: MessageType<STNRequest> = messageType(file, 'stn.STNRequest');

export interface STNReply {
  /** 0: success. */
  readonly result: number;
  /** Error text if result is not 0. */
  readonly error: string;
  readonly pci_address: string;
  /** CIDRs. */
  readonly ip_addresses: readonly string[];
  readonly routes: readonly STNReplyRoute[];
  /** Previous kernel driver. */
  readonly kernel_driver: string;
}
export const STNReply: MessageType<STNReply> = messageType(file, 'stn.STNReply');

export interface STNReplyRoute {
  /** CIDR; empty for the default route. */
  readonly destination_subnet: string;
  /** Empty for on-link routes. */
  readonly next_hop_ip: string;
}
export const STNReplyRoute: MessageType<STNReplyRoute> = messageType(file, 'stn.STNReply.Route');

export const STNService = {
  StealInterface: {
    path: '/stn.STN/StealInterface',
    request: STNRequest,
    response: STNReply,
    requestStream: false,
    responseStream: false,
  },
  ReleaseInterface: {
    path: '/stn.STN/ReleaseInterface',
    request: STNRequest,
    response: STNReply,
    requestStream: false,
    responseStream: false,
  },
  StolenInterfaceInfo: {
    path: '/stn.STN/StolenInterfaceInfo',
    request: STNRequest,
    response: STNReply,
    requestStream: false,
    responseStream: false,
  },
} as const;
