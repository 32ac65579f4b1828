/**
 * Programs that the kernel runs when a socket sends or gets a packet. Those of UDP are counted, by conversation: an event for each
 * that begins, that is answered first, and that is not answered any more although its client continues. All other packets pass at once.
 * Those of loopback addresses, and to groups of hosts, are left out.
 *
 * A packet is a request, from a client to the port of a server, or an answer to one. The end that has sent the first packet is the
 * client. `r6` is the packet (`struct __sk_buff`), `r7` its bytes, `r8` their end, later the conversation.
 */
import type { Assembler } from '../bpf/assembler.ts';
import type { AskedServiceMaps } from '../socket-services/installation.ts';
import {
  conversation,
  conversationEventLength,
  conversationFlags,
  conversationKey,
} from './layout.ts';
import {
  CREATE,
  countUp,
  type FlowMapFiles,
  type FlowProgramTraits,
  helper,
  MAPPED,
  output,
  pass,
} from './program-parts.ts';

/** `struct __sk_buff` */
const packet = { length: 0, data: 76, end: 80, segments: 164, socket: 168 } as const;
const ipv4 = { protocol: 9, source: 12, destination: 16, length: 20 } as const;
const ipv6 = { protocol: 6, source: 8, destination: 24, length: 40 } as const;
const udp = { source: 0, destination: 2, length: 8 } as const;
const UDP = 17;
const VERSION_6 = 0x60;
const LOOPBACK_NET = 127;
/** Of IPv4, first byte: groups of hosts, and all of a network. */
const LAST_UNICAST = 223;
const IPV6_GROUPS = 0xff;
/** `::1` at offset 12, in the byte order of the machine. */
const LOOPBACK_END = 0x0100_0000;
/** Direction of an entry of the flows of services: from the backend. */
const REVERSE = 1;
/** Of an update: the entry must not exist. */
const NEW = 1;
/** A client that gets no answer for longer, and sends, has a new conversation: what it has sent since then is not answered. */
const UNANSWERED_NS = 10_000_000_000n;

/** Places on the stack; the conversation is behind its key. */
const key = -conversationEventLength;
const entry = key + conversationKey.length;
const answered = key - conversationKey.length;
const bytes = answered - 8;
const sourcePort = bytes - 8;
const ports = sourcePort - 8;
const counter = ports - 8;
const flowKey = counter - 32;
const words = [0, 4, 8, 12] as const;

export function datagramProgram(
  code: Assembler,
  hook: 'ingress' | 'egress',
  maps: FlowMapFiles,
  traits: FlowProgramTraits,
): void {
  const isSent = hook === 'egress';
  readPacket(code);
  code.store(2, 'r10', key + conversationKey.isServer, isSent ? 0 : 1);
  code.store(4, 'r10', key + conversationKey.isServer + 2, 0);
  find(code, maps, key);
  code.jumpIf('r0', 'notEqual', 0, 'request');
  turnKey(code, isSent);
  find(code, maps, answered);
  code.jumpIf('r0', 'notEqual', 0, 'answer');

  begin(code, maps, traits, isSent);
  code.jump('count-request');

  code.label('request').set('r8', 'r0');
  now(code, traits);
  code.store(8, 'r8', conversation.last, 'r0');
  code.load('r1', 8, 'r8', conversation.unansweredSince).jumpIf('r1', 'notEqual', 0, 'waits');
  code.store(8, 'r8', conversation.unansweredSince, 'r0').jump('count-request');
  code.label('waits').load('r2', 4, 'r8', conversation.flags);
  code.jumpIf('r2', 'equal', 0, 'count-request');
  code.subtract('r0', 'r1').setLong('r2', UNANSWERED_NS);
  code.jumpIf('r2', 'greater', 'r0', 'count-request');
  endUnanswered(code, maps);

  code.label('count-request');
  count(code, conversation.clientPackets, conversation.clientBytes);
  if (isSent) countSocket(code, maps);
  code.jump('pass');

  code.label('answer').set('r8', 'r0');
  now(code, traits);
  code.store(8, 'r8', conversation.last, 'r0').store(8, 'r8', conversation.unansweredSince, 0);
  count(code, conversation.serverPackets, conversation.serverBytes);
  code.load('r1', 4, 'r8', conversation.flags).jumpIf('r1', 'notEqual', 0, 'pass');
  code.store(4, 'r8', conversation.flags, conversationFlags.isAnswered);
  copy(code, { from: 'r10', offset: answered }, key, conversationKey.length);
  copy(code, { from: 'r8', offset: 0 }, entry, conversation.length);
  send(code, maps, 'pass');
  pass(code);
}

