import { formatIp } from '#models/ip.ts';
import type { DeniedPacket } from '#plugins/controller/api/ports/denials.ts';

const ETHERNET_LENGTH = 14;
const TYPE_AT = 12;
const VLAN = 0x8100;
const VLAN_LENGTH = 4;
const IPV4 = 0x0800;
const IPV6 = 0x86dd;
const protocols: Readonly<Record<number, DeniedPacket['protocol']>> = { 6: 'TCP', 17: 'UDP' };
/** Of a segment that answers the first one. */
const SYN_AND_ACK = 0x12;
const FLAGS_AT = 13;
const PORTS_LENGTH = 4;

interface Addressed {
  readonly protocol: number;
  readonly source: string;
  readonly destination: string;
  /** Offset of the header of the protocol. */
  readonly at: number;
}

/** @returns undefined: a packet without ports, or whose ports cannot be read */
export function deniedPacket(time: number, frame: Buffer): DeniedPacket | undefined {
  if (frame.length < ETHERNET_LENGTH + VLAN_LENGTH) return undefined;
  const hasVlan = frame.readUInt16BE(TYPE_AT) === VLAN;
  const begin = ETHERNET_LENGTH + (hasVlan ? VLAN_LENGTH : 0);
  const type = frame.readUInt16BE(begin - 2);
  const found = type === IPV4 ? ipv4(frame, begin) : type === IPV6 ? ipv6(frame, begin) : undefined;
  const protocol = found && protocols[found.protocol];
  if (!found || !protocol) return undefined;
  if (frame.length < found.at + (protocol === 'TCP' ? FLAGS_AT + 1 : PORTS_LENGTH))
    return undefined;
  const { at, source, destination } = found;
  return {
    time,
    protocol,
    source: { address: source, port: frame.readUInt16BE(at) },
    destination: { address: destination, port: frame.readUInt16BE(at + 2) },
    isAnswer: protocol === 'TCP' && (frame.readUInt8(at + FLAGS_AT) & SYN_AND_ACK) === SYN_AND_ACK,
  };
}

function ipv4(frame: Buffer, begin: number): Addressed | undefined {
  if (frame.length < begin + 20) return undefined;
  // a fragment behind the first has no ports
  if (frame.readUInt16BE(begin + 6) & 0x1fff) return undefined;
  return {
    protocol: frame.readUInt8(begin + 9),
    source: formatIp(frame.subarray(begin + 12, begin + 16)),
    destination: formatIp(frame.subarray(begin + 16, begin + 20)),
    at: begin + 4 * (frame.readUInt8(begin) & 0x0f),
  };
}

function ipv6(frame: Buffer, begin: number): Addressed | undefined {
  if (frame.length < begin + 40) return undefined;
  return {
    protocol: frame.readUInt8(begin + 6),
    source: formatIp(frame.subarray(begin + 8, begin + 24)),
    destination: formatIp(frame.subarray(begin + 24, begin + 40)),
    at: begin + 40,
  };
}
