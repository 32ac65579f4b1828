/** Addresses and networks as numbers, from text. */
import { parseCidr, parseIp } from '#models/ip.ts';

/** Of type number for IPv4, bigint for IPv6. The two are never equal. */
export type AddressNumber = number | bigint;

export interface Network {
  /** Prefix length. */
  readonly length: number;
  readonly first: AddressNumber;
  readonly last: AddressNumber;
}

const V4_BITS = 32;
const V6_BITS = 128;

/**
 * @param cidr an address without a prefix length is a network of one address
 * @returns undefined for text that is not a valid address or CIDR
 */
export function network(cidr: string): Network | undefined {
  const parsed = parseCidr(cidr, 'bare');
  if (parsed === undefined) return undefined;
  const { address, length } = parsed;
  const first = firstAddress(numberOf(address), length);
  const last =
    typeof first === 'number'
      ? first + 2 ** (V4_BITS - length) - 1
      : first + (1n << BigInt(V6_BITS - length)) - 1n;
  return { length, first, last };
}

/** The first address of the network of this prefix length that contains the address. */
export function firstAddress(address: AddressNumber, length: number): AddressNumber {
  if (typeof address === 'number') return address - (address % 2 ** (V4_BITS - length));
  const free = BigInt(V6_BITS - length);
  return (address >> free) << free;
}

export function contains({ first, last }: Network, address: AddressNumber): boolean {
  return typeof first === typeof address && first <= address && address <= last;
}

/**
 * Whether two texts are the same address; prefix lengths and zones are ignored. Text that is not a
 * valid address equals nothing.
 */
export function sameAddress(a: string, b: string): boolean {
  const one = addressNumber(a);
  return one !== undefined && one === addressNumber(b);
}

/** @returns undefined for text that is not a valid address; prefix length and zone are ignored */
export function addressNumber(text: string): AddressNumber | undefined {
  // `fe80::1%eth0` is `fe80::1`
  const bytes = parseIp(text.replace(/[/%].*/, ''));
  return bytes && numberOf(bytes);
}

function numberOf(bytes: Uint8Array): AddressNumber {
  let number = 0;
  if (bytes.length * 8 === V4_BITS) {
    for (const byte of bytes) number = number * 256 + byte;
    return number;
  }
  let large = 0n;
  for (const byte of bytes) large = (large << 8n) | BigInt(byte);
  return large;
}
