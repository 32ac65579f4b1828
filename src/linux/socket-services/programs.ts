/**
 * Programs that the kernel runs when a process calls `connect`, `sendmsg`, `recvmsg` or `getpeername`. The first two replace the
 * address of a service by that of a backend, the others hide this from the process. What is no service
 * passes unchanged, and so does what cannot be read: VPP translates it then, if it is a service.
 *
 * `r6` is the call (`struct bpf_sock_addr`), `r7` the group, `r8` its entry.
 */
import { Assembler } from '../bpf/assembler.ts';
import type { Hook } from '../bpf/program.ts';
import { GROUP_SOURCE, type MapName } from './layout.ts';

/** Descriptors of the maps. */
export type MapFiles = Readonly<Record<MapName, number>>;

/** `bpf_…` functions of the kernel. */
const helper = {
  lookup: 1,
  update: 2,
  delete: 3,
  time: 5,
  random: 7,
  bind: 64,
  socketCookie: 46,
  socketStorage: 107,
  deleteSocketStorage: 108,
  namespaceCookie: 122,
  setResult: 187,
} as const;

/** `struct bpf_sock_addr` */
const call = {
  ip4: 4,
  ip6: 8,
  port: 24,
  protocol: 36,
  sourceIp4: 40,
  sourceIp6: 44,
  socket: 64,
} as const;
/** `struct bpf_sock` */
const socket = { protocol: 12, sourceIp4: 24, sourceIp6: 28 } as const;

/** Places on the stack, aligned to 8 bytes. */
const stack = {
  /** Endpoint that the process gave, with its protocol: key of `frontends`. */
  service: -24,
  group: -28,
  /** Endpoint of the backend. */
  backend: -48,
  slot: -56,
  member: -80,
  affinityKey: -96,
  affinity: -128,
  flowKey: -160,
  flow: -184,
  cookie: -192,
  connection: -232,
  reverseKey: -264,
  /** Frontend of a node port. */
  nodePort: -288,
  /** Cookie of the network namespace. */
  namespace: -296,
  /** `struct sockaddr_in` or `sockaddr_in6`. */
  source: -328,
} as const;

/** Offset of the port in an endpoint. */
const PORT = 16;
const PROTOCOL = 18;
/** `::ffff:0:0` as a word at offset 8, in the byte order of the machine. */
const MAPPED = 0xffff_0000;
const NANOSECONDS = 1_000_000_000;
const CONNECTION_REFUSED = 111;
const CREATE = 1;
/** Address family, and length of its `struct sockaddr`. */
const families = { 4: { number: 2, length: 16 }, 6: { number: 10, length: 28 } } as const;
const UDP = 17;

/** Offsets of the words of an address of IPv6. */
const words = [0, 4, 8, 12] as const;
const TRANSLATED = 0;
/** Direction of an entry of `flows`. */
const REVERSE = 1;

/** How the programs of a kernel and a host differ. */
export interface ProgramTraits {
  /**
   * Whether the kernel lets a program choose the error of a call (5.18 and later): without it the process
   * gets EPERM instead of ECONNREFUSED.
   */
  readonly canRefuse: boolean;
  /** Cookie of the network namespace of the host; undefined: unknown, and the source of the host stays as it is. */
  readonly hostNamespace: bigint | undefined;
}

export function program(hook: Hook, maps: MapFiles, traits: ProgramTraits): Buffer {
  const code = new Assembler();
  code.set('r6', 'r1');
  if (hook === 'release') {
    release(code, maps);
    return code.bytes();
  }
  const family = hook.endsWith('4') ? 4 : 6;
  readAddress(code, family);
  if (hook.startsWith('connect') || hook.startsWith('sendmsg'))
    translate(code, { ...traits, family, maps, isConnect: hook.startsWith('connect') });
  else restore(code, { family, maps, isDatagram: hook.startsWith('recvmsg') });
  return code.bytes();
}

