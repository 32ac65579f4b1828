/** Packets of IPv6 with extension headers, as VPP receives them from an interface. */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseIp } from '#models/ip.ts';
import type { VppProcess } from './vpp-process.ts';

const SENT_MS = 300;

/** Numbers of the headers. */
const headers = { hopByHop: 0, routing: 43, fragment: 44, destination: 60 } as const;

const TCP = 6;
const UDP = 17;
const HOP_LIMIT = 64;
const CLIENT_PORT = 40_000;

type Ends = readonly [source: string, destination: string];

/** A header or payload with the number by which the header before it names it. */
export interface Part {
  readonly number: number;
  /** Its bytes, with the number of the next one where it is an extension header. */
  readonly bytes: (next: number) => Buffer;
}

const NO_NEXT_HEADER = 59;

/** An extension header of eight bytes that says nothing. */
export function extension(kind: Exclude<keyof typeof headers, 'fragment'>): Part {
  const number = headers[kind];
  // PadN of four bytes; of a routing header: type 0 without segments
  const rest = kind === 'routing' ? [0, 0, 0, 0, 0, 0, 0] : [0, 1, 4, 0, 0, 0, 0];
  return { number, bytes: (next) => Buffer.from([next, ...rest]) };
}

/** @param offset in bytes, a multiple of eight */
export function fragment(offset: number, hasMore: boolean, identification = 7): Part {
  return {
    number: headers.fragment,
    bytes: (next) => {
      const bytes = Buffer.alloc(8);
      bytes[0] = next;
      bytes.writeUInt16BE(offset | Number(hasMore), 2);
      bytes.writeUInt32BE(identification, 4);
      return bytes;
    },
  };
}

/** The packet that opens a connection of TCP. */
export function syn(ends: Ends, port: number): Part {
  const bytes = Buffer.alloc(20);
  bytes.writeUInt16BE(CLIENT_PORT, 0);
  bytes.writeUInt16BE(port, 2);
  bytes[12] = 5 << 4;
  bytes[13] = 0x02;
  bytes.writeUInt16BE(0xffff, 14);
  bytes.writeUInt16BE(checksum(ends, TCP, bytes), 16);
  return { number: TCP, bytes: () => bytes };
}

/** A part of a datagram of UDP that is no beginning. */
export function udpBytes(length: number): Part {
  return { number: UDP, bytes: () => Buffer.alloc(length) };
}

/** A header whose bytes are in another fragment: its number alone is known. */
export function continued(number: number): Part {
  return { number, bytes: () => Buffer.alloc(0) };
}

export function ipv6Packet([source, destination]: Ends, ...parts: readonly Part[]): Buffer {
  const payload = Buffer.concat(
    parts.map((part, at) => part.bytes(parts[at + 1]?.number ?? NO_NEXT_HEADER)),
  );
  const header = Buffer.alloc(40);
  header[0] = 6 << 4;
  header.writeUInt16BE(payload.length, 4);
  header[6] = parts[0]?.number ?? NO_NEXT_HEADER;
  header[7] = HOP_LIMIT;
  header.set(parseIp(source)!, 8);
  header.set(parseIp(destination)!, 24);
  return Buffer.concat([header, payload]);
}

/** @param name VPP's name of the interface at which the packet arrives */
export async function receive(
  vpp: VppProcess,
  name: string,
  packet: Buffer,
  count = 1,
): Promise<void> {
  const size = `${packet.length}-${packet.length}`;
  await vpp.cli(
    `packet-generator new { name crafted limit ${count} size ${size} node ip6-input ` +
      `interface ${name} data { hex 0x${packet.toString('hex')} } }`,
  );
  try {
    await vpp.cli('packet-generator enable-stream crafted');
    await sleep(SENT_MS);
  } finally {
    await vpp.cli('packet-generator delete crafted');
  }
}

function checksum([source, destination]: Ends, protocol: number, bytes: Buffer): number {
  const pseudo = Buffer.alloc(8);
  pseudo.writeUInt32BE(bytes.length, 0);
  pseudo[7] = protocol;
  const all = Buffer.concat([parseIp(source)!, parseIp(destination)!, pseudo, bytes]);
  let sum = 0;
  for (let at = 0; at < all.length; at += 2) sum += all.readUInt16BE(at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}
