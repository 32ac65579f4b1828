/** The decisions of the program that the kernel runs at a link of a host: `src/linux/socket-services/link-program.ts`. */
import { socketServiceKey } from '#models/linux/socket-service.ts';
import { findAddress } from './fib.ts';
import type { Packet } from './packet.ts';
import type { NextHop } from './service-links.ts';
import type { Device } from './snapshot.ts';
import { mappingOf } from './sockets.ts';

/** A packet that the program redirects. */
export interface LedPacket {
  /** A sentence without a subject. */
  readonly description: string;
  /** Of the value. */
  readonly key: string;
  /** Absent: the host routes it. */
  readonly toVpp: NextHop | undefined;
}

/** @returns undefined: no program sees the packet, or it passes unchanged */
export function ledPacket(device: Device, entry: string, packet: Packet): LedPacket | undefined {
  const { sockets } = device;
  const program = device.linkPrograms?.get(entry);
  const { source, destination, destinationPort = 0, protocol } = packet;
  // the program lets IPv6 pass
  if (!program || !sockets || destination.includes(':')) return undefined;
  const isOwn = (address: string): boolean => sockets.nodes.get(address) === 'THIS_NODE';
  const { key, toVpp } = program;
  if (toVpp === undefined) {
    if (!isOwn(source) || findAddress(device, 0, destination)) return undefined;
    const request = { ...packet, destination: source, destinationPort: packet.sourcePort };
    if (protocol !== 'ICMP' && !mappingOf(sockets, request)) return undefined;
    const description = `the program at ${entry} leads the reply from ${source} as the host routes it`;
    return { description, key, toVpp };
  }
  if (!isOwn(destination) || (protocol !== 'TCP' && protocol !== 'UDP')) return undefined;
  const mapping = mappingOf(sockets, packet);
  if (!mapping) return undefined;
  const service = socketServiceKey.parse(mapping.key)?.name ?? mapping.key;
  const place = `${destination} ${protocol} port ${destinationPort}`;
  const description = `the program at ${entry} leads ${place} of ${service} to VPP, ${toVpp.address} on ${toVpp.interface}`;
  return { description, key, toVpp };
}
