/** Messages about connections of TCP (`sock_diag`). */
import { formatIp, parseIp } from '#models/ip.ts';
import type { Connection } from '#plugins/controller/api/ports/host.ts';
import { attributesOf } from './attributes.ts';
import type { Message, Request } from './messages.ts';
import {
  ANSWER_LENGTH,
  CONNECTED,
  decodeSocket,
  dumpSockets,
  endOf,
  type SocketEnd,
  socketRequest,
} from './sockets.ts';

export const TCP = 6;
/** FIN_WAIT1, FIN_WAIT2, LAST_ACK, CLOSING: the process has closed its direction. */
const closedStates = [4, 5, 9, 11];
const CLOSE_WAIT = 8;
export const openStates = [CONNECTED, CLOSE_WAIT, ...closedStates] as const;

export const STATE_IN_ANSWER = 1;
/** Bytes that the other end has not acknowledged, or that were not sent. */
const UNACKNOWLEDGED_IN_ANSWER = 60;

export const INFO = 2;
/** `struct tcp_info` of Linux 4.19 and later. */
export const INFO_LENGTH = 216;
export const inInfo = {
  /** Smoothed, in microseconds. */
  rtt: 68,
  /** Segments. */
  allSentAgain: 100,
  acknowledged: 120,
  received: 128,
  unsent: 144,
  /** Microseconds in which the window of the other end was full. */
  stalled: 176,
  sent: 200,
  sentAgain: 208,
} as const;

/** Of one family: about 20,000 connections. The event loop takes a hundred milliseconds to take over so many. */
export const MAXIMUM_DUMP = 8 * 1024 * 1024;

export function dumpTcpConnections(family: number): Request {
  return dumpSockets(socketRequest(family, TCP, openStates, 1 << (INFO - 1)));
}

/** @returns undefined if the kernel does not tell who has opened it */
export function decodeTcpConnection({ body }: Message): Connection | undefined {
  const { family, id } = decodeSocket(body);
  const openedBy = openerOf(body);
  if (openedBy === undefined) return undefined;
  const end = (side: 'local' | 'remote') => withoutMapping(endOf(id, family, side));
  return { local: end('local'), remote: end('remote'), openedBy };
}

/**
 * The end that has opened the connection, by counters: of acknowledged sequence numbers, and of sent bytes. That end has
 * got an acknowledgment of its SYN by this socket; that of the other end came before it had one. A process cannot
 * pretend, as it can by the port at which it listens.
 */
function openerOf(body: Buffer): Connection['openedBy'] | undefined {
  const info = attributesOf(body.subarray(ANSWER_LENGTH)).get(INFO);
  if (info === undefined || info.length < INFO_LENGTH) return undefined;
  const counter = (at: number) => Number(info.readBigUInt64LE(at));
  const unsent = info.readUInt32LE(inInfo.unsent);
  const onTheWay = body.readUInt32LE(UNACKNOWLEDGED_IN_ANSWER) - unsent;
  const sent = counter(inInfo.sent) - counter(inInfo.sentAgain);
  // nothing follows a FIN, so it was sent if everything was
  const fin = closedStates.includes(body.readUInt8(STATE_IN_ANSWER)) && unsent === 0 ? 1 : 0;
  const syn = counter(inInfo.acknowledged) + onTheWay - sent - fin;
  if (syn === 1) return 'local';
  return syn === 0 ? 'remote' : undefined;
}

/** A socket of IPv6 may have a connection over IPv4: parsing undoes its form. */
function withoutMapping({ address, port }: SocketEnd): SocketEnd {
  const bytes = parseIp(address);
  return { address: bytes ? formatIp(bytes) : address, port };
}
