// Made from service.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '#models/message.ts';

export const file: ProtoFile = {
  name: 'service.proto',
  imports: [],
  nested: { "service": { "nested": { "Service": { "fields": { "name": { "type": "string", "id": 1 }, "namespace": { "type": "string", "id": 2 }, "port": { "rule": "repeated", "type": "ServicePort", "id": 3 }, "selector": { "keyType": "string", "type": "string", "id": 4 }, "cluster_ip": { "type": "string", "id": 5 }, "service_type": { "type": "string", "id": 6 }, "external_ips": { "rule": "repeated", "type": "string", "id": 7 }, "lb_ingress_ips": { "rule": "repeated", "type": "string", "id": 8 }, "session_affinity": { "type": "string", "id": 9 }, "loadbalancer_ip": { "type": "string", "id": 10 }, "loadbalancer_source_ranges": { "rule": "repeated", "type": "string", "id": 11 }, "external_traffic_policy": { "type": "string", "id": 12 }, "health_check_node_port": { "type": "int32", "id": 13 }, "session_affinity_timeout": { "type": "uint32", "id": 14 }, "annotations": { "keyType": "string", "type": "string", "id": 15 }, "internal_traffic_policy": { "type": "string", "id": 16 }, "cluster_ips": { "rule": "repeated", "type": "string", "id": 17 }, "traffic_distribution": { "type": "string", "id": 18 }, "proxy_name": { "type": "string", "id": 19 }, "headless": { "type": "bool", "id": 20 }, "creation_timestamp": { "type": "string", "id": 21 }, "lb_proxy_ips": { "rule": "repeated", "type": "string", "id": 22 } }, "nested": { "ServicePort": { "fields": { "name": { "type": "string", "id": 1 }, "protocol": { "type": "string", "id": 2 }, "port": { "type": "int32", "id": 3 }, "target_port": { "type": "IntOrString", "id": 4 }, "node_port": { "type": "int32", "id": 5 } }, "nested": { "IntOrString": { "fields": { "type": { "type": "Type", "id": 1 }, "int_val": { "type": "int32", "id": 2 }, "string_val": { "type": "string", "id": 3 } }, "nested": { "Type": { "values": { "NUMBER": 0, "STRING": 1 } } } } } } } } } } },
};

export interface Service {
  readonly name: string;
  readonly namespace: string;
  readonly port: readonly ServiceServicePort[];
  readonly selector: Readonly<Record<string, string>>;
  /** Address, "None" (headless) or empty (ExternalName). */
  readonly cluster_ip: string;
  /** ClusterIP, NodePort, LoadBalancer or ExternalName. */
  readonly service_type: string;
  readonly external_ips: readonly string[];
  /**
   * Addresses of the load balancer that nodes serve themselves. An entry is an empty text if it has
   * only a host name, or if its traffic must go through the load balancer (ipMode Proxy).
   */
  readonly lb_ingress_ips: readonly string[];
  /** ClientIP or None. */
  readonly session_affinity: string;
  readonly loadbalancer_ip: string;
  readonly loadbalancer_source_ranges: readonly string[];
  /** Local or Cluster. */
  readonly external_traffic_policy: string;
  readonly health_check_node_port: number;
  /** Seconds; 0 without affinity. */
  readonly session_affinity_timeout: number;
  /** Only those with the prefix contivpp.io. */
  readonly annotations: Readonly<Record<string, string>>;
  /** "Local", or empty for Cluster. Not in the original. */
  readonly internal_traffic_policy: string;
  /** All cluster addresses, cluster_ip first, where there is more than one. Not in the original. */
  readonly cluster_ips: readonly string[];
  /** PreferClose, PreferSameZone or PreferSameNode; empty: none. Not in the original. */
  readonly traffic_distribution: string;
  /**
   * Value of the label service.kubernetes.io/service-proxy-name: another proxy serves the service.
   * Not in the original.
   */
  readonly proxy_name: string;
  /**
   * Whether the service has the label service.kubernetes.io/headless: no proxy serves it. Not in the
   * original.
   */
  readonly headless: boolean;
  /** RFC 3339, in UTC. Not in the original. */
  readonly creation_timestamp: string;
  /** Addresses of the load balancer with ipMode Proxy. Not in the original. */
  readonly lb_proxy_ips: readonly string[];
}
export const Service: MessageType<Service> = messageType(file, 'service.Service');

export interface ServiceServicePort {
  readonly name: string;
  /** TCP, UDP or SCTP. */
  readonly protocol: string;
  readonly port: number;
  /** Number or name of a container port; the endpoints have it resolved. */
  readonly target_port?: ServiceServicePortIntOrString;
  readonly node_port: number;
}
export const ServiceServicePort: MessageType<ServiceServicePort> = messageType(file, 'service.Service.ServicePort');

export interface ServiceServicePortIntOrString {
  readonly type: ServiceServicePortIntOrStringType;
  readonly int_val: number;
  readonly string_val: string;
}
export const ServiceServicePortIntOrString: MessageType<ServiceServicePortIntOrString> = messageType(file, 'service.Service.ServicePort.IntOrString');

export type ServiceServicePortIntOrStringType =
  | 'NUMBER'
  | 'STRING';
