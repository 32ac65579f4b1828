/**
 * Programs that the kernel runs when a connection of TCP begins, waits or ends, and when a socket is closed: an event for each
 * that opens, for each first packet that is sent again, and for the end. Nothing is done for the packets in between. Those of
 * datagrams are in `datagram-program.ts`. Connections to the loopback address are left out.
 *
 * `r6` is what has happened (`struct bpf_sock_ops`, or `bpf_sock`), `r7` the state of the connection.
 */
import { Assembler } from '../bpf/assembler.ts';
import type { FlowHook } from '../bpf/program.ts';
import { datagramProgram } from './datagram-program.ts';
import { connectionFlags, connectionState, eventKinds, flowEvent } from './layout.ts';
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

/** `struct bpf_sock_ops` */
const ops = {
  operation: 0,
  arguments: 4,
  family: 20,
  remoteIp4: 24,
  localIp4: 28,
  remoteIp6: 32,
  localIp6: 48,
  remotePort: 64,
  localPort: 68,
  rtt: 80,
  callbacks: 84,
  state: 88,
  retransmissions: 136,
  received: 168,
  sent: 176,
  socket: 184,
} as const;

/** `struct bpf_sock` */
const socket = { protocol: 12, state: 72 } as const;

const operations = {
  connects: 3,
  isAnswered: 4,
  accepts: 5,
  isUnanswered: 8,
  changesState: 10,
} as const;

const callbacks = { unanswered: 1, state: 4 } as const;
const states = { synSent: 2, finWait2: 5, closed: 7 } as const;
const TCP = 6;
const IPV4 = 2;
/** `::1` at offset 12, in the byte order of the machine. */
const LOOPBACK_END = 0x0100_0000;
const LOOPBACK_NET = 127;

/** Places on the stack. */
const stack = { event: -flowEvent.length, counter: -flowEvent.length - 8 } as const;
const words = [0, 4, 8, 12] as const;

export function flowProgram(hook: FlowHook, maps: FlowMapFiles, traits: FlowProgramTraits): Buffer {
  const code = new Assembler();
  code.set('r6', 'r1');
  if (hook === 'ingress' || hook === 'egress') datagramProgram(code, hook, maps, traits);
  else if (hook === 'release') released(code, maps);
  else connection(code, maps, traits);
  return code.bytes();
}

/** A process closes its socket; `r6` is the socket. Later the kernel closes the connection, as after a reset. */
function released(code: Assembler, maps: FlowMapFiles): void {
  code.load('r1', 4, 'r6', socket.protocol).jumpIf('r1', 'notEqual', TCP, 'pass');
  code.load('r1', 4, 'r6', socket.state).jumpIf('r1', 'notEqual', states.synSent, 'pass');
  code.map('r1', maps.states).set('r2', 'r6').set('r3', 0).set('r4', 0).call(helper.socketStorage);
  code.jumpIf('r0', 'equal', 0, 'pass').set('r7', 'r0');
  setFlag(code, connectionFlags.isGivenUp);
  pass(code);
}

function connection(code: Assembler, maps: FlowMapFiles, traits: FlowProgramTraits): void {
  code.load('r1', 4, 'r6', ops.operation);
  code.jumpIf('r1', 'equal', operations.connects, 'connects');
  code.jumpIf('r1', 'equal', operations.accepts, 'accepts');
  code.jumpIf('r1', 'equal', operations.isAnswered, 'is-answered');
  code.jumpIf('r1', 'equal', operations.isUnanswered, 'is-unanswered');
  code.jumpIf('r1', 'equal', operations.changesState, 'changes-state');
  code.jump('pass');

  code.label('connects');
  begin(code, maps, { flags: 0, name: 'connects' });
  if (maps.services) copyService(code, maps.services.sockets);
  setCallbacks(code, callbacks.unanswered | callbacks.state);
  code.jump('pass');

  code.label('accepts');
  begin(code, maps, { flags: connectionFlags.isServer, name: 'accepts' });
  setCallbacks(code, callbacks.state);
  code.store(4, 'r10', stack.event + flowEvent.kind, eventKinds.opened);
  code.jump('send');

  code.label('is-answered');
  findState(code, maps, 0);
  code.store(4, 'r10', stack.event + flowEvent.kind, eventKinds.opened);
  code.jump('send');

  code.label('is-unanswered');
  code.load('r1', 4, 'r6', ops.state).jumpIf('r1', 'notEqual', states.synSent, 'pass');
  findState(code, maps, 0);
  code.load('r1', 4, 'r6', ops.arguments + 8).jumpIf('r1', 'equal', 0, 'waits');
  setFlag(code, connectionFlags.isExpired);
  // its end follows at once
  code.jump('pass');
  code.label('waits');
  code.store(4, 'r10', stack.event + flowEvent.kind, eventKinds.unanswered);
  code.jump('send');

  code.label('changes-state');
  code.load('r1', 4, 'r6', ops.arguments + 4).jumpIf('r1', 'equal', states.closed, 'ends');
  code.jumpIf('r1', 'notEqual', states.finWait2, 'pass');
  findState(code, maps, 0);
  code.load('r1', 8, 'r6', ops.received).store(8, 'r7', connectionState.receivedBefore, 'r1');
  code.jump('pass');
  code.label('ends');
  findState(code, maps, 0);
  code.store(4, 'r10', stack.event + flowEvent.kind, eventKinds.ended);

  code.label('send');
  writeEvent(code, traits);
  output(code, maps, { at: stack.event, length: flowEvent.length });
  code.jumpIf('r0', 'equal', 0, 'pass');
  code.label('lost');
  countUp(code, maps, 'lost', { at: stack.counter, otherwise: 'pass' });
  pass(code);
}