/** The endpoint of the call to the stack. */
function readAddress(code: Assembler, family: 4 | 6): void {
  const at = stack.service;
  if (family === 4) {
    code.store(8, 'r10', at, 0);
    code.store(4, 'r10', at + 8, MAPPED);
    code.load('r1', 4, 'r6', call.ip4).store(4, 'r10', at + 12, 'r1');
  } else
    for (const word of words)
      code.load('r1', 4, 'r6', call.ip6 + word).store(4, 'r10', at + word, 'r1');
  code.load('r1', 4, 'r6', call.port).store(2, 'r10', at + PORT, 'r1');
  code.store(2, 'r10', at + PROTOCOL, 0);
}

/** An endpoint on the stack to the call. */
function writeAddress(code: Assembler, family: 4 | 6, at: number): void {
  if (family === 4) code.load('r1', 4, 'r10', at + 12).store(4, 'r6', call.ip4, 'r1');
  else
    for (const word of words)
      code.load('r1', 4, 'r10', at + word).store(4, 'r6', call.ip6 + word, 'r1');
  code.load('r1', 2, 'r10', at + PORT).store(4, 'r6', call.port, 'r1');
}

interface EndpointPlace {
  readonly base: 'r0' | 'r10';
  readonly offset: number;
}

function copyEndpoint(code: Assembler, from: EndpointPlace, to: EndpointPlace): void {
  for (const word of [0, 4, 8, 12, 16])
    code.load('r1', 4, from.base, from.offset + word).store(4, to.base, to.offset + word, 'r1');
}

/** Jumps if two endpoints differ. */
function unlessEqual(
  code: Assembler,
  left: EndpointPlace,
  right: EndpointPlace,
  otherwise: string,
): void {
  for (const word of [0, 4, 8, 12, 16])
    code
      .load('r1', 4, left.base, left.offset + word)
      .load('r2', 4, right.base, right.offset + word)
      .jumpIf('r1', 'notEqual', 'r2', otherwise);
}

const onStack = (offset: number) => ({ base: 'r10', offset }) as const;
const inEntry = (offset: number) => ({ base: 'r0', offset }) as const;

/** `r0` is the entry, or 0. */
function lookup(code: Assembler, file: number, key: number): void {
  code.map('r1', file).set('r2', 'r10').add('r2', key).call(helper.lookup);
}

function update(code: Assembler, file: number, key: number, value: number): void {
  code.map('r1', file).set('r2', 'r10').add('r2', key);
  code.set('r3', 'r10').add('r3', value).set('r4', 0).call(helper.update);
}

function pass(code: Assembler): void {
  code.label('pass').set('r0', 1).exit();
}

interface Translation extends ProgramTraits {
  readonly family: 4 | 6;
  readonly maps: MapFiles;
  readonly isConnect: boolean;
}

function translate(code: Assembler, translation: Translation): void {
  const { family, maps, canRefuse, hostNamespace, isConnect } = translation;
  code.load('r1', 4, 'r6', call.protocol).store(1, 'r10', stack.service + PROTOCOL, 'r1');
  lookup(code, maps.frontends, stack.service);
  code.jumpIf('r0', 'notEqual', 0, 'found');
  lookupNodePort(code, maps);
  code.jumpIf('r0', 'equal', 0, 'none');
  code.label('found');
  code.load('r7', 4, 'r0', 0).store(4, 'r10', stack.group, 'r7');
  code.set('r1', 'r6').call(helper.namespaceCookie).store(8, 'r10', stack.namespace, 'r0');
  lookup(code, maps.exemptions, stack.namespace);
  code.jumpIf('r0', 'notEqual', 0, 'none');
  lookup(code, maps.groups, stack.group);
  code.jumpIf('r0', 'equal', 0, 'none').set('r8', 'r0');
  code.load('r1', 4, 'r8', 0).jumpIf('r1', 'equal', 0, 'refuse');

  // The protocol is no part of an endpoint.
  code.store(2, 'r10', stack.service + PROTOCOL, 0);
  if (!isConnect) recallFlow(code, maps);
  recallAffinity(code, maps);
  chooseSlot(code, maps);
  code.label('chosen');
  keepAffinity(code, maps);
  if (!isConnect) keepFlow(code.label('keep-flow'), maps);
  code.label('translate');
  if (isConnect) keepInSocket(code, maps);
  if (hostNamespace !== undefined) {
    const setSource = isConnect ? bindSocket : setSourceOfDatagram;
    unlessHasSource(code, hostNamespace, 'source');
    setSource(code, family, 'source');
    code.label('source');
  }
  writeAddress(code, family, stack.backend);
  code.jump('pass');

  code.label('none');
  // a socket may have been connected to a service before
  if (isConnect) {
    code.map('r1', maps.sockets).load('r2', 8, 'r6', call.socket).call(helper.deleteSocketStorage);
    code.load('r1', 4, 'r6', call.protocol).jumpIf('r1', 'notEqual', UDP, 'pass');
    deleteConnection(code, maps);
  }
  pass(code);
  code.label('refuse');
  if (canRefuse) code.set('r1', -CONNECTION_REFUSED).call(helper.setResult);
  code.set('r0', 0).exit();
}

