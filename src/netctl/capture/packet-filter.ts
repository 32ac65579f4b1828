/** A filter of captured packets: what it names has to be in the packet, or in the packet in a VXLAN tunnel. */
import { parseIp } from '#models/ip.ts';

export interface PacketFilter {
  /** Source or destination. */
  readonly host: Uint8Array | undefined;
  /** Source or destination. */
  readonly port: number | undefined;
  readonly protocol: FilterProtocol | undefined;
}

export const filterProtocols = ['tcp', 'udp', 'icmp', 'arp'] as const;
export type FilterProtocol = (typeof filterProtocols)[number];

const ETHERNET_LENGTH = 14;
const VLAN_TAG_LENGTH = 4;
const types = { arp: 0x0806, ip4: 0x0800, ip6: 0x86dd, vlan: 0x8100 } as const;
const protocols: Readonly<Record<number, FilterProtocol>> = {
  1: 'icmp',
  6: 'tcp',
  17: 'udp',
  58: 'icmp',
};
const IP6_LENGTH = 40;
const UDP_LENGTH = 8;
const VXLAN_LENGTH = 8;
const VXLAN_PORT = 4789;

/** The parts of a packet that a filter can name. */
interface Headers {
  readonly protocol: FilterProtocol | undefined;
  readonly hosts: readonly Buffer[];
  readonly ports: readonly number[];
  /** The frame in a VXLAN tunnel. */
  readonly inner: Buffer | undefined;
}

export function matches(frame: Buffer, filter: PacketFilter): boolean {
  const headers = headersOf(frame);
  const { protocol, hosts, ports, inner } = headers;
  const isWanted =
    (filter.protocol === undefined || filter.protocol === protocol) &&
    (filter.host === undefined || hosts.some((host) => host.equals(filter.host!))) &&
    (filter.port === undefined || ports.includes(filter.port));
  return isWanted || (inner !== undefined && matches(inner, filter));
}

export function hostOf(text: string): Uint8Array | undefined {
  const address = parseIp(text);
  return address && Uint8Array.from(address);
}

const nothing: Headers = { protocol: undefined, hosts: [], ports: [], inner: undefined };

function headersOf(frame: Buffer): Headers {
  let at = ETHERNET_LENGTH;
  let type = uint16(frame, at - 2);
  while (type === types.vlan) {
    at += VLAN_TAG_LENGTH;
    type = uint16(frame, at - 2);
  }
  const packet = frame.subarray(at);
  if (type === types.arp)
    return {
      ...nothing,
      protocol: 'arp',
      hosts: [packet.subarray(14, 18), packet.subarray(24, 28)],
    };
  if (type === types.ip4) return ip4Headers(packet);
  return type === types.ip6 ? ip6Headers(packet) : nothing;
}

function ip4Headers(packet: Buffer): Headers {
  const protocol = protocols[packet[9] ?? 0];
  const hosts = [packet.subarray(12, 16), packet.subarray(16, 20)];
  // Only the first fragment has ports.
  const isFirst = (uint16(packet, 6) & 0x1fff) === 0;
  const length = ((packet[0] ?? 0) & 0x0f) * 4;
  return {
    ...nothing,
    protocol,
    hosts,
    ...(isFirst && portsOf(protocol, packet.subarray(length))),
  };
}

function ip6Headers(packet: Buffer): Headers {
  const protocol = protocols[packet[6] ?? 0];
  const hosts = [packet.subarray(8, 24), packet.subarray(24, 40)];
  return { ...nothing, protocol, hosts, ...portsOf(protocol, packet.subarray(IP6_LENGTH)) };
}

function portsOf(
  protocol: FilterProtocol | undefined,
  segment: Buffer,
): Partial<Pick<Headers, 'ports' | 'inner'>> {
  if ((protocol !== 'tcp' && protocol !== 'udp') || segment.length < UDP_LENGTH) return {};
  const ports = [uint16(segment, 0), uint16(segment, 2)];
  if (protocol === 'tcp' || ports[1] !== VXLAN_PORT) return { ports };
  return { ports, inner: segment.subarray(UDP_LENGTH + VXLAN_LENGTH) };
}

/** 0 beyond the end. */
function uint16(bytes: Buffer, at: number): number {
  return at >= 0 && at + 2 <= bytes.length ? bytes.readUInt16BE(at) : 0;
}
