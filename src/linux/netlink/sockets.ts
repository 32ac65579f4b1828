/** Messages about sockets (`sock_diag`): what all protocols have, and those of datagrams that are connected. */
import { formatIp } from '#models/ip.ts';
import { malformed, zeros } from './attributes.ts';
import { flags, type Message, type Request } from './messages.ts';

const BY_FAMILY = 20;
const END = 21;

const UDP = 17;
/** The state of a connected socket, also of datagrams. */
export const CONNECTED = 1;

/** `struct inet_diag_req_v2` */
const REQUEST_LENGTH = 56;
/** `struct inet_diag_sockid`, in requests and answers. */
const ID_LENGTH = 48;
const ID_IN_REQUEST = 8;
/** `struct inet_diag_msg` */
export const ANSWER_LENGTH = 72;
const ID_IN_ANSWER = 4;
const COOKIE_IN_ID = 40;
/** Positions of the port and the address of an end. */
const positions = { local: { port: 0, address: 4 }, remote: { port: 2, address: 20 } } as const;

export const socketFamilies = { ipv4: 2, ipv6: 10 } as const;

export interface SocketEnd {
  readonly address: string;
  readonly port: number;
}

export interface FoundSocket {
  readonly family: number;
  /** As the kernel names it, cookie included. */
  readonly id: Uint8Array;
  /** By which BPF programs know it, too. */
  readonly cookie: bigint;
  readonly remote: SocketEnd;
}

/** @param details which attributes an answer is to have, as bits */
export function socketRequest(
  family: number,
  protocol: number,
  states: readonly number[],
  details = 0,
): Buffer {
  const bytes = zeros(REQUEST_LENGTH);
  bytes[0] = family;
  bytes[1] = protocol;
  bytes[2] = details;
  const mask = states.reduce((bits, state) => bits | (1 << state), 0);
  bytes.writeUInt32LE(mask, 4);
  return bytes;
}

export function dumpSockets(body: Buffer): Request {
  return { type: BY_FAMILY, flags: flags.request | flags.root | flags.match, body };
}

export function dumpDatagramSockets(family: number): Request {
  return dumpSockets(socketRequest(family, UDP, [CONNECTED]));
}

export function decodeDatagramSocket({ body }: Message): FoundSocket {
  const { family, id } = decodeSocket(body);
  return {
    family,
    id,
    cookie: id.readBigUInt64LE(COOKIE_IN_ID),
    remote: endOf(id, family, 'remote'),
  };
}

export function decodeSocket(body: Buffer): { readonly family: number; readonly id: Buffer } {
  if (body.length < ANSWER_LENGTH) throw malformed('truncated socket');
  const id = Buffer.from(body.subarray(ID_IN_ANSWER, ID_IN_ANSWER + ID_LENGTH));
  return { family: body.readUInt8(0), id };
}

export function endOf(id: Buffer, family: number, side: 'local' | 'remote'): SocketEnd {
  const length = family === socketFamilies.ipv4 ? 4 : 16;
  const at = positions[side];
  const bytes = id.subarray(at.address, at.address + length);
  return { address: formatIp(bytes), port: id.readUInt16BE(at.port) };
}

/** The next call of the process on it fails. One that has connected elsewhere meanwhile is not found: ENOENT. */
export function endDatagramSocket({ family, id }: FoundSocket): Request {
  const body = socketRequest(family, UDP, [CONNECTED]);
  body.set(id, ID_IN_REQUEST);
  return { type: END, flags: flags.request | flags.ack, body };
}
