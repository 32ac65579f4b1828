/** Ethernet frames with datagrams of UDP, and a capture file of them (pcap) that VPP's packet generator sends. */
import { parseIp } from '#models/ip.ts';

export interface Link {
  /** `aa:bb:cc:dd:ee:ff`. */
  readonly sourceMac: string;
  readonly destinationMac: string;
}

export interface Datagram {
  /** Both of one family. */
  readonly source: string;
  readonly destination: string;
  readonly sourcePort: number;
  readonly destinationPort: number;
  readonly payload?: Buffer;
}

/** VPP pads no packet: the smallest frame has so many bytes without its check sequence. */
const SMALLEST_FRAME = 60;
const UDP = 17;
const HOP_LIMIT = 64;
const VXLAN_PORT = 4789;
const VXLAN_HAS_VNI = 0x08;

export function udpFrame(link: Link, datagram: Datagram): Buffer {
  const isIpv6 = datagram.source.includes(':');
  const headers = 14 + (isIpv6 ? 40 : 20) + 8;
  const payload = datagram.payload ?? Buffer.alloc(Math.max(0, SMALLEST_FRAME - headers));
  const udp = Buffer.alloc(8);
  udp.writeUInt16BE(datagram.sourcePort, 0);
  udp.writeUInt16BE(datagram.destinationPort, 2);
  udp.writeUInt16BE(udp.length + payload.length, 4);
  const length = udp.length + payload.length;
  const network = isIpv6 ? ipv6Header(datagram, length) : ipv4Header(datagram, length);
  return Buffer.concat([ethernetHeader(link, isIpv6), network, udp, payload]);
}

export function vxlanFrame(
  link: Link,
  tunnel: Pick<Datagram, 'source' | 'destination'>,
  vni: number,
  inner: Buffer,
): Buffer {
  const vxlan = Buffer.alloc(8);
  vxlan[0] = VXLAN_HAS_VNI;
  vxlan.writeUIntBE(vni, 4, 3);
  const ports = { sourcePort: VXLAN_PORT, destinationPort: VXLAN_PORT };
  return udpFrame(link, { ...tunnel, ...ports, payload: Buffer.concat([vxlan, inner]) });
}

export function captureFile(frames: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(24);
  header.writeUInt32LE(0xa1b2_c3d4, 0);
  header.writeUInt16LE(2, 4);
  header.writeUInt16LE(4, 6);
  header.writeUInt32LE(0xffff, 16);
  header.writeUInt32LE(1, 20);
  const records = frames.flatMap((frame) => {
    const record = Buffer.alloc(16);
    record.writeUInt32LE(frame.length, 8);
    record.writeUInt32LE(frame.length, 12);
    return [record, frame];
  });
  return Buffer.concat([header, ...records]);
}

function ethernetHeader({ sourceMac, destinationMac }: Link, isIpv6: boolean): Buffer {
  const hex = `${destinationMac}${sourceMac}${isIpv6 ? '86dd' : '0800'}`;
  return Buffer.from(hex.replaceAll(':', ''), 'hex');
}

function ipv4Header({ source, destination }: Datagram, length: number): Buffer {
  const header = Buffer.alloc(20);
  header[0] = 0x45;
  header.writeUInt16BE(header.length + length, 2);
  header[8] = HOP_LIMIT;
  header[9] = UDP;
  header.set(bytesOf(source), 12);
  header.set(bytesOf(destination), 16);
  header.writeUInt16BE(checksum(header), 10);
  return header;
}

function ipv6Header({ source, destination }: Datagram, length: number): Buffer {
  const header = Buffer.alloc(40);
  header[0] = 0x60;
  header.writeUInt16BE(length, 4);
  header[6] = UDP;
  header[7] = HOP_LIMIT;
  header.set(bytesOf(source), 8);
  header.set(bytesOf(destination), 24);
  return header;
}

function bytesOf(address: string): Uint8Array {
  const bytes = parseIp(address);
  if (!bytes) throw new Error(`no address: ${address}`);
  return bytes;
}

/** Of the header of IPv4: the complement of the sum of its words. */
function checksum(header: Buffer): number {
  let sum = 0;
  for (let at = 0; at < header.length; at += 2) sum += header.readUInt16BE(at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return ~sum & 0xffff;
}