interface Begin {
  readonly flags: number;
  /** Prefix of the labels. */
  readonly name: string;
}

/** The state of a new connection, which may be that of an earlier one of the socket. */
function begin(code: Assembler, maps: FlowMapFiles, { flags, name }: Begin): void {
  unlessLoopback(code, name);
  findState(code, maps, CREATE);
  code.call(helper.time).store(8, 'r7', connectionState.begun, 'r0');
  for (let at: number = connectionState.service; at < connectionState.flags; at += 4)
    code.store(4, 'r7', at, 0);
  code.store(4, 'r7', connectionState.flags, flags);
  code.store(8, 'r7', connectionState.receivedBefore, 0);
}

/** Continues at `<name>-other` unless the other end is a loopback address. */
function unlessLoopback(code: Assembler, name: string): void {
  const other = `${name}-other`;
  code.load('r1', 4, 'r6', ops.family).jumpIf('r1', 'equal', IPV4, `${name}-4`);
  for (const word of [0, 4])
    code.load('r1', 4, 'r6', ops.remoteIp6 + word).jumpIf('r1', 'notEqual', 0, other);
  code.load('r1', 4, 'r6', ops.remoteIp6 + 8).load('r2', 4, 'r6', ops.remoteIp6 + 12);
  code.setLong('r3', BigInt(MAPPED)).jumpIf('r1', 'equal', 'r3', `${name}-mapped`);
  code.jumpIf('r1', 'notEqual', 0, other);
  code.jumpIf('r2', 'equal', LOOPBACK_END, 'pass').jump(other);
  code.label(`${name}-4`).load('r2', 4, 'r6', ops.remoteIp4);
  code.label(`${name}-mapped`).and('r2', 0xff).jumpIf('r2', 'equal', LOOPBACK_NET, 'pass');
  code.label(other);
}

/** `r7` is the state of the connection; without one it began before the program ran, or is left out. */
function findState(code: Assembler, maps: FlowMapFiles, flags: number): void {
  code.load('r2', 8, 'r6', ops.socket).jumpIf('r2', 'equal', 0, 'pass');
  code.map('r1', maps.states).set('r3', 0).set('r4', flags).call(helper.socketStorage);
  code.jumpIf('r0', 'equal', 0, flags === CREATE ? 'lost' : 'pass').set('r7', 'r0');
}

/** The address that the process has given to `connect`, if a program of services has translated it. */
function copyService(code: Assembler, services: number): void {
  code.load('r2', 8, 'r6', ops.socket).jumpIf('r2', 'equal', 0, 'no-service');
  code.map('r1', services).set('r3', 0).set('r4', 0).call(helper.socketStorage);
  code.jumpIf('r0', 'equal', 0, 'no-service');
  for (let at = 0; at < 20; at += 4)
    code.load('r1', 4, 'r0', at).store(4, 'r7', connectionState.service + at, 'r1');
  code.label('no-service');
}

function setFlag(code: Assembler, flag: number): void {
  code.load('r1', 4, 'r7', connectionState.flags).or('r1', flag);
  code.store(4, 'r7', connectionState.flags, 'r1');
}

/** Besides those that other programs want. */
function setCallbacks(code: Assembler, wanted: number): void {
  code.load('r2', 4, 'r6', ops.callbacks).or('r2', wanted).set('r1', 'r6');
  code.call(helper.setCallbacks);
}

/** All but its kind to the stack. */
function writeEvent(code: Assembler, { knowsNamespace }: FlowProgramTraits): void {
  const at = (field: Exclude<keyof typeof flowEvent, 'length'>): number =>
    stack.event + flowEvent[field];
  code.call(helper.time).store(8, 'r10', at('time'), 'r0');
  code.set('r1', 'r6').call(helper.socketCookie).store(8, 'r10', at('socket'), 'r0');
  if (knowsNamespace)
    code.set('r1', 'r6').call(helper.namespaceCookie).store(8, 'r10', at('namespace'), 'r0');
  else code.store(8, 'r10', at('namespace'), 0);
  for (let offset = 0; offset < connectionState.length; offset += 4)
    code.load('r1', 4, 'r7', offset).store(4, 'r10', at('state') + offset, 'r1');
  for (const [field, offset] of [
    ['sent', ops.sent],
    ['received', ops.received],
  ] as const)
    code.load('r1', 8, 'r6', offset).store(8, 'r10', at(field), 'r1');
  for (const [field, offset] of [
    ['localPort', ops.localPort],
    ['remotePort', ops.remotePort],
    ['oldState', ops.arguments],
    ['rtt', ops.rtt],
    ['retransmissions', ops.retransmissions],
  ] as const)
    code.load('r1', 4, 'r6', offset).store(4, 'r10', at(field), 'r1');
  code.load('r1', 4, 'r6', ops.family).jumpIf('r1', 'equal', IPV4, 'event-4');
  for (const word of words) {
    code.load('r1', 4, 'r6', ops.localIp6 + word).store(4, 'r10', at('localAddress') + word, 'r1');
    code.load('r1', 4, 'r6', ops.remoteIp6 + word);
    code.store(4, 'r10', at('remoteAddress') + word, 'r1');
  }
  code.jump('event-done').label('event-4');
  for (const [field, offset] of [
    ['localAddress', ops.localIp4],
    ['remoteAddress', ops.remoteIp4],
  ] as const) {
    code.store(8, 'r10', at(field), 0).store(4, 'r10', at(field) + 8, MAPPED);
    code.load('r1', 4, 'r6', offset).store(4, 'r10', at(field) + 12, 'r1');
  }
  code.label('event-done');
}
