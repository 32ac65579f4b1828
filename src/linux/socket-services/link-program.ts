/**
 * The program that the kernel runs for each packet that enters by a link of the host. At a NIC, packets to a node port at
 * an address of this node go to VPP; at the link to VPP, packets from such an endpoint are replies to these, and go
 * where the host routes them. The rest of the kernel does not see either. Everything else passes unchanged, and
 * so do fragments of requests, IPv6, packets with IP options, and those of VLANs, which enter by the link of their VLAN, too.
 *
 * `r6` is the packet (`struct __sk_buff`), `r7` the link to VPP, 0 at this link itself.
 */
import { Assembler } from '../bpf/assembler.ts';
import type { MapFiles } from './programs.ts';

/** `bpf_…` functions of the kernel. */
const helper = { lookup: 1, loadBytes: 68, lookupRoute: 69, redirectToNeighbor: 152 } as const;

/** `struct __sk_buff` */
const packet = { type: 4, protocol: 16, hasTag: 20, link: 40 } as const;

/** Header of IPv4, then the ports. */
const ip = { start: 0, fragment: 6, protocol: 9, source: 12, destination: 16, ports: 20 } as const;
const HEADER_LENGTH = 20;
const ports = { source: ip.ports, destination: ip.ports + 2 } as const;

/** Places on the stack, aligned to 8 bytes. */
const stack = {
  header: -24,
  link: -32,
  /** Endpoint at this node with its protocol: key of `frontends`. */
  asked: -56,
  nodePort: -80,
  /** `struct bpf_redir_neigh` */
  neighbor: -104,
  /** `struct bpf_fib_lookup` */
  route: -168,
} as const;

const NEIGHBOR_LENGTH = 20;
const route = { link: 8, source: 16, destination: 32, length: 64 } as const;
/** Results of a lookup of a route: found, with or without the MAC of the neighbor. */
const FOUND = 0;
const NO_NEIGHBOR = 7;

const PORT = 16;
const PROTOCOL = 18;
const SCOPE = 19;
const THIS_NODE = 1;
const ICMP = 1;
const TCP = 6;
const UDP = 17;
/** Destination unreachable, time exceeded, parameter problem. */
const icmpErrors = [3, 11, 12] as const;
/** Flags of TCP, in the byte at this offset of its header. */
const tcpFlags = { at: 13, syn: 0x02, ack: 0x10 } as const;
/** To this machine, in the field `type`. */
const TO_HOST = 0;
/** Of IPv4, as the machine reads it. */
const ETHERTYPE = 0x0008;
/** All bits of that field but DF; and those of the offset, which the first fragment has not. */
const FRAGMENT_BITS = 0xffbf;
const OFFSET_BITS = 0xff1f;
/** Version 4, 5 words. */
const PLAIN_HEADER = 0x45;
const IPV4 = 2;
/** `::ffff:0:0` as a word at offset 8. */
const MAPPED = 0xffff_0000;
/** Offsets begin at the header of IP. */
const FROM_NETWORK = 1;
/** The next program of the link, then the kernel. */
const PASS = -1;

export function linkProgram(maps: Pick<MapFiles, 'links' | 'nodes' | 'frontends'>): Buffer {
  const code = new Assembler();
  code.set('r6', 'r1');
  code.load('r1', 4, 'r6', packet.type).jumpIf('r1', 'notEqual', TO_HOST, 'pass');
  code.load('r1', 4, 'r6', packet.protocol).jumpIf('r1', 'notEqual', ETHERTYPE, 'pass');
  // of a VLAN whose link is above this one: it would leave with its tag
  code.load('r1', 4, 'r6', packet.hasTag).jumpIf('r1', 'notEqual', 0, 'pass');
  readPacket(code, 0, HEADER_LENGTH);
  code.load('r1', 1, 'r10', stack.header + ip.start).jumpIf('r1', 'notEqual', PLAIN_HEADER, 'pass');
  code.load('r1', 4, 'r6', packet.link).store(4, 'r10', stack.link, 'r1');
  lookup(code, maps.links, stack.link);
  code.jumpIf('r0', 'equal', 0, 'pass').load('r7', 4, 'r0', 0);
  code.load('r1', 4, 'r0', 4).store(4, 'r10', stack.neighbor + 4, 'r1');
  code.jumpIf('r7', 'equal', 0, 'reply');
  request(code, maps);
  reply(code.label('reply'), maps);
  code.label('redirect');
  code.store(4, 'r10', stack.neighbor, IPV4);
  for (const word of [8, 12, 16]) code.store(4, 'r10', stack.neighbor + word, 0);
  code.set('r1', 'r7').set('r2', 'r10').add('r2', stack.neighbor).set('r3', NEIGHBOR_LENGTH);
  code.set('r4', 0).call(helper.redirectToNeighbor).exit();
  code.label('pass').set('r0', PASS).exit();
  return code.bytes();
}

/** A packet at a NIC: `redirect` if NAT44 serves what it asks. */
function request(code: Assembler, maps: Pick<MapFiles, 'nodes' | 'frontends'>): void {
  code.load('r1', 2, 'r10', stack.header + ip.fragment);
  code.jumpIf('r1', 'hasAnyOf', FRAGMENT_BITS, 'pass');
  lookupServed(code, maps, 'destination', 'redirect');
}

