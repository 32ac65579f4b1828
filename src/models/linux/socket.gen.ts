// Made from linux/socket.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '../message.ts';

export const file: ProtoFile = {
  name: 'linux/socket.proto',
  imports: [],
  nested: { "ligato": { "nested": { "linux": { "nested": { "socket": { "nested": { "SocketService": { "fields": { "name": { "type": "string", "id": 1 }, "mappings": { "rule": "repeated", "type": "Mapping", "id": 2 } }, "nested": { "Protocol": { "values": { "TCP": 0, "UDP": 1 } }, "Scope": { "values": { "ADDRESS": 0, "THIS_NODE": 1, "OTHER_NODES": 2 } }, "Frontend": { "fields": { "address": { "type": "string", "id": 1 }, "port": { "type": "uint32", "id": 2 }, "protocol": { "type": "Protocol", "id": 3 }, "scope": { "type": "Scope", "id": 4 } } }, "Backend": { "fields": { "address": { "type": "string", "id": 1 }, "port": { "type": "uint32", "id": 2 }, "weight": { "type": "uint32", "id": 3 } } }, "Mapping": { "fields": { "frontends": { "rule": "repeated", "type": "Frontend", "id": 1 }, "backends": { "rule": "repeated", "type": "Backend", "id": 2 }, "affinity_timeout": { "type": "uint32", "id": 3 }, "host_source": { "type": "string", "id": 4 } } } } }, "SocketNodeAddress": { "fields": { "address": { "type": "string", "id": 1 }, "is_local": { "type": "bool", "id": 2 } } }, "SocketExemption": { "fields": { "name": { "type": "string", "id": 1 }, "namespace": { "type": "string", "id": 2 } } }, "ServiceLink": { "fields": { "host_if_name": { "type": "string", "id": 1 }, "vpp_link": { "type": "string", "id": 2 }, "gw_addr": { "type": "string", "id": 3 } } } } } } } } } },
};

/** A service that the kernel translates at the sockets of this node. */
export interface SocketService {
  readonly name: string;
  readonly mappings: readonly SocketServiceMapping[];
}
export const SocketService: MessageType<SocketService> = messageType(file, 'ligato.linux.socket.SocketService');

export type SocketServiceProtocol =
  | 'TCP'
  | 'UDP';

export type SocketServiceScope =
  | 'ADDRESS'
  | 'THIS_NODE'
  | 'OTHER_NODES';

export interface SocketServiceFrontend {
  readonly address: string;
  readonly port: number;
  readonly protocol: SocketServiceProtocol;
  readonly scope: SocketServiceScope;
}
export const SocketServiceFrontend: MessageType<SocketServiceFrontend> = messageType(file, 'ligato.linux.socket.SocketService.Frontend');

export interface SocketServiceBackend {
  readonly address: string;
  readonly port: number;
  /** Share of new connections, relative to the other backends. */
  readonly weight: number;
}
export const SocketServiceBackend: MessageType<SocketServiceBackend> = messageType(file, 'ligato.linux.socket.SocketService.Backend');

/** Frontends with the same backends. */
export interface SocketServiceMapping {
  readonly frontends: readonly SocketServiceFrontend[];
  /** None: clients are refused. */
  readonly backends: readonly SocketServiceBackend[];
  /** Seconds; 0: no session affinity. */
  readonly affinity_timeout: number;
  /** Address of this node that processes in the network of the host have as their own; empty: the kernel chooses. */
  readonly host_source: string;
}
export const SocketServiceMapping: MessageType<SocketServiceMapping> = messageType(file, 'ligato.linux.socket.SocketService.Mapping');

/** An address of a node, at which the sockets of this node reach node ports. */
export interface SocketNodeAddress {
  readonly address: string;
  /** Whether it is an address of this node, or of another one. */
  readonly is_local: boolean;
}
export const SocketNodeAddress: MessageType<SocketNodeAddress> = messageType(file, 'ligato.linux.socket.SocketNodeAddress');

/** A network namespace whose sockets are not translated. */
export interface SocketExemption {
  /** ID of the container that has the namespace. */
  readonly name: string;
  /** Path of the namespace. */
  readonly namespace: string;
}
export const SocketExemption: MessageType<SocketExemption> = messageType(file, 'ligato.linux.socket.SocketExemption');

/** A link of the host where the kernel leads packets to node ports of this node to VPP, or back. */
export interface ServiceLink {
  /** Name in the kernel. */
  readonly host_if_name: string;
  /** Link to VPP, by its name in the kernel. Empty: it is this one, by which replies come. */
  readonly vpp_link: string;
  /** Address of VPP on `vpp_link`. */
  readonly gw_addr: string;
}
export const ServiceLink: MessageType<ServiceLink> = messageType(file, 'ligato.linux.socket.ServiceLink');
