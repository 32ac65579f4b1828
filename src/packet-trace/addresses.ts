/** Comparison of addresses and networks in text form. */
import { type Cidr, contains, parseCidr, parseIp } from '#models/ip.ts';

/** A network; text that is not a valid address or CIDR is a network that contains nothing. */
export interface Network {
  /** Prefix length; -1 for invalid text. */
  readonly length: number;
  contains(address: string): boolean;
}

/** @param cidr an address without a prefix length is a network of one address */
export function network(cidr: string): Network {
  const parsed = parseCidr(cidr, 'bare');
  return {
    length: parsed?.length ?? -1,
    contains: (address) => parsed !== undefined && isMember(parsed, address),
  };
}

function isMember(cidr: Cidr, text: string): boolean {
  const address = parseIp(withoutZone(text));
  return address !== undefined && contains(cidr, address);
}

/**
 * Whether two texts are the same address; prefix lengths and zones are ignored. Text that is not a
 * valid address equals nothing.
 */
export function sameAddress(a: string, b: string): boolean {
  const [one, other] = [addressOf(a), addressOf(b)];
  return one !== undefined && other !== undefined && Buffer.compare(one, other) === 0;
}

function addressOf(text: string): Uint8Array | undefined {
  return parseIp(withoutZone(text.replace(/\/.*/, '')));
}

/** `fe80::1%eth0` is `fe80::1`. */
function withoutZone(address: string): string {
  return address.replace(/%.*/, '');
}