/**
 * A packet from VPP: `redirect` by the link to which the host routes it. A pod may send with any source: its packet is a
 * reply only if a client can have asked that port, and if it does not open a connection. Later fragments and errors of ICMP
 * have no port.
 */
function reply(code: Assembler, maps: Pick<MapFiles, 'nodes' | 'frontends'>): void {
  code.load('r1', 2, 'r10', stack.header + ip.fragment);
  code.jumpIf('r1', 'hasAnyOf', OFFSET_BITS, 'without port');
  code.load('r1', 1, 'r10', stack.header + ip.protocol).jumpIf('r1', 'equal', ICMP, 'ICMP');
  code.jumpIf('r1', 'notEqual', TCP, 'with a port');
  readByte(code, HEADER_LENGTH + tcpFlags.at);
  code.jumpIf('r1', 'hasAnyOf', tcpFlags.ack, 'with a port');
  code.jumpIf('r1', 'hasAnyOf', tcpFlags.syn, 'pass');
  code.label('with a port');
  lookupServed(code, maps, 'source', 'reply to a client');
  readByte(code.label('ICMP'), HEADER_LENGTH);
  for (const type of icmpErrors) code.jumpIf('r1', 'equal', type, 'without port');
  code.jump('pass');
  readAddress(code.label('without port'), ip.source);
  lookupOwn(code, maps);
  code.label('reply to a client');
  for (let word = 0; word < route.length; word += 8) code.store(8, 'r10', stack.route + word, 0);
  code.store(1, 'r10', stack.route, IPV4);
  code.load('r1', 4, 'r10', stack.link).store(4, 'r10', stack.route + route.link, 'r1');
  for (const field of ['source', 'destination'] as const)
    code
      .load('r1', 4, 'r10', stack.header + ip[field])
      .store(4, 'r10', stack.route + route[field], 'r1');
  code.set('r1', 'r6').set('r2', 'r10').add('r2', stack.route).set('r3', route.length);
  code.set('r4', 0).call(helper.lookupRoute);
  code.jumpIf('r0', 'equal', FOUND, 'routed').jumpIf('r0', 'notEqual', NO_NEIGHBOR, 'pass');
  code.label('routed');
  // with a gateway of IPv6 the address would be one of that family
  code.load('r1', 1, 'r10', stack.route).jumpIf('r1', 'notEqual', IPV4, 'pass');
  code.load('r7', 4, 'r10', stack.route + route.link);
  code.load('r1', 4, 'r10', stack.route + route.destination);
  code.store(4, 'r10', stack.neighbor + 4, 'r1');
}

/** Bytes of the packet to the stack. */
function readPacket(
  code: Assembler,
  from: number,
  length: number,
  to: number = stack.header,
): void {
  code.set('r1', 'r6').set('r2', from).set('r3', 'r10').add('r3', to).set('r4', length);
  code.set('r5', FROM_NETWORK).call(helper.loadBytes).jumpIf('r0', 'notEqual', 0, 'pass');
}

/** A byte of the packet to `r1`. */
function readByte(code: Assembler, from: number): void {
  readPacket(code, from, 1, stack.asked);
  code.load('r1', 1, 'r10', stack.asked);
}

/** An address of the header as the endpoint `asked`, without port and protocol. */
function readAddress(code: Assembler, from: number): void {
  code.store(8, 'r10', stack.asked, 0).store(4, 'r10', stack.asked + 8, MAPPED);
  code.load('r1', 4, 'r10', stack.header + from).store(4, 'r10', stack.asked + 12, 'r1');
  code.store(4, 'r10', stack.asked + PORT, 0);
}

/** Jumps to the label if NAT44 serves that end of the packet, an address of this node with a port, else to `pass`. */
function lookupServed(
  code: Assembler,
  maps: Pick<MapFiles, 'nodes' | 'frontends'>,
  end: 'source' | 'destination',
  served: string,
): void {
  const hasPorts = `${end} with a port`;
  code.load('r8', 1, 'r10', stack.header + ip.protocol).jumpIf('r8', 'equal', TCP, hasPorts);
  code.jumpIf('r8', 'notEqual', UDP, 'pass').label(hasPorts);
  readAddress(code, ip[end]);
  lookupOwn(code, maps);
  for (const word of [0, 4, 8, 12, 16])
    code.load('r1', 4, 'r0', word).store(4, 'r10', stack.nodePort + word, 'r1');
  readPacket(code, ports[end], 2, stack.asked + PORT);
  code.load('r1', 2, 'r10', stack.asked + PORT).store(2, 'r10', stack.nodePort + PORT, 'r1');
  for (const place of [stack.asked, stack.nodePort]) {
    code.store(1, 'r10', place + PROTOCOL, 'r8');
    lookup(code, maps.frontends, place);
    code.jumpIf('r0', 'notEqual', 0, served);
  }
  code.jump('pass');
}

/** `r0` is the entry of the address, which is one of this node. */
function lookupOwn(code: Assembler, maps: Pick<MapFiles, 'nodes'>): void {
  lookup(code, maps.nodes, stack.asked);
  code.jumpIf('r0', 'equal', 0, 'pass').load('r1', 1, 'r0', SCOPE);
  code.jumpIf('r1', 'notEqual', THIS_NODE, 'pass');
}

/** `r0` is the entry, or 0. */
function lookup(code: Assembler, file: number, key: number): void {
  code.map('r1', file).set('r2', 'r10').add('r2', key).call(helper.lookup);
}
