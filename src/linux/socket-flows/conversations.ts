/** Conversations of datagrams, as their programs keep and report them, as events of connections. */
import type { Clock } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import type { BpfMap } from '../bpf/map.ts';
import type {
  AnyConnectionEvent,
  ConnectionCounters,
  ConnectionEnd,
  ConnectionEvent,
  EndedConnection,
  OngoingConnection,
} from './api.ts';
import type { FlowCounters } from './counters.ts';
import { addressAt, conversation, conversationFlags, conversationKey } from './layout.ts';

/** Without a datagram for so long a conversation has ended. */
export const IDLE_MS = 60_000;

/** Meaning of the numbers of the kernel. */
export interface KernelTerms {
  /** @param time nanoseconds of the kernel @returns milliseconds since the epoch */
  time(time: bigint): number;
  /** Whether a cookie is that of the network namespace of the host; undefined: unknown. */
  isOfHost(namespace: bigint): boolean | undefined;
}

/** @param bytes the key of a conversation, and its entry behind it */
export function conversationEvent(bytes: Buffer, terms: KernelTerms): ConnectionEvent {
  const entry = bytes.subarray(conversationKey.length);
  const flags = entry.readUInt32LE(conversation.flags);
  const any = anyEvent(bytes, entry, terms);
  if (flags & conversationFlags.isEnded) return ended(any, entry, flags);
  return { kind: flags & conversationFlags.isAnswered ? 'opened' : 'begun', ...any };
}

export interface MeasureDeps {
  readonly conversations: Pick<BpfMap, 'entries' | 'delete'>;
  readonly counters: Pick<FlowCounters, 'get' | 'set'>;
  readonly terms: KernelTerms;
  readonly clock: Clock;
}

/**
 * Calls back with conversations that continue, and ends those that are silent.
 * @returns how many have left the map for newer ones since it was made, at least
 */
export async function measureConversations(
  { conversations, counters, terms, clock }: MeasureDeps,
  each: (one: OngoingConnection | EndedConnection) => void,
): Promise<number> {
  const slices = new Slices(clock);
  // before the entries: those that begin meanwhile are not taken for others
  const begun = counters.get('begun');
  const all = await conversations.entries(clock);
  const missing = begun - counters.get('removed') - all.length;
  await slices.each(all, ([key, entry]) => {
    const any = anyEvent(key, entry, terms);
    const flags = entry.readUInt32LE(conversation.flags);
    if (clock.now() - any.time < IDLE_MS)
      each({
        kind: 'goes-on',
        ...any,
        isAnswered: (flags & conversationFlags.isAnswered) !== 0,
        stalledMs: 0,
        ...countersOf(entry, any.side),
      });
    // one that was dropped meanwhile may have begun again
    else if (conversations.delete(key)) {
      counters.set('removed', counters.get('removed') + 1);
      each(ended(any, entry, flags));
    }
  });
  return Math.max(0, missing);
}

function ended(any: AnyConnectionEvent, entry: Buffer, flags: number): EndedConnection {
  return {
    kind: 'ended',
    ...any,
    outcome: flags & conversationFlags.isAnswered ? 'closed' : 'unanswered',
    ...countersOf(entry, any.side),
  };
}

function anyEvent(key: Buffer, entry: Buffer, { time, isOfHost }: KernelTerms): AnyConnectionEvent {
  const begun = entry.readBigUInt64LE(conversation.begun);
  // the clock of the last datagram is some milliseconds behind
  const last = Math.max(time(begun), time(entry.readBigUInt64LE(conversation.last)));
  const isServer = key.readUInt16LE(conversationKey.isServer) === 1;
  const client: ConnectionEnd = {
    address: addressAt(key, conversationKey.client),
    port: entry.readUInt16BE(conversation.firstPort),
  };
  const server: ConnectionEnd = {
    address: addressAt(key, conversationKey.server),
    port: key.readUInt16BE(conversationKey.port),
  };
  return {
    id: `${entry.readBigUInt64LE(conversation.socket)}-${begun}`,
    protocol: 'UDP',
    time: last,
    begun: time(begun),
    side: isServer ? 'server' : 'client',
    isOfHost: isOfHost(entry.readBigUInt64LE(conversation.namespace)),
    local: isServer ? server : client,
    remote: isServer ? client : server,
    service: serviceOf(entry),
  };
}

function serviceOf(entry: Buffer): ConnectionEnd | undefined {
  const port = entry.readUInt16BE(conversation.service + 16);
  return port === 0 ? undefined : { address: addressAt(entry, conversation.service), port };
}

function countersOf(entry: Buffer, side: 'client' | 'server'): ConnectionCounters {
  const number = (field: keyof typeof conversation): number =>
    Number(entry.readBigUInt64LE(conversation[field]));
  const client = { packets: number('clientPackets'), bytes: number('clientBytes') };
  const server = { packets: number('serverPackets'), bytes: number('serverBytes') };
  const [own, other] = side === 'client' ? [client, server] : [server, client];
  return {
    sent: own.bytes,
    received: other.bytes,
    rttUs: 0,
    retransmissions: 0,
    datagrams: { sent: own.packets, received: other.packets, sockets: number('sockets') },
  };
}
