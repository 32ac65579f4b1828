/**
 * Conversion of addresses between the text of the models and the fields of VPP's messages. Text is
 * canonical: IPv6 after RFC 5952, MAC in lower case with colons.
 */
import { isIPv6 } from 'node:net';
import { defineError } from '#infra/errors/errors.ts';
import { AddressFamily } from './enums.gen.ts';
import type { Address, AddressUnion, MacAddress, Prefix } from './messages.gen.ts';

export const InvalidAddressError = defineError({
  name: 'InvalidAddressError',
  code: 'CV_VPP_INVALID_ADDRESS',
  remedy: 'Write addresses as 10.1.2.3 or 2001:db8::1, and prefixes as 10.1.2.0/24.',
});

/**
 * 4 or 16 bytes: for fields of type ip4_address, ip6_address and for address unions.
 * @throws InvalidAddressError
 */
export function bytesOfAddress(text: string): Uint8Array {
  const ip4 = ip4Bytes(text);
  if (ip4) return ip4;
  if (isIPv6(text) && !text.includes('%')) return ip6Bytes(text);
  throw new InvalidAddressError('is not an IP address', { where: JSON.stringify(text) });
}

/**
 * @param bytes 4 or 16 of them
 * @throws InvalidAddressError
 */
export function textOfBytes(bytes: Uint8Array): string {
  if (bytes.length === 4) return ip4Text(bytes);
  if (bytes.length === 16) return ip6Text(bytes);
  throw new InvalidAddressError(`${bytes.length} bytes are not an IP address`);
}

/** @throws InvalidAddressError */
export function toAddress(text: string): Address {
  const bytes = bytesOfAddress(text);
  const isV4 = bytes.length === 4;
  const un = new Uint8Array(16);
  un.set(bytes);
  return { af: isV4 ? AddressFamily.ADDRESS_IP4 : AddressFamily.ADDRESS_IP6, un };
}

export function fromAddress({ af, un }: Address): string {
  return fromUnion(af, un);
}

/** The text of a union whose family is known from elsewhere, as for the next hop of a route. */
export function fromUnion(af: AddressFamily, un: AddressUnion): string {
  return af === AddressFamily.ADDRESS_IP4 ? ip4Text(un) : textOfBytes(un);
}

/**
 * For fields of type prefix and address_with_prefix; host bits are kept.
 * @throws InvalidAddressError
 */
export function toPrefix(text: string): Prefix {
  const [address, length, ...more] = text.split('/');
  const parsed = toAddress(address ?? '');
  const max = parsed.af === AddressFamily.ADDRESS_IP4 ? 32 : 128;
  if (length === undefined || more.length > 0 || !/^\d{1,3}$/.test(length) || +length > max)
    throw new InvalidAddressError(`has no prefix length from 0 to ${max}`, {
      where: JSON.stringify(text),
    });
  return { address: parsed, len: Number(length) };
}

export function fromPrefix({ address, len }: Prefix): string {
  return `${fromAddress(address)}/${len}`;
}

const [dot, zero, nine, colon, dash] = ['.', '0', '9', ':', '-'].map((one) =>
  one.charCodeAt(0),
) as [number, number, number, number, number];
const hexPairs = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** @throws InvalidAddressError */
export function toMac(text: string): MacAddress {
  if (!/^[0-9a-f]{1,2}([:-][0-9a-f]{1,2}){5}$/i.test(text))
    throw new InvalidAddressError('is not a MAC address', { where: JSON.stringify(text) });
  const bytes = new Uint8Array(6);
  let at = 0;
  // without a string for each byte: a hot path for neighbors and interfaces
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === colon || code === dash) at++;
    else bytes[at] = (bytes[at] as number) * 16 + hexDigit(code);
  }
  return bytes;
}

/** @param code of a character that is known to be a hexadecimal digit */
function hexDigit(code: number): number {
  return code <= nine ? code - zero : (code & 0xf) + 9;
}

export function fromMac(bytes: MacAddress): string {
  let text = '';
  for (const byte of bytes) text += text === '' ? hexPairs[byte] : `:${hexPairs[byte]}`;
  return text;
}

/** Reads digit by digit, without a string for each byte: a hot path for services and routes. */
function ip4Bytes(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(4);
  let at = 0;
  let value: number | undefined;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const digit = code - zero;
    if (code === dot) {
      if (value === undefined || at === 3) return undefined;
      bytes[at++] = value;
      value = undefined;
    } else if (digit < 0 || digit > 9 || value === 0) return undefined;
    else {
      value = (value ?? 0) * 10 + digit;
      if (value > 255) return undefined;
    }
  }
  if (value === undefined || at < 3) return undefined;
  bytes[at] = value;
  return bytes;
}

/** Of the first four bytes. */
function ip4Text(bytes: Uint8Array): string {
  return `${bytes[0]}.${bytes[1]}.${bytes[2]}.${bytes[3]}`;
}

function ip6Bytes(text: string): Uint8Array {
  const bytes = new Uint8Array(16);
  const [head, tail] = text.split('::').map(groupsOf);
  bytes.set(head ?? []);
  if (tail) bytes.set(tail, 16 - tail.length);
  return bytes;
}

/** Bytes of colon-separated groups, of which the last may be an IPv4 address. */
function groupsOf(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (group.includes('.')) return group.split('.').map(Number);
    const value = Number.parseInt(group, 16);
    return [value >>> 8, value & 0xff];
  });
}

function ip6Text(bytes: Uint8Array): string {
  const isMapped = bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff;
  if (isMapped && bytes[11] === 0xff) return `::ffff:${bytes.subarray(12).join('.')}`;
  const groups = Array.from({ length: 8 }, (_, i) => (bytes[2 * i]! << 8) | bytes[2 * i + 1]!);
  const { start, length } = longestZeros(groups);
  const hex = (part: number[]) => part.map((group) => group.toString(16)).join(':');
  if (length < 2) return hex(groups);
  return `${hex(groups.slice(0, start))}::${hex(groups.slice(start + length))}`;
}

/** The first of the longest runs. */
function longestZeros(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  for (let start = 0; start < groups.length; start++) {
    let length = 0;
    while (groups[start + length] === 0) length++;
    if (length > best.length) best = { start, length };
  }
  return best;
}
