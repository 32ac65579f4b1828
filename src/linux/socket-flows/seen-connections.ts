/** Connections that the programs have seen begin and that continue, with what the kernel counts of them (`sock_diag`). */
import { attribute, attributesOf, numberAttribute } from '../netlink/attributes.ts';
import {
  INFO,
  INFO_LENGTH,
  inInfo,
  MAXIMUM_DUMP,
  openStates,
  STATE_IN_ANSWER,
  TCP,
} from '../netlink/connections.ts';
import type { Message, Request } from '../netlink/messages.ts';
import type { NetlinkSocket } from '../netlink/socket.ts';
import {
  ANSWER_LENGTH,
  decodeSocket,
  dumpSockets,
  socketFamilies,
  socketRequest,
} from '../netlink/sockets.ts';
import { connectionState, eventKinds, flowEvent, measuredEvent } from './layout.ts';

/** Of the request: a map whose entries of the sockets are wanted. */
const STORAGES = 2;
const MAP_FILE = 1;
/** Of an answer. */
const FOUND_STORAGES = 20;
const STORAGE = 1;
const VALUE = 3;

const SYN_SENT = 2;
/** `struct inet_diag_sockid` */
const inId = { localPort: 0, remotePort: 2, local: 4, remote: 20, cookie: 40 } as const;
const ipv4Prefix = Buffer.from('00000000000000000000ffff', 'hex');

/**
 * Those of one network namespace, as events of the layout one behind the other.
 * @param states descriptor of the map with the states of connections
 * @param namespace its cookie; undefined: unknown
 * @throws Refusal, or LinuxError if there are tens of thousands
 */
export function readSeenConnections(
  socket: NetlinkSocket,
  states: number,
  namespace: bigint | undefined,
): Uint8Array {
  const time = process.hrtime.bigint();
  const found = Object.values(socketFamilies).flatMap((family) =>
    socket.dump(
      dumpSeenConnections(family, states),
      (message) => eventOf(message, time, namespace ?? 0n),
      MAXIMUM_DUMP,
    ),
  );
  const all = new Uint8Array(found.length * measuredEvent.length);
  for (const [at, event] of found.entries()) all.set(event, at * measuredEvent.length);
  return all;
}

function dumpSeenConnections(family: number, states: number): Request {
  const request = socketRequest(family, TCP, [SYN_SENT, ...openStates], 1 << (INFO - 1));
  const storages = attribute(STORAGES, numberAttribute(MAP_FILE, states));
  return dumpSockets(Buffer.concat([request, storages]));
}

/** @returns undefined for a connection that began before the programs, or is left out */
function eventOf({ body }: Message, time: bigint, namespace: bigint): Buffer | undefined {
  const { family, id } = decodeSocket(body);
  const attributes = attributesOf(body.subarray(ANSWER_LENGTH));
  const info = attributes.get(INFO);
  const state = stateIn(attributes.get(FOUND_STORAGES));
  if (!state || !info || info.length < INFO_LENGTH) return undefined;
  const event = Buffer.alloc(measuredEvent.length);
  event.writeBigUInt64LE(time, flowEvent.time);
  event.writeBigUInt64LE(id.readBigUInt64LE(inId.cookie), flowEvent.socket);
  event.writeBigUInt64LE(namespace, flowEvent.namespace);
  info.copy(event, flowEvent.sent, inInfo.acknowledged, inInfo.acknowledged + 8);
  info.copy(event, flowEvent.received, inInfo.received, inInfo.received + 8);
  state.copy(event, flowEvent.state, 0, connectionState.length);
  const [local, remote] = [flowEvent.localAddress, flowEvent.remoteAddress];
  for (const [to, from] of [
    [local, inId.local],
    [remote, inId.remote],
  ] as const)
    if (family === socketFamilies.ipv4) {
      ipv4Prefix.copy(event, to);
      id.copy(event, to + ipv4Prefix.length, from, from + 4);
    } else id.copy(event, to, from, from + 16);
  event.writeUInt32LE(id.readUInt16BE(inId.localPort), flowEvent.localPort);
  id.copy(event, flowEvent.remotePort + 2, inId.remotePort, inId.remotePort + 2);
  event.writeUInt32LE(eventKinds.goesOn, flowEvent.kind);
  event.writeUInt32LE(body.readUInt8(STATE_IN_ANSWER), flowEvent.oldState);
  // programs see eighths
  event.writeUInt32LE((info.readUInt32LE(inInfo.rtt) << 3) >>> 0, flowEvent.rtt);
  event.writeUInt32LE(info.readUInt32LE(inInfo.allSentAgain), flowEvent.retransmissions);
  info.copy(event, measuredEvent.stalled, inInfo.stalled, inInfo.stalled + 8);
  return event;
}

function stateIn(storages: Buffer | undefined): Buffer | undefined {
  const storage = storages && attributesOf(storages).get(STORAGE);
  const value = storage && attributesOf(storage).get(VALUE);
  return value && value.length >= connectionState.length ? value : undefined;
}
