/** The ends of connections at a socket: a backend in place of the service when a client connects, the service again in what it receives. */
import type { Choose } from './nat-translations.ts';
import { type Packet, replyTo } from './packet.ts';
import { deniedToSockets } from './service-restriction.ts';
import type { Device } from './snapshot.ts';
import { connectionOf, mappingOf, type SocketConnections } from './sockets.ts';

/** The packet that leaves a socket, or that it sees, with a hop if it was translated. */
export interface SocketPacket {
  readonly packet: Packet;
  readonly hop?: { readonly text: string; readonly key: string };
}

export interface RefusedSocket {
  readonly refusal: string;
  readonly key: string;
}

/** @param connections of the device; the trace adds to them */
export function connected(
  device: Device,
  packet: Packet,
  connections: SocketConnections | undefined,
  choose: Choose,
): SocketPacket | RefusedSocket {
  const mapping = device.sockets && mappingOf(device.sockets, packet);
  if (!mapping) return { packet };
  const { backends, key, hostSource } = mapping;
  const { destination, destinationPort = 0 } = packet;
  const service = `${destination} port ${destinationPort}`;
  if (backends.length === 0) {
    const refusal = deniedToSockets(device, packet) ?? `the service at ${service} has no backend`;
    return { refusal, key };
  }
  const backend =
    connections?.get(connectionOf('sent', packet)) ??
    backends[backends.length === 1 ? 0 : choose(backends.map(({ weight }) => weight))]!;
  const { address, port } = backend;
  // only the host forwards
  const source = (device.forwards ? hostSource : undefined) ?? packet.source;
  const sent = { ...packet, source, destination: address, destinationPort: port };
  connections?.set(connectionOf('sent', packet), backend);
  const end = { address: destination, port: destinationPort };
  connections?.set(connectionOf('received', replyTo(sent)), end);
  const among = backends.length === 1 ? '' : `, one of ${backends.length}`;
  const from = source === packet.source ? '' : `, from ${source}`;
  const text = `the socket: ${service} becomes ${address} port ${port}${among}${from}`;
  return { packet: sent, hop: { text, key } };
}

/** The packet as the socket that receives it sees it. */
export function seen(
  device: Device,
  packet: Packet,
  connections: SocketConnections | undefined,
): SocketPacket {
  const service = device.sockets && connections?.get(connectionOf('received', packet));
  if (!service) return { packet };
  const { address, port } = service;
  return {
    packet: { ...packet, source: address, sourcePort: port },
    hop: { text: `the socket sees ${address} port ${port} as the sender`, key: '' },
  };
}