/** `r0` is the group of the node port that the process asks for at an address of a node, or 0. */
function lookupNodePort(code: Assembler, maps: MapFiles): void {
  lookup(code, maps.nodes, stack.service);
  code.jumpIf('r0', 'equal', 0, 'none');
  copyEndpoint(code, inEntry(0), onStack(stack.nodePort));
  code.load('r1', 2, 'r10', stack.service + PORT).store(2, 'r10', stack.nodePort + PORT, 'r1');
  code
    .load('r1', 1, 'r10', stack.service + PROTOCOL)
    .store(1, 'r10', stack.nodePort + PROTOCOL, 'r1');
  lookup(code, maps.frontends, stack.nodePort);
}

/** Jumps if the backend on the stack is none of the group any more. */
function unlessMember(code: Assembler, maps: MapFiles, otherwise: string): void {
  code.store(4, 'r10', stack.member, 'r7');
  copyEndpoint(code, onStack(stack.backend), onStack(stack.member + 4));
  lookup(code, maps.members, stack.member);
  code.jumpIf('r0', 'equal', 0, otherwise);
}

/**
 * Datagrams of a socket to a service go to one backend, as long as it is there. Answers come from the service that the
 * socket has asked last, if several have this backend; and a full map may have dropped the entry for them.
 */
function recallFlow(code: Assembler, maps: MapFiles): void {
  code.set('r1', 'r6').call(helper.socketCookie).store(8, 'r10', stack.flowKey, 'r0');
  copyEndpoint(code, onStack(stack.service), onStack(stack.flowKey + 8));
  code.store(4, 'r10', stack.flowKey + 28, TRANSLATED);
  lookup(code, maps.flows, stack.flowKey);
  code.jumpIf('r0', 'equal', 0, 'no-flow');
  copyEndpoint(code, inEntry(0), onStack(stack.backend));
  unlessMember(code, maps, 'no-flow');
  code.load('r1', 8, 'r10', stack.flowKey).store(8, 'r10', stack.reverseKey, 'r1');
  copyEndpoint(code, onStack(stack.backend), onStack(stack.reverseKey + 8));
  code.store(4, 'r10', stack.reverseKey + 28, REVERSE);
  lookup(code, maps.flows, stack.reverseKey);
  code.jumpIf('r0', 'equal', 0, 'keep-flow');
  unlessEqual(code, inEntry(0), onStack(stack.service), 'keep-flow');
  code.jump('translate');
  code.label('no-flow');
}

