/** Messages about sockets (`sock_diag`): those of datagrams that are connected. */
import { formatIp } from '#models/ip.ts';
import { malformed, zeros } from './attributes.ts';
import { flags, type Message, type Request } from './messages.ts';

const BY_FAMILY = 20;
const END = 21;

const UDP = 17;
/** The state of a connected socket, also of datagrams. */
const CONNECTED = 1;

/** `struct inet_diag_req_v2` */
const REQUEST_LENGTH = 56;
/** `struct inet_diag_sockid`, in requests and answers. */
const ID_LENGTH = 48;
const ID_IN_REQUEST = 8;
/** `struct inet_diag_msg` */
const ANSWER_LENGTH = 72;
const ID_IN_ANSWER = 4;
const REMOTE_PORT_IN_ID = 2;
const REMOTE_ADDRESS_IN_ID = 20;
const COOKIE_IN_ID = 40;

export const socketFamilies = { ipv4: 2, ipv6: 10 } as const;

export interface FoundSocket {
  readonly family: number;
  /** As the kernel names it, cookie included. */
  readonly id: Uint8Array;
  /** By which BPF programs know it, too. */
  readonly cookie: bigint;
  readonly remote: { readonly address: string; readonly port: number };
}

function request(family: number): Buffer {
  const bytes = zeros(REQUEST_LENGTH);
  bytes[0] = family;
  bytes[1] = UDP;
  bytes.writeUInt32LE(1 << CONNECTED, 4);
  return bytes;
}

export function dumpDatagramSockets(family: number): Request {
  const dump = flags.request | flags.root | flags.match;
  return { type: BY_FAMILY, flags: dump, body: request(family) };
}

export function decodeDatagramSocket({ body }: Message): FoundSocket {
  if (body.length < ANSWER_LENGTH) throw malformed('truncated socket');
  const id = Buffer.from(body.subarray(ID_IN_ANSWER, ID_IN_ANSWER + ID_LENGTH));
  const family = body.readUInt8(0);
  const length = family === socketFamilies.ipv4 ? 4 : 16;
  const address = formatIp(id.subarray(REMOTE_ADDRESS_IN_ID, REMOTE_ADDRESS_IN_ID + length));
  const remote = { address, port: id.readUInt16BE(REMOTE_PORT_IN_ID) };
  return { family, id, cookie: id.readBigUInt64LE(COOKIE_IN_ID), remote };
}

/** The next call of the process on it fails. One that has connected elsewhere meanwhile is not found: ENOENT. */
export function endDatagramSocket({ family, id }: FoundSocket): Request {
  const body = request(family);
  body.set(id, ID_IN_REQUEST);
  return { type: END, flags: flags.request | flags.ack, body };
}