/** As a request: both addresses and the port of the receiver to the key; its bytes, and the port of the sender. */
function readPacket(code: Assembler): void {
  code.load('r7', 4, 'r6', packet.data).load('r8', 4, 'r6', packet.end);
  unlessShort(code, ipv4.length);
  code.load('r1', 1, 'r7', 0).set('r9', 'r1').and('r1', 0xf0);
  code.jumpIf('r1', 'equal', VERSION_6, 'ipv6');
  code.load('r1', 1, 'r7', ipv4.protocol).jumpIf('r1', 'notEqual', UDP, 'pass');
  code.load('r1', 1, 'r7', ipv4.destination).jumpIf('r1', 'equal', LOOPBACK_NET, 'pass');
  code.jumpIf('r1', 'greater', LAST_UNICAST, 'pass');
  for (const [to, from] of [
    [conversationKey.client, ipv4.source],
    [conversationKey.server, ipv4.destination],
  ] as const) {
    code.store(8, 'r10', key + to, 0).store(4, 'r10', key + to + 8, MAPPED);
    code.load('r1', 4, 'r7', from).store(4, 'r10', key + to + 12, 'r1');
  }
  // options may be between the headers
  code.and('r9', 0x0f).multiply('r9', 4).jump('read');

  code.label('ipv6').set('r9', ipv6.length);
  unlessShort(code, ipv6.length);
  code.load('r1', 1, 'r7', ipv6.protocol).jumpIf('r1', 'notEqual', UDP, 'pass');
  code.load('r1', 1, 'r7', ipv6.destination).jumpIf('r1', 'equal', IPV6_GROUPS, 'pass');
  code.set('r2', 0);
  for (const word of words) {
    code.load('r1', 4, 'r7', ipv6.source + word);
    code.store(4, 'r10', key + conversationKey.client + word, 'r1');
    code.load('r1', 4, 'r7', ipv6.destination + word);
    code.store(4, 'r10', key + conversationKey.server + word, 'r1');
    if (word < 12) code.or('r2', 'r1');
  }
  code.jumpIf('r2', 'notEqual', 0, 'no-loopback').jumpIf('r1', 'equal', LOOPBACK_END, 'pass');
  code.label('no-loopback');

  code.label('read').load('r1', 4, 'r6', packet.length).subtract('r1', 'r9');
  code.subtract('r1', udp.length).store(8, 'r10', bytes, 'r1');
  // a pointer with an offset that is not constant needs CAP_PERFMON
  code.set('r1', 'r6').set('r2', 'r9').set('r3', 'r10').add('r3', ports).set('r4', 4);
  code.call(helper.loadBytes).jumpIf('r0', 'notEqual', 0, 'pass');
  code.load('r1', 2, 'r10', ports + udp.source).store(8, 'r10', sourcePort, 'r1');
  code.load('r1', 2, 'r10', ports + udp.destination);
  code.store(2, 'r10', key + conversationKey.port, 'r1');
}

/** The kernel has the header of such a packet in another place: it is not counted. */
function unlessShort(code: Assembler, length: number): void {
  code.set('r1', 'r7').add('r1', length).jumpIf('r1', 'greater', 'r8', 'pass');
}

/** The key of what the packet answers. */
function turnKey(code: Assembler, isSent: boolean): void {
  const { client, server, port, isServer } = conversationKey;
  for (const [to, from] of [
    [client, server],
    [server, client],
  ] as const)
    for (const half of [0, 8])
      code.load('r1', 8, 'r10', key + from + half).store(8, 'r10', answered + to + half, 'r1');
  code.store(8, 'r10', answered + port, 0);
  code.load('r1', 8, 'r10', sourcePort).store(2, 'r10', answered + port, 'r1');
  code.store(2, 'r10', answered + isServer, isSent ? 1 : 0);
}

/** `r0` is the conversation, or 0. */
function find(code: Assembler, maps: FlowMapFiles, at: number): void {
  code.map('r1', maps.conversations).set('r2', 'r10').add('r2', at).call(helper.lookup);
}

/** `r0` is the time, some milliseconds behind. */
function now(code: Assembler, { hasCoarseTime }: FlowProgramTraits): void {
  code.call(hasCoarseTime ? helper.coarseTime : helper.time);
}

/** `r8` is the new conversation. */
function begin(
  code: Assembler,
  maps: FlowMapFiles,
  { knowsNamespace }: FlowProgramTraits,
  isSent: boolean,
): void {
  for (let at = 0; at < conversation.length; at += 8) code.store(8, 'r10', entry + at, 0);
  code.call(helper.time);
  for (const field of ['begun', 'last', 'unansweredSince'] as const)
    code.store(8, 'r10', entry + conversation[field], 'r0');
  code.set('r1', 'r6').call(helper.socketCookie);
  code.store(8, 'r10', entry + conversation.socket, 'r0');
  if (knowsNamespace) {
    code.set('r1', 'r6').call(helper.namespaceCookie);
    code.store(8, 'r10', entry + conversation.namespace, 'r0');
  }
  code.load('r1', 8, 'r10', sourcePort).store(4, 'r10', entry + conversation.firstPort, 'r1');
  if (isSent && maps.services) copyService(code, maps.services);
  code.map('r1', maps.conversations).set('r2', 'r10').add('r2', key);
  code.set('r3', 'r10').add('r3', entry).set('r4', NEW).call(helper.update).set('r7', 'r0');
  find(code, maps, key);
  code.jumpIf('r0', 'notEqual', 0, 'kept');
  countUp(code, maps, 'lost', { at: counter, otherwise: 'pass' });
  code.jump('pass').label('kept').set('r8', 'r0');
  // another processor has begun it at the same time
  code.jumpIf('r7', 'notEqual', 0, 'count-request');
  send(code, maps, 'begun');
  code.label('begun');
  countUp(code, maps, 'begun', { at: counter, otherwise: 'count-request' });
}