function recallAffinity(code: Assembler, maps: MapFiles): void {
  code.load('r1', 4, 'r8', 4).jumpIf('r1', 'equal', 0, 'no-affinity');
  code.set('r1', 'r6').call(helper.namespaceCookie).store(8, 'r10', stack.affinityKey, 'r0');
  code.store(4, 'r10', stack.affinityKey + 8, 'r7').store(4, 'r10', stack.affinityKey + 12, 0);
  lookup(code, maps.affinity, stack.affinityKey);
  code.jumpIf('r0', 'equal', 0, 'no-affinity');
  copyEndpoint(code, inEntry(0), onStack(stack.backend));
  code.load('r9', 8, 'r0', 24).call(helper.time).subtract('r0', 'r9');
  code.load('r1', 4, 'r8', 4).set('r2', NANOSECONDS).multiply('r1', 'r2');
  code.jumpIf('r0', 'greater', 'r1', 'no-affinity');
  unlessMember(code, maps, 'no-affinity');
  code.jump('chosen');
  code.label('no-affinity');
}

/** A slot is missing only while the agent makes a group smaller: the first is there until the last. */
function chooseSlot(code: Assembler, maps: MapFiles): void {
  code.call(helper.random).load('r1', 4, 'r8', 0).modulo('r0', 'r1');
  code.store(4, 'r10', stack.slot, 'r7').store(4, 'r10', stack.slot + 4, 'r0');
  lookup(code, maps.slots, stack.slot);
  code.jumpIf('r0', 'notEqual', 0, 'slot');
  code.store(4, 'r10', stack.slot + 4, 0);
  lookup(code, maps.slots, stack.slot);
  code.jumpIf('r0', 'equal', 0, 'refuse');
  code.label('slot');
  copyEndpoint(code, inEntry(0), onStack(stack.backend));
}

function keepAffinity(code: Assembler, maps: MapFiles): void {
  code.load('r1', 4, 'r8', 4).jumpIf('r1', 'equal', 0, 'kept');
  code.set('r1', 'r6').call(helper.namespaceCookie).store(8, 'r10', stack.affinityKey, 'r0');
  code.store(4, 'r10', stack.affinityKey + 8, 'r7').store(4, 'r10', stack.affinityKey + 12, 0);
  copyEndpoint(code, onStack(stack.backend), onStack(stack.affinity));
  code.store(4, 'r10', stack.affinity + 20, 0);
  code.call(helper.time).store(8, 'r10', stack.affinity + 24, 'r0');
  update(code, maps.affinity, stack.affinityKey, stack.affinity);
  code.label('kept');
}

/** Both directions; the key of the first is on the stack. */
function keepFlow(code: Assembler, maps: MapFiles): void {
  copyEndpoint(code, onStack(stack.backend), onStack(stack.flow));
  code.store(4, 'r10', stack.flow + 20, 0);
  update(code, maps.flows, stack.flowKey, stack.flow);
  copyEndpoint(code, onStack(stack.backend), onStack(stack.flowKey + 8));
  code.store(4, 'r10', stack.flowKey + 28, REVERSE);
  copyEndpoint(code, onStack(stack.service), onStack(stack.flow));
  update(code, maps.flows, stack.flowKey, stack.flow);
}

function keepInSocket(code: Assembler, maps: MapFiles): void {
  code.map('r1', maps.sockets).load('r2', 8, 'r6', call.socket);
  code.set('r3', 0).set('r4', CREATE).call(helper.socketStorage);
  code.jumpIf('r0', 'equal', 0, 'unkept');
  copyEndpoint(code, onStack(stack.service), inEntry(0));
  copyEndpoint(code, onStack(stack.backend), inEntry(20));
  code.label('unkept');
  code.load('r1', 4, 'r6', call.protocol).jumpIf('r1', 'notEqual', UDP, 'kept-in-socket');
  code.set('r1', 'r6').call(helper.socketCookie).store(8, 'r10', stack.cookie, 'r0');
  copyEndpoint(code, onStack(stack.service), onStack(stack.connection));
  copyEndpoint(code, onStack(stack.backend), onStack(stack.connection + 20));
  update(code, maps.connections, stack.cookie, stack.connection);
  code.label('kept-in-socket');
}

/**
 * Jumps unless the caller is a process of the host that gets a source of its own. A pod may be permitted to have
 * addresses that are not its own, so that the kernel alone does not refuse it.
 */
