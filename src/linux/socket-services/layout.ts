/**
 * The maps that programs and agent share: their shapes, and their entries as bytes. Addresses of both families have
 * 16 bytes, IPv4 as `::ffff:a.b.c.d`, so that sockets of IPv6 with such an address need nothing of their own. Ports have
 * the byte order of the network, all other numbers that of the machine. All padding is 0, because keys are compared with it.
 */
import { formatIp, parseIp } from '#models/ip.ts';
import type { MapShape } from '../bpf/map.ts';
import {
  type Destination,
  type ExemptNamespace,
  type Frontend,
  type FrontendScope,
  MAX_NAME_LENGTH,
  maxExemptionLength,
  type NodeAddress,
  nodePortFrontend,
  type ServiceLink,
  type SocketProtocol,
} from './api.ts';

/** Changes with every shape: programs and maps of another version are replaced. */
export const LAYOUT_VERSION = 5;

/** Offsets in the entry of a group: behind slots and affinity. */
export const GROUP_SOURCE = 8;
const GROUP_NAME = 24;

/** Memory of one entry is about its length + 64 bytes. */
export const shapes = {
  /** From the address of a service, or those of nodes, to the group of its backends. */
  frontends: { kind: 'hash', keyLength: 20, valueLength: 4, maxEntries: 1 << 18 },
  /** From an address of a node to the frontend of a node port there, without port and protocol. */
  nodes: { kind: 'hash', keyLength: 16, valueLength: 20, maxEntries: 1 << 15 },
  /** From the index of a link of the host to what its packets are, see `ServiceLink`. */
  links: { kind: 'hash', keyLength: 4, valueLength: 8, maxEntries: 1 << 10 },
  /** By the cookie of an exempt network namespace: name and path of the exemption. */
  exemptions: {
    kind: 'hash',
    keyLength: 8,
    valueLength: maxExemptionLength.name + maxExemptionLength.path,
    maxEntries: 1 << 13,
  },
  /** The agent anchors all other entries here: a group is the last that goes. */
  groups: {
    kind: 'hash',
    keyLength: 4,
    valueLength: GROUP_NAME + MAX_NAME_LENGTH,
    maxEntries: 1 << 17,
  },
  /** From group and number of a slot to a backend; one with weight 3 has 3 slots. */
  slots: { kind: 'hash', keyLength: 8, valueLength: 20, maxEntries: 1 << 19 },
  /** From group and backend to the number of its slots: whether a backend is still there. */
  members: { kind: 'hash', keyLength: 24, valueLength: 4, maxEntries: 1 << 19 },
  /** From network namespace and group to the backend that was chosen last, and when. */
  affinity: { kind: 'lru', keyLength: 16, valueLength: 32, maxEntries: 1 << 16 },
  /** Of sockets that send to services without a connection: what one address was translated to, in both directions. */
  flows: { kind: 'lru', keyLength: 32, valueLength: 24, maxEntries: 1 << 16 },
  /** By the cookie of a connected socket of datagrams, until it is closed: service and backend. */
  connections: { kind: 'hash', keyLength: 8, valueLength: 40, maxEntries: 1 << 18 },
  /** Of a connected socket: the address of the service, then that of the backend. */
  sockets: { kind: 'socket', keyLength: 4, valueLength: 40, maxEntries: 0 },
} as const satisfies Record<string, MapShape>;

export type MapName = keyof typeof shapes;

/** Maps that refuse entries when they are full. */
export type LimitedMapName = {
  [Name in MapName]: (typeof shapes)[Name]['kind'] extends 'hash' ? Name : never;
}[MapName];

const protocolNumbers: Readonly<Record<SocketProtocol, number>> = { TCP: 6, UDP: 17 };

/** By number. */
const scopes: readonly FrontendScope[] = ['ADDRESS', 'THIS_NODE', 'OTHER_NODES'];

/** Address and port: 20 bytes. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

export const ENDPOINT_LENGTH = 20;
const ADDRESS_LENGTH = 16;
/** Offsets in a frontend; behind the address are the port and these. */
const PROTOCOL = 18;
const SCOPE = 19;
const MAPPED = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]);

export function encodeEndpoint({ address, port }: Endpoint): Buffer {
  const bytes = Buffer.alloc(ENDPOINT_LENGTH);
  const ip = parseIp(address);
  if (!ip) throw new RangeError(`address ${address}`);
  if (ip.length === 4) MAPPED.copy(bytes);
  bytes.set(ip, ADDRESS_LENGTH - ip.length);
  bytes.writeUInt16BE(port, ADDRESS_LENGTH);
  return bytes;
}

export function decodeEndpoint(bytes: Buffer): Endpoint {
  const isIpv4 = bytes.subarray(0, MAPPED.length).equals(MAPPED);
  const address = formatIp(bytes.subarray(isIpv4 ? MAPPED.length : 0, ADDRESS_LENGTH));
  return { address, port: bytes.readUInt16BE(ADDRESS_LENGTH) };
}