/** The address that the process has sent to, if a program of services has translated it. */
function copyService(code: Assembler, services: AskedServiceMaps<number>): void {
  code.load('r2', 8, 'r6', packet.socket).jumpIf('r2', 'equal', 0, 'no-service');
  code.map('r1', services.sockets).set('r3', 0).set('r4', 0).call(helper.socketStorage);
  code.jumpIf('r0', 'equal', 0, 'no-connection');
  const { server, port } = conversationKey;
  for (const word of words)
    code
      .load('r1', 4, 'r0', 20 + word)
      .load('r2', 4, 'r10', key + server + word)
      .jumpIf('r1', 'notEqual', 'r2', 'no-connection');
  code.load('r1', 2, 'r0', 20 + 16).load('r2', 2, 'r10', key + port);
  code.jumpIf('r1', 'equal', 'r2', 'service');
  code.label('no-connection');
  code.load('r1', 8, 'r10', entry + conversation.socket).store(8, 'r10', flowKey, 'r1');
  for (const word of words)
    code.load('r1', 4, 'r10', key + server + word).store(4, 'r10', flowKey + 8 + word, 'r1');
  code.load('r1', 2, 'r10', key + port).store(4, 'r10', flowKey + 24, 'r1');
  code.store(4, 'r10', flowKey + 28, REVERSE);
  code.map('r1', services.flows).set('r2', 'r10').add('r2', flowKey).call(helper.lookup);
  code.jumpIf('r0', 'equal', 0, 'no-service');
  code.label('service');
  for (let at = 0; at < 20; at += 4)
    code.load('r1', 4, 'r0', at).store(4, 'r10', entry + conversation.service + at, 'r1');
  code.label('no-service');
}

/** Ends the conversation, and begins it again. Counters of packets that other processors count meanwhile may be those of either one. */
function endUnanswered(code: Assembler, maps: FlowMapFiles): void {
  copy(code, { from: 'r8', offset: 0 }, entry, conversation.length);
  const { isAnswered, isEnded } = conversationFlags;
  code.store(4, 'r10', entry + conversation.flags, isAnswered | isEnded);
  send(code, maps, 'ended');
  code.label('ended').store(4, 'r8', conversation.flags, 0);
  for (const field of ['clientPackets', 'clientBytes', 'serverPackets', 'serverBytes'] as const)
    code.store(8, 'r8', conversation[field], 0);
  code.store(8, 'r8', conversation.sockets, 0).store(4, 'r8', conversation.clientPort, 0);
  code.call(helper.time);
  for (const field of ['begun', 'last', 'unansweredSince'] as const)
    code.store(8, 'r8', conversation[field], 'r0');
  copy(code, { from: 'r8', offset: 0 }, entry, conversation.length);
  send(code, maps, 'count-request');
}

/** A large packet may be many datagrams yet. */
function count(code: Assembler, packets: number, octets: number): void {
  const name = `one-${packets}`;
  code.load('r1', 4, 'r6', packet.segments).jumpIf('r1', 'notEqual', 0, name).set('r1', 1);
  code.label(name).addTo('r8', packets, 'r1');
  code.load('r1', 8, 'r10', bytes).addTo('r8', octets, 'r1');
}

/** One socket sends from one port: most datagrams come from the port of the one before. */
function countSocket(code: Assembler, maps: FlowMapFiles): void {
  code.load('r1', 8, 'r10', sourcePort).load('r2', 4, 'r8', conversation.clientPort);
  code.jumpIf('r1', 'equal', 'r2', 'pass').store(4, 'r8', conversation.clientPort, 'r1');
  code.load('r2', 8, 'r6', packet.socket).jumpIf('r2', 'equal', 0, 'pass');
  code.map('r1', maps.senders).set('r3', 0).set('r4', CREATE).call(helper.socketStorage);
  code.jumpIf('r0', 'equal', 0, 'pass');
  code.load('r1', 8, 'r8', conversation.begun).load('r2', 8, 'r0', 0);
  code.jumpIf('r1', 'equal', 'r2', 'pass').store(8, 'r0', 0, 'r1');
  code.set('r1', 1).addTo('r8', conversation.sockets, 'r1');
}

interface Source {
  readonly from: 'r8' | 'r10';
  readonly offset: number;
}

function copy(code: Assembler, { from, offset }: Source, to: number, length: number): void {
  for (let at = 0; at < length; at += 8)
    code.load('r1', 8, from, offset + at).store(8, 'r10', to + at, 'r1');
}

/** The key and the entry on the stack. @param done label behind it */
function send(code: Assembler, maps: FlowMapFiles, done: string): void {
  output(code, maps, { at: key, length: conversationEventLength });
  code.jumpIf('r0', 'equal', 0, done);
  countUp(code, maps, 'lost', { at: counter, otherwise: done });
}
