/** Services at the sockets of a device, which the kernel translates before there is a packet. */
import { unspecifiedOf } from '#models/ip.ts';
import { type SocketExemption, socketExemptionModel } from '#models/linux/socket-exemption.ts';
import {
  type SocketNodeAddress,
  socketNodeAddressModel,
} from '#models/linux/socket-node-address.ts';
import { type SocketService, socketServiceModel } from '#models/linux/socket-service.ts';
import type { Packet } from './packet.ts';
import { valuesOf } from './values.ts';

export interface SocketMapping {
  /** Of the value. */
  readonly key: string;
  /** None: clients are refused. */
  readonly backends: readonly SocketBackend[];
  /** Source of a process in the network of the host; absent: that of the packet. */
  readonly hostSource: string | undefined;
}

export interface SocketBackend {
  readonly address: string;
  readonly port: number;
  readonly weight: number;
}

export interface SocketServices {
  /** By protocol, end and port; an end is an address, or those of nodes. */
  readonly mappings: ReadonlyMap<string, SocketMapping>;
  /** By address of a node: which of its node ports it has. */
  readonly nodes: ReadonlyMap<string, 'THIS_NODE' | 'OTHER_NODES'>;
}

/** Other end of the connections of a device, by `connectionOf` a packet that it sends or receives. */
export type SocketConnections = Map<string, Pick<SocketBackend, 'address' | 'port'>>;

/** undefined: the kernels of the node translate nothing. */
export function socketsOfValues(all: ReadonlyMap<string, unknown>): SocketServices | undefined {
  const services: [string, SocketMapping][] = [];
  for (const [key, { mappings }] of valuesOf<SocketService>(socketServiceModel, all))
    for (const { frontends, backends, host_source } of mappings)
      for (const { protocol, address, port, scope } of frontends) {
        const end = scope === 'ADDRESS' ? address : `${scope} ${address}`;
        const hostSource = host_source === '' ? undefined : host_source;
        services.push([endText(protocol, end, port), { key, backends, hostSource }]);
      }
  if (services.length === 0) return undefined;
  const nodes = valuesOf<SocketNodeAddress>(socketNodeAddressModel, all).values();
  return {
    mappings: new Map(services),
    nodes: new Map(
      [...nodes].map(({ address, is_local }) => [address, is_local ? 'THIS_NODE' : 'OTHER_NODES']),
    ),
  };
}

/** Paths of network namespaces whose sockets are not translated. */
export function exemptNamespaces(all: ReadonlyMap<string, unknown>): ReadonlySet<string> {
  const found = valuesOf<SocketExemption>(socketExemptionModel, all).values();
  return new Set([...found].map(({ namespace }) => namespace));
}

/** The mapping of the address that a packet is sent to. */
export function mappingOf(
  { mappings, nodes }: SocketServices,
  packet: Packet,
): SocketMapping | undefined {
  const { protocol, destination, destinationPort = 0 } = packet;
  const scope = nodes.get(destination);
  return (
    mappings.get(endText(protocol ?? '', destination, destinationPort)) ??
    (scope === undefined
      ? undefined
      : mappings.get(
          endText(protocol ?? '', `${scope} ${unspecifiedOf(destination)}`, destinationPort),
        ))
  );
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
