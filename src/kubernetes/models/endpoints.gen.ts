// Made from endpoints.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '#models/message.ts';

export const file: ProtoFile = {
  name: 'endpoints.proto',
  imports: [],
  nested: { "endpoints": { "nested": { "ObjectReference": { "fields": { "kind": { "type": "string", "id": 1 }, "namespace": { "type": "string", "id": 2 }, "name": { "type": "string", "id": 3 }, "uid": { "type": "string", "id": 4 }, "api_version": { "type": "string", "id": 5 }, "resource_version": { "type": "string", "id": 6 } } }, "EndpointSubset": { "fields": { "addresses": { "rule": "repeated", "type": "EndpointAddress", "id": 1 }, "not_ready_addresses": { "rule": "repeated", "type": "EndpointAddress", "id": 2 }, "ports": { "rule": "repeated", "type": "EndpointPort", "id": 3 } }, "nested": { "EndpointAddress": { "fields": { "ip": { "type": "string", "id": 1 }, "host_name": { "type": "string", "id": 2 }, "node_name": { "type": "string", "id": 3 }, "target_ref": { "type": "ObjectReference", "id": 4 }, "serving_while_terminating": { "type": "bool", "id": 5 }, "for_zones": { "rule": "repeated", "type": "string", "id": 6 }, "for_nodes": { "rule": "repeated", "type": "string", "id": 7 } } }, "EndpointPort": { "fields": { "name": { "type": "string", "id": 1 }, "port": { "type": "int32", "id": 2 }, "protocol": { "type": "string", "id": 3 } } } } }, "Endpoints": { "fields": { "name": { "type": "string", "id": 1 }, "namespace": { "type": "string", "id": 2 }, "endpoint_subsets": { "rule": "repeated", "type": "EndpointSubset", "id": 3 }, "last_change_trigger_time": { "type": "string", "id": 4 } } } } } },
};

export interface ObjectReference {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly api_version: string;
  readonly resource_version: string;
}
export const ObjectReference: MessageType<ObjectReference> = messageType(file, 'endpoints.ObjectReference');

/** Addresses that serve the same ports: every address together with every port. */
export interface EndpointSubset {
  readonly addresses: readonly EndpointSubsetEndpointAddress[];
  readonly not_ready_addresses: readonly EndpointSubsetEndpointAddress[];
  readonly ports: readonly EndpointSubsetEndpointPort[];
}
export const EndpointSubset: MessageType<EndpointSubset> = messageType(file, 'endpoints.EndpointSubset');

export interface EndpointSubsetEndpointAddress {
  readonly ip: string;
  readonly host_name: string;
  readonly node_name: string;
  readonly target_ref?: ObjectReference;
  /**
   * Terminating but still serving: used if there is no ready address.
   * Listed in not_ready_addresses. Not in the original.
   */
  readonly serving_while_terminating: boolean;
  /** Zones whose nodes should prefer this address; empty: no hint. Not in the original. */
  readonly for_zones: readonly string[];
  /** Nodes that should prefer this address; empty: no hint. Not in the original. */
  readonly for_nodes: readonly string[];
}
export const EndpointSubsetEndpointAddress: MessageType<EndpointSubsetEndpointAddress> = messageType(file, 'endpoints.EndpointSubset.EndpointAddress');

export interface EndpointSubsetEndpointPort {
  /** Name of the service's port. */
  readonly name: string;
  readonly port: number;
  /** TCP, UDP or SCTP. */
  readonly protocol: string;
}
export const EndpointSubsetEndpointPort: MessageType<EndpointSubsetEndpointPort> = messageType(file, 'endpoints.EndpointSubset.EndpointPort');

/** The backends of the service of the same name. */
export interface Endpoints {
  readonly name: string;
  readonly namespace: string;
  readonly endpoint_subsets: readonly EndpointSubset[];
  /**
   * When the pod or service changed that changed the endpoints last, in RFC 3339; empty: unknown. Not in the
   * original.
   */
  readonly last_change_trigger_time: string;
}
export const Endpoints: MessageType<Endpoints> = messageType(file, 'endpoints.Endpoints');
