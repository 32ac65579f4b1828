/** A packet as a trace follows it. */

/** Protocols that NAT translates. */
export type Protocol = 'TCP' | 'UDP' | 'ICMP';

export type TcpFlag = 'SYN' | 'ACK' | 'FIN' | 'RST';

export interface Packet {
  readonly source: string;
  readonly destination: string;
  /** Absent: only the addresses are known; no NAT translates it, and only rules for all protocols match it. */
  readonly protocol?: Protocol | 'SCTP' | undefined;
  /** Default 0. Both ports of an echo are its identifier. */
  readonly sourcePort?: number | undefined;
  readonly destinationPort?: number | undefined;
  /** Default: SYN, the first packet of a connection. */
  readonly tcpFlags?: readonly TcpFlag[] | undefined;
  /** ICMP is an echo request, or the reply to one. */
  readonly isEchoReply?: boolean | undefined;
}

/** A packet; the outer packet of a tunnel contains another one. */
export interface CarriedPacket extends Packet {
  readonly inner: VxlanFrame | EncryptedPacket | undefined;
}

export interface VxlanFrame {
  readonly vni: number;
  readonly mac: string;
  readonly packet: CarriedPacket;
}

/** In WireGuard, with the public keys of its ends. */
export interface EncryptedPacket {
  readonly sender: string;
  readonly receiver: string;
  readonly packet: CarriedPacket;
}

/** Whether it cannot open a connection. */
export function isWithinConnection({ protocol, tcpFlags = ['SYN'] }: Packet): boolean {
  return protocol === 'TCP' && (!tcpFlags.includes('SYN') || tcpFlags.includes('ACK'));
}

/** The first reply to a packet, as its receiver sends it. */
export function replyTo(packet: Packet): Packet {
  const { source, destination, protocol, sourcePort, destinationPort } = packet;
  return {
    source: destination,
    destination: source,
    protocol,
    sourcePort: destinationPort,
    destinationPort: sourcePort,
    ...(protocol === 'TCP' && { tcpFlags: ['SYN', 'ACK'] }),
    ...(protocol === 'ICMP' && { isEchoReply: true }),
  };
}
