/** Messages about links: `struct ifinfomsg` and its attributes. */
import type { LinkSettings, LinuxLink } from '../api.ts';
import { macBytes, macText } from './addresses.ts';
import {
  attribute,
  attributesOf,
  malformed,
  numberAttribute,
  numberOf,
  textAttribute,
  textOf,
  zeros,
} from './attributes.ts';
import { flags, type Message, type Request } from './messages.ts';
import type { NetlinkSocket } from './socket.ts';

export const linkTypes = { new: 16, delete: 17, get: 18 } as const;

export const FIXED_LENGTH = 16;
const UP = 0x1;
const LOWER_UP = 0x1_0000;

const at = {
  address: 1,
  name: 3,
  mtu: 4,
  link: 5,
  info: 18,
  alias: 20,
  namespaceFile: 28,
  extensions: 29,
} as const;
const info = { kind: 1, data: 2 } as const;
const VETH_PEER = 1;
/** Leaves out the counters, most of the answer. */
const SKIP_STATISTICS = 8;

/** ARPHRD numbers of links without a kind of their own. */
export const hardwareTypes: Readonly<Record<number, string>> = { 1: 'ether', 772: 'loopback' };

export function fixed(index = 0, change: { readonly up?: boolean | undefined } = {}): Buffer {
  const bytes = zeros(FIXED_LENGTH);
  bytes.writeInt32LE(index, 4);
  if (change.up !== undefined) {
    bytes.writeUInt32LE(change.up ? UP : 0, 8);
    bytes.writeUInt32LE(UP, 12);
  }
  return bytes;
}

/** @param namespace open file of the namespace of the peer; undefined: the same */
export function createVeth(name: string, peer: string, namespace: number | undefined): Request {
  const other = [
    fixed(),
    textAttribute(at.name, peer),
    ...(namespace === undefined ? [] : [numberAttribute(at.namespaceFile, namespace)]),
  ];
  const body = [
    fixed(),
    textAttribute(at.name, name),
    attribute(
      at.info,
      attribute(info.kind, Buffer.from('veth')),
      attribute(info.data, attribute(VETH_PEER, ...other)),
    ),
  ];
  return {
    type: linkTypes.new,
    flags: flags.request | flags.ack | flags.create | flags.exclusive,
    body: Buffer.concat(body),
  };
}

export function deleteLink(index: number): Request {
  return { type: linkTypes.delete, flags: flags.request | flags.ack, body: fixed(index) };
}

function changeLink(head: Buffer, ...attributes: readonly Buffer[]): Request {
  return {
    type: linkTypes.new,
    flags: flags.request | flags.ack,
    body: Buffer.concat([head, ...attributes]),
  };
}

export function setLink(index: number, { mtu, mac, alias, up }: LinkSettings): Request {
  return changeLink(
    fixed(index, { up }),
    ...(mtu === undefined ? [] : [numberAttribute(at.mtu, mtu)]),
    ...(mac === undefined ? [] : [attribute(at.address, macBytes(mac))]),
    ...(alias === undefined ? [] : [attribute(at.alias, Buffer.from(alias))]),
  );
}

export function renameLink(index: number, name: string): Request {
  return changeLink(fixed(index), textAttribute(at.name, name));
}

/** @param namespace open file of the namespace @param name undefined: it keeps its name */
export function moveLink(index: number, namespace: number, name: string | undefined): Request {
  return changeLink(
    fixed(index),
    numberAttribute(at.namespaceFile, namespace),
    ...(name === undefined ? [] : [textAttribute(at.name, name)]),
  );
}

/** The index of a link. @throws Refusal ENODEV */
export function indexOf(socket: NetlinkSocket, name: string): number {
  const { body } = socket.get(getLink(name));
  if (body.length < FIXED_LENGTH) throw malformed('truncated link');
  return body.readInt32LE(4);
}

/** Answered with one link, also with one that has the name besides its own. */
export function getLink(name: string): Request {
  const extensions = numberAttribute(at.extensions, SKIP_STATISTICS);
  const body = Buffer.concat([fixed(), textAttribute(at.name, name), extensions]);
  return { type: linkTypes.get, flags: flags.request, body };
}

export function dumpLinks(): Request {
  return {
    type: linkTypes.get,
    flags: flags.request | flags.root | flags.match,
    body: Buffer.concat([fixed(), numberAttribute(at.extensions, SKIP_STATISTICS)]),
  };
}

/** Without addresses, which have messages of their own. */
export function decodeLink({ body }: Message): Omit<LinuxLink, 'addresses'> {
  if (body.length < FIXED_LENGTH) throw malformed('truncated link');
  const attributes = attributesOf(body.subarray(FIXED_LENGTH));
  const name = textOf(attributes, at.name);
  const mtu = numberOf(attributes, at.mtu);
  if (name === undefined || mtu === undefined) throw malformed('link without a name or an MTU');
  const bits = body.readUInt32LE(8);
  const hardware = body.readUInt16LE(2);
  const details = attributes.get(at.info);
  const kind =
    (details && textOf(attributesOf(details), info.kind)) ??
    hardwareTypes[hardware] ??
    String(hardware);
  const mac = attributes.get(at.address);
  return {
    index: body.readInt32LE(4),
    name,
    kind,
    up: (bits & UP) !== 0,
    running: (bits & LOWER_UP) !== 0,
    mtu,
    mac: mac && macText(mac),
    alias: textOf(attributes, at.alias),
    peerIndex: kind === 'veth' ? numberOf(attributes, at.link) || undefined : undefined,
  };
}