/** An endpoint with the numbers of protocol and scope in the padding: no socket can ask for those of nodes. */
export function encodeFrontend(frontend: Frontend): Buffer {
  const bytes = encodeEndpoint(frontend);
  bytes.writeUInt8(protocolNumbers[frontend.protocol], PROTOCOL);
  bytes.writeUInt8(scopes.indexOf(frontend.scope), SCOPE);
  return bytes;
}

/** The frontend for datagrams at an endpoint. */
export function datagramFrontend(endpoint: Buffer): Buffer {
  const bytes = Buffer.from(endpoint);
  bytes.writeUInt8(protocolNumbers.UDP, PROTOCOL);
  return bytes;
}

export function decodeFrontend(bytes: Buffer): Frontend {
  const protocol = bytes.readUInt8(PROTOCOL) === protocolNumbers.TCP ? 'TCP' : 'UDP';
  const scope = scopes[bytes.readUInt8(SCOPE)] ?? 'ADDRESS';
  return { ...decodeEndpoint(bytes), protocol, scope };
}

/** The address of an endpoint or frontend. */
export function addressOf(bytes: Buffer): Buffer {
  return bytes.subarray(0, ADDRESS_LENGTH);
}

const noPort: Pick<Destination, 'port' | 'protocol'> = { port: 0, protocol: 'TCP' };

export function encodeNodeAddress(one: NodeAddress): readonly [address: Buffer, nodePort: Buffer] {
  const nodePort = encodeFrontend(nodePortFrontend(one, noPort));
  nodePort.writeUInt8(0, PROTOCOL);
  return [encodeAddress(one.address), nodePort];
}

export function encodeAddress(address: string): Buffer {
  return addressOf(encodeEndpoint({ address, port: 0 }));
}

function decodeAddress(bytes: Buffer): string {
  return decodeEndpoint(Buffer.concat([bytes, Buffer.alloc(4)])).address;
}

export function decodeNodeAddress(address: Buffer, nodePort: Buffer): NodeAddress {
  return {
    address: decodeAddress(address),
    isLocal: decodeFrontend(nodePort).scope === 'THIS_NODE',
  };
}

/** As programs make it: the frontend at the address of a node, with port and protocol of the one that is asked. */
export function nodePortAt(nodePort: Buffer, asked: Buffer): Buffer {
  return Buffer.concat([
    addressOf(nodePort),
    asked.subarray(ADDRESS_LENGTH, SCOPE),
    nodePort.subarray(SCOPE),
  ]);
}

export function encodeCookie(cookie: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(cookie);
  return bytes;
}

export function encodeExemption({ name, path }: ExemptNamespace): Buffer {
  const bytes = Buffer.alloc(shapes.exemptions.valueLength);
  bytes.write(name, 0, maxExemptionLength.name);
  bytes.write(path, maxExemptionLength.name);
  return bytes;
}

export function decodeExemption(bytes: Buffer): ExemptNamespace {
  const name = textOf(bytes.subarray(0, maxExemptionLength.name));
  return { name, path: textOf(bytes.subarray(maxExemptionLength.name)) };
}

/** Ends with the first zero byte, or with the field. */
function textOf(field: Buffer): string {
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? field.length : end);
}

export function encodeNumber(number: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(number);
  return bytes;
}

export interface GroupHead {
  readonly name: string;
  /** Slots from 0 on that programs use. */
  readonly slots: number;
  /** Seconds. */
  readonly affinityTimeout: number;
  /** Empty: none. */
  readonly hostSource: string;
}

export function encodeGroup({ name, slots, affinityTimeout, hostSource }: GroupHead): Buffer {
  const bytes = Buffer.alloc(shapes.groups.valueLength);
  bytes.writeUInt32LE(slots, 0);
  bytes.writeUInt32LE(affinityTimeout, 4);
  if (hostSource !== '') encodeAddress(hostSource).copy(bytes, GROUP_SOURCE);
  bytes.write(name, GROUP_NAME);
  return bytes;
}

export function decodeGroup(bytes: Buffer): GroupHead {
  const source = decodeAddress(bytes.subarray(GROUP_SOURCE, GROUP_NAME));
  return {
    slots: bytes.readUInt32LE(0),
    affinityTimeout: bytes.readUInt32LE(4),
    hostSource: source === '::' ? '' : source,
    name: textOf(bytes.subarray(GROUP_NAME)),
  };
}

export function encodeSlot(group: number, slot: number): Buffer {
  return Buffer.concat([encodeNumber(group), encodeNumber(slot)]);
}

export function encodeMember(group: number, endpoint: Buffer): Buffer {
  return Buffer.concat([encodeNumber(group), endpoint]);
}

/** The link to VPP has zeros. */
export function encodeLink({ toVpp }: ServiceLink): Buffer {
  const gateway = parseIp(toVpp?.gateway ?? '0.0.0.0');
  if (gateway?.length !== 4) throw new RangeError(`gateway ${toVpp?.gateway}`);
  return Buffer.concat([encodeNumber(toVpp?.index ?? 0), gateway]);
}

export function decodeLink(index: Buffer, bytes: Buffer): ServiceLink {
  const toVpp = bytes.readUInt32LE(0);
  return {
    index: index.readUInt32LE(0),
    toVpp: toVpp === 0 ? undefined : { index: toVpp, gateway: formatIp(bytes.subarray(4)) },
  };
}
