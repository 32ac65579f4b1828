/** Messages about the addresses of links: `struct ifaddrmsg` and its attributes. */
import { addressText, families, familyOf, isV6, networkOf } from './addresses.ts';
import { attribute, attributesOf, malformed, zeros } from './attributes.ts';
import { flags, type Message, type Request } from './messages.ts';
import type { NetlinkSocket } from './socket.ts';

export const addressTypes = { new: 20, delete: 21, get: 22 } as const;

const FIXED_LENGTH = 8;
const NO_DUPLICATE_DETECTION = 0x02;
const HOST_SCOPE = 254;
const at = { address: 1, local: 2 } as const;

function body(index: number, cidr: string, bits: number, scope: number): Buffer {
  const { bytes, length } = networkOf(cidr);
  const fixed = zeros(FIXED_LENGTH);
  fixed[0] = familyOf(cidr);
  fixed[1] = length;
  fixed[2] = bits;
  fixed[3] = scope;
  fixed.writeUInt32LE(index, 4);
  return Buffer.concat([fixed, attribute(at.local, bytes), attribute(at.address, bytes)]);
}

/** IPv6 addresses skip duplicate detection: they are allocated uniquely and must be usable at once. */
export function addAddress(index: number, cidr: string): Request {
  const bits = isV6(cidr) ? NO_DUPLICATE_DETECTION : 0;
  const scope = cidr.startsWith('127.') ? HOST_SCOPE : 0;
  return {
    type: addressTypes.new,
    flags: flags.request | flags.ack | flags.create | flags.exclusive,
    body: body(index, cidr, bits, scope),
  };
}

export function deleteAddress(index: number, cidr: string): Request {
  return {
    type: addressTypes.delete,
    flags: flags.request | flags.ack,
    body: body(index, cidr, 0, 0),
  };
}

/** @param index of one link; 0: of all */
function dumpAddresses(family: number, index: number): Request {
  const fixed = zeros(FIXED_LENGTH);
  fixed[0] = family;
  fixed.writeUInt32LE(index, 4);
  return {
    type: addressTypes.get,
    flags: flags.request | flags.root | flags.match,
    body: fixed,
  };
}

export interface LinkAddress {
  /** Of the link. */
  readonly index: number;
  /** `10.1.1.2/32` */
  readonly cidr: string;
}

export function decodeAddress({ body: bytes }: Message): LinkAddress {
  if (bytes.length < FIXED_LENGTH) throw malformed('truncated address');
  const attributes = attributesOf(bytes.subarray(FIXED_LENGTH));
  const local = attributes.get(at.local) ?? attributes.get(at.address);
  if (local === undefined) throw malformed('address message without an address');
  return { index: bytes.readUInt32LE(4), cidr: `${addressText(local)}/${bytes[1]}` };
}

/**
 * Both families.
 * @param link index of one link; absent: of all. Kernels before 4.20 answer with those of all in either case.
 * @throws Refusal ENODEV
 */
export function readAddresses(socket: NetlinkSocket, link?: number): readonly LinkAddress[] {
  const found = [families.ipv4, families.ipv6].flatMap((family) =>
    socket.dump(dumpAddresses(family, link ?? 0), decodeAddress),
  );
  return link === undefined ? found : found.filter(({ index }) => index === link);
}