function unlessHasSource(code: Assembler, hostNamespace: bigint, otherwise: string): void {
  code.load('r1', 8, 'r10', stack.namespace).setLong('r2', hostNamespace);
  code.jumpIf('r1', 'notEqual', 'r2', otherwise);
  code.load('r1', 4, 'r8', GROUP_SOURCE + 12).jumpIf('r1', 'equal', 0, otherwise);
}

/** Unless the process has chosen a source, or a port. What the kernel refuses is left to it. */
function bindSocket(code: Assembler, family: 4 | 6, otherwise: string): void {
  code.load('r2', 8, 'r6', call.socket);
  const own = family === 4 ? [socket.sourceIp4] : words.map((word) => socket.sourceIp6 + word);
  for (const word of own) code.load('r1', 4, 'r2', word).jumpIf('r1', 'notEqual', 0, otherwise);
  const { number, length } = families[family];
  for (let at = 0; at < length; at += 4) code.store(4, 'r10', stack.source + at, 0);
  code.store(2, 'r10', stack.source, number);
  if (family === 4)
    code.load('r1', 4, 'r8', GROUP_SOURCE + 12).store(4, 'r10', stack.source + 4, 'r1');
  else
    for (const word of words)
      code.load('r1', 4, 'r8', GROUP_SOURCE + word).store(4, 'r10', stack.source + 8 + word, 'r1');
  code.set('r1', 'r6').set('r2', 'r10').add('r2', stack.source).set('r3', length);
  code.call(helper.bind);
}

/** Unless the process has chosen one. */
function setSourceOfDatagram(code: Assembler, family: 4 | 6, otherwise: string): void {
  const own = family === 4 ? [call.sourceIp4] : words.map((word) => call.sourceIp6 + word);
  for (const word of own) code.load('r1', 4, 'r6', word).jumpIf('r1', 'notEqual', 0, otherwise);
  if (family === 4)
    code.load('r1', 4, 'r8', GROUP_SOURCE + 12).store(4, 'r6', call.sourceIp4, 'r1');
  else
    for (const word of words)
      code.load('r1', 4, 'r8', GROUP_SOURCE + word).store(4, 'r6', call.sourceIp6 + word, 'r1');
}

function deleteConnection(code: Assembler, maps: MapFiles): void {
  code.set('r1', 'r6').call(helper.socketCookie).store(8, 'r10', stack.cookie, 'r0');
  code.map('r1', maps.connections).set('r2', 'r10').add('r2', stack.cookie).call(helper.delete);
}

/** A socket is closed; `r6` is the socket. */
function release(code: Assembler, maps: MapFiles): void {
  code.load('r1', 4, 'r6', socket.protocol).jumpIf('r1', 'notEqual', UDP, 'pass');
  deleteConnection(code, maps);
  pass(code);
}

interface Restoring {
  readonly family: 4 | 6;
  readonly maps: MapFiles;
  readonly isDatagram: boolean;
}

/** The endpoint of a backend becomes that of the service which the socket has asked. */
function restore(code: Assembler, { family, maps, isDatagram }: Restoring): void {
  code.map('r1', maps.sockets).load('r2', 8, 'r6', call.socket);
  code.set('r3', 0).set('r4', 0).call(helper.socketStorage);
  code.jumpIf('r0', 'equal', 0, 'unconnected');
  unlessEqual(code, inEntry(20), onStack(stack.service), 'unconnected');
  copyEndpoint(code, inEntry(0), onStack(stack.service));
  code.jump('restore');
  code.label('unconnected');
  if (isDatagram) {
    code.set('r1', 'r6').call(helper.socketCookie).store(8, 'r10', stack.flowKey, 'r0');
    copyEndpoint(code, onStack(stack.service), onStack(stack.flowKey + 8));
    code.store(4, 'r10', stack.flowKey + 28, REVERSE);
    lookup(code, maps.flows, stack.flowKey);
    code.jumpIf('r0', 'equal', 0, 'pass');
    copyEndpoint(code, inEntry(0), onStack(stack.service));
  } else code.jump('pass');
  code.label('restore');
  writeAddress(code, family, stack.service);
  pass(code);
}
