/**
 * The maps that the program and the agent share, and their entries as bytes. Addresses of both families have 16 bytes, IPv4 as
 * `::ffff:a.b.c.d`. Numbers have the byte order of the machine, but for ports of the other end and those of services.
 */
import { formatIp } from '#models/ip.ts';
import type { MapShape } from '../bpf/map.ts';

/** Changes with every shape, and with the meaning of a field: programs and maps of another version are replaced. */
export const FLOW_LAYOUT_VERSION = 3;

/** Longer than the agent ever pauses: some 30,000 events. */
const RING_LENGTH = 1 << 22;

/** Of a connection, from its begin until its socket is closed. */
export const connectionState = {
  /** Nanoseconds of the kernel when it began. */
  begun: 0,
  /** Endpoint of the service, as services at sockets have it; zeros: none. */
  service: 8,
  flags: 28,
  /** Bytes that had come when the other end had acknowledged the end of this one: a later FIN counts as one byte. */
  receivedBefore: 32,
  length: 40,
} as const;

/** Of `connectionState`. */
export const connectionFlags = {
  isServer: 1,
  /** The process has closed the socket before it was answered. */
  isGivenUp: 2,
  /** The kernel has waited for an answer as long as it does. */
  isExpired: 4,
} as const;

/**
 * Key of a conversation of datagrams: all that a client, by any of its sockets, and a port of a server send to each other, as seen at one
 * end.
 */
export const conversationKey = {
  client: 0,
  server: 16,
  /** Of the server, in the byte order of the network: two bytes. */
  port: 32,
  /** Two bytes: 1 at the server. */
  isServer: 34,
  length: 40,
} as const;

/** Entry of a conversation; times in nanoseconds of the kernel, counters of 8 bytes. */
export const conversation = {
  begun: 0,
  last: 8,
  /** The first socket that has sent or received. */
  socket: 16,
  /** Cookie of its network namespace; 0: unknown. */
  namespace: 24,
  /** As in `connectionState`. */
  service: 32,
  flags: 52,
  /** Of the first request that was not answered since the last answer; 0: there is none. */
  unansweredSince: 56,
  clientPackets: 64,
  clientBytes: 72,
  serverPackets: 80,
  serverBytes: 88,
  sockets: 96,
  /** Port of the client's last datagram, in the byte order of the network. */
  clientPort: 104,
  /** Likewise, of the first. */
  firstPort: 108,
  length: 112,
} as const;

/** Of `conversation`. */
export const conversationFlags = { isAnswered: 1, isEnded: 2 } as const;

/** An event of a conversation is its key, with the entry behind it; no other event is as long. */
export const conversationEventLength = conversationKey.length + conversation.length;

export const flowShapes = {
  events: { kind: 'ring', keyLength: 0, valueLength: 0, maxEntries: RING_LENGTH },
  /** By `flowCounters`. */
  counters: { kind: 'array', keyLength: 4, valueLength: 8, maxEntries: 3 },
  states: {
    kind: 'socket',
    keyLength: 4,
    valueLength: connectionState.length,
    maxEntries: 0,
  },
  /** The oldest go first: some 7 MiB. */
  conversations: {
    kind: 'lru',
    keyLength: conversationKey.length,
    valueLength: conversation.length,
    maxEntries: 1 << 15,
  },
  /** Of a socket: begin of the conversation that has counted it last. */
  senders: { kind: 'socket', keyLength: 4, valueLength: 8, maxEntries: 0 },
} as const satisfies Record<string, MapShape>;

export type FlowMapName = keyof typeof flowShapes;

export const flowCounters = {
  /** Events for which the ring had no space. */
  lost: 0,
  /** Conversations that have begun. */
  begun: 1,
  /** Those that agents have removed: the others that are missing were displaced by newer ones. */
  removed: 2,
} as const;

/** Kinds of events; programs do not send the last one. */
export const eventKinds = { opened: 1, unanswered: 2, ended: 3, goesOn: 4 } as const;

/** Offsets in an event. */
export const flowEvent = {
  time: 0,
  socket: 8,
  /** Cookie of the network namespace; 0: unknown. */
  namespace: 16,
  sent: 24,
  received: 32,
  /** A copy of `connectionState`. */
  state: 40,
  localAddress: 80,
  remoteAddress: 96,
  localPort: 112,
  /** A word: the port is the last two bytes, in the byte order of the network. */
  remotePort: 116,
  kind: 120,
  /** State of the connection before. */
  oldState: 124,
  /** In eighths of a microsecond. */
  rtt: 128,
  retransmissions: 132,
  length: 136,
} as const;

/** Behind the fields of an event: what the kernel reports of a connection that continues. */
export const measuredEvent = {
  /** Microseconds in which the window of the other end was full. */
  stalled: 136,
  length: 144,
} as const;

const MAPPED = '00000000000000000000ffff';

/** Text of the address at an offset. */
export function addressAt(bytes: Buffer, offset: number): string {
  const isMapped = bytes.toString('hex', offset, offset + 12) === MAPPED;
  return formatIp(bytes.subarray(isMapped ? offset + 12 : offset, offset + 16));
}
