/** Messages about neighbors: `struct ndmsg` and its attributes. */
import { addressBytes, addressText, familyOf, macBytes, macText } from './addresses.ts';
import { attribute, attributesOf, malformed, zeros } from './attributes.ts';
import { flags, type Message, type Request } from './messages.ts';

export const neighborTypes = { new: 28, delete: 29, get: 30 } as const;

const FIXED_LENGTH = 12;
const NO_ARP = 0x40;
const PERMANENT = 0x80;
const at = { destination: 1, mac: 2 } as const;

function fixed(family: number, index: number): Buffer {
  const bytes = zeros(FIXED_LENGTH);
  bytes[0] = family;
  bytes.writeInt32LE(index, 4);
  bytes.writeUInt16LE(PERMANENT, 8);
  return bytes;
}

export function setNeighbor(index: number, address: string, mac: string): Request {
  return {
    type: neighborTypes.new,
    flags: flags.request | flags.ack | flags.create | flags.replace,
    body: Buffer.concat([
      fixed(familyOf(address), index),
      attribute(at.destination, addressBytes(address)),
      attribute(at.mac, macBytes(mac)),
    ]),
  };
}

export function deleteNeighbor(index: number, address: string): Request {
  const destination = attribute(at.destination, addressBytes(address));
  return {
    type: neighborTypes.delete,
    flags: flags.request | flags.ack,
    body: Buffer.concat([fixed(familyOf(address), index), destination]),
  };
}

export function dumpNeighbors(family: number): Request {
  const body = zeros(FIXED_LENGTH);
  body[0] = family;
  return { type: neighborTypes.get, flags: flags.request | flags.root | flags.match, body };
}

export interface FoundNeighbor {
  readonly index: number;
  readonly address: string;
  readonly mac: string;
  readonly permanent: boolean;
}

/** @returns undefined for entries without a MAC, and those the kernel makes for multicast */
export function decodeNeighbor({ body }: Message): FoundNeighbor | undefined {
  if (body.length < FIXED_LENGTH) throw malformed('truncated neighbor');
  const state = body.readUInt16LE(8);
  if ((state & ~NO_ARP) === 0) return undefined;
  const attributes = attributesOf(body.subarray(FIXED_LENGTH));
  const destination = attributes.get(at.destination);
  const mac = attributes.get(at.mac);
  if (destination === undefined || mac === undefined) return undefined;
  return {
    index: body.readInt32LE(4),
    address: addressText(destination),
    mac: macText(mac),
    permanent: (state & PERMANENT) !== 0,
  };
}
