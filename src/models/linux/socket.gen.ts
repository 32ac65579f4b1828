// Made from linux/socket.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '../message.ts';

export const file: ProtoFile = {
  name: 'linux/socket.proto',
  imports: [],
  nested: { "ligato": { "nested": { "linux": { "nested": { "socket": { "nested": { "SocketService": { "fields": { "name": { "type": "string", "id": 1 }, "mappings": { "rule": "repeated", "type": "Mapping", "id": 2 } }, "nested": { "Protocol": { "values": { "TCP": 0, "UDP": 1 } }, "Frontend": { "fields": { "address": { "type": "string", "id": 1 }, "port": { "type": "uint32", "id": 2 }, "protocol": { "type": "Protocol", "id": 3 } } }, "Backend": { "fields": { "address": { "type": "string", "id": 1 }, "port": { "type": "uint32", "id": 2 }, "weight": { "type": "uint32", "id": 3 } } }, "Mapping": { "fields": { "frontends": { "rule": "repeated", "type": "Frontend", "id": 1 }, "backends": { "rule": "repeated", "type": "Backend", "id": 2 }, "affinity_timeout": { "type": "uint32", "id": 3 } } } } } } } } } } } },
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

export interface SocketServiceFrontend {
  readonly address: string;
  readonly port: number;
  readonly protocol: SocketServiceProtocol;
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
}
export const SocketServiceMapping: MessageType<SocketServiceMapping> = messageType(file, 'ligato.linux.socket.SocketService.Mapping');
