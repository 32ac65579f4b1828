/** Messages about sockets (`sock_diag`): those of datagrams that are connected, and those of TCP. */
import { formatIp } from '#models/ip.ts';
import { malformed, zeros } from './attributes.ts';
import { flags, type Message, type Request } from './messages.ts';

const BY_FAMILY = 20;
const END = 21;

const TCP = 6;
const UDP = 17;
/** The state of a connected socket, also of datagrams. */
const CONNECTED = 1;
/** States of sockets of TCP that have a remote end, but for those that have closed it (TIME_WAIT, CLOSE). */
const connectedStates = [CONNECTED, 2, 3, 4, 5, 8, 9, 11, 12];
const LISTENING = 10;

/** `struct inet_diag_req_v2` */
const REQUEST_LENGTH = 56;
/** `struct inet_diag_sockid`, in requests and answers. */
const ID_LENGTH = 48;
const ID_IN_REQUEST = 8;
/** `struct inet_diag_msg` */
const ANSWER_LENGTH = 72;
const STATE_IN_ANSWER = 1;
const ID_IN_ANSWER = 4;
const LOCAL_PORT_IN_ID = 0;
const REMOTE_PORT_IN_ID = 2;
const LOCAL_ADDRESS_IN_ID = 4;
const REMOTE_ADDRESS_IN_ID = 20;
const COOKIE_IN_ID = 40;

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

/** A socket of TCP that listens, or has a remote end. */
export interface FoundTcpSocket {
  readonly local: SocketEnd;
  /** Absent: it listens. */
  readonly remote?: SocketEnd;
}

function request(family: number, protocol: number, states: readonly number[]): Buffer {
  const bytes = zeros(REQUEST_LENGTH);
  bytes[0] = family;
  bytes[1] = protocol;
  const mask = states.reduce((bits, state) => bits | (1 << state), 0);
  bytes.writeUInt32LE(mask, 4);
  return bytes;
}

function dump(body: Buffer): Request {
  return { type: BY_FAMILY, flags: flags.request | flags.root | flags.match, body };
}

export function dumpDatagramSockets(family: number): Request {
  return dump(request(family, UDP, [CONNECTED]));
}

export function dumpTcpSockets(family: number): Request {
  return dump(request(family, TCP, [LISTENING, ...connectedStates]));
}

export function decodeDatagramSocket({ body }: Message): FoundSocket {
  const { family, id } = decode(body);
  const remote = endIn(family, id, REMOTE_ADDRESS_IN_ID, REMOTE_PORT_IN_ID);
  return { family, id, cookie: id.readBigUInt64LE(COOKIE_IN_ID), remote };
}

export function decodeTcpSocket({ body }: Message): FoundTcpSocket {
  const { family, id } = decode(body);
  const local = endIn(family, id, LOCAL_ADDRESS_IN_ID, LOCAL_PORT_IN_ID);
  if (body.readUInt8(STATE_IN_ANSWER) === LISTENING) return { local };
  return { local, remote: endIn(family, id, REMOTE_ADDRESS_IN_ID, REMOTE_PORT_IN_ID) };
}

function decode(body: Buffer): { readonly family: number; readonly id: Buffer } {
  if (body.length < ANSWER_LENGTH) throw malformed('truncated socket');
  const id = Buffer.from(body.subarray(ID_IN_ANSWER, ID_IN_ANSWER + ID_LENGTH));
  return { family: body.readUInt8(0), id };
}

function endIn(family: number, id: Buffer, addressAt: number, portAt: number): SocketEnd {
  const length = family === socketFamilies.ipv4 ? 4 : 16;
  const bytes = id.subarray(addressAt, addressAt + length);
  return { address: formatIp(bytes), port: id.readUInt16BE(portAt) };
}

/** The next call of the process on it fails. One that has connected elsewhere meanwhile is not found: ENOENT. */
export function endDatagramSocket({ family, id }: FoundSocket): Request {
  const body = request(family, UDP, [CONNECTED]);
  body.set(id, ID_IN_REQUEST);
  return { type: END, flags: flags.request | flags.ack, body };
}
