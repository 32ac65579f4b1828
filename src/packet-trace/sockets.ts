/** Services at the sockets of a device, which the kernel translates before there is a packet. */
import { type SocketService, socketServiceModel } from '#models/linux/socket-service.ts';
import type { Packet } from './packet.ts';
import { valuesOf } from './values.ts';

export interface SocketMapping {
  /** Of the value. */
  readonly key: string;
  /** None: clients are refused. */
  readonly backends: readonly SocketBackend[];
}

export interface SocketBackend {
  readonly address: string;
  readonly port: number;
  readonly weight: number;
}

/** Mappings by protocol, address and port. */
export type SocketServices = ReadonlyMap<string, SocketMapping>;

/** Other end of the connections of a device, by `connectionOf` a packet that it sends or receives. */
export type SocketConnections = Map<string, Pick<SocketBackend, 'address' | 'port'>>;

/** undefined: the kernels of the node translate nothing. */
export function socketsOfValues(all: ReadonlyMap<string, unknown>): SocketServices | undefined {
  const services: [string, SocketMapping][] = [];
  for (const [key, { mappings }] of valuesOf<SocketService>(socketServiceModel, all))
    for (const { frontends, backends } of mappings)
      for (const { protocol, address, port } of frontends)
        services.push([endText(protocol, address, port), { key, backends }]);
  return services.length === 0 ? undefined : new Map(services);
}

/** The mapping of the address that a packet is sent to. */
export function mappingOf(
  services: SocketServices,
  { protocol, destination, destinationPort = 0 }: Packet,
): SocketMapping | undefined {
  return services.get(endText(protocol ?? '', destination, destinationPort));
}

export function connectionOf(
  direction: 'sent' | 'received',
  { protocol, source, sourcePort = 0, destination, destinationPort = 0 }: Packet,
): string {
  const [own, other] =
    direction === 'sent'
      ? [sourcePort, endText(protocol ?? '', destination, destinationPort)]
      : [destinationPort, endText(protocol ?? '', source, sourcePort)];
  return `${direction} ${own} ${other}`;
}

function endText(protocol: string, address: string, port: number): string {
  return `${protocol} ${address} ${port}`;
}
