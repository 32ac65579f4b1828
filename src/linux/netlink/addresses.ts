/** Addresses as netlink has them: 4 bytes of IPv4 or 16 bytes of IPv6. */
import { formatIp, formatMac, parseIp, parseMac } from '#models/ip.ts';

export const families = { ipv4: 2, ipv6: 10 } as const;

const mappedPrefix = Buffer.from('00000000000000000000ffff', 'hex');

export function isV6(addressOrCidr: string): boolean {
  return addressOrCidr.includes(':');
}

export function familyOf(addressOrCidr: string): number {
  return isV6(addressOrCidr) ? families.ipv6 : families.ipv4;
}

/** @param address valid */
export function addressBytes(address: string): Uint8Array {
  const bytes = parseIp(address)!;
  // the text of an IPv4 address in IPv6
  return isV6(address) && bytes.length === 4 ? Buffer.concat([mappedPrefix, bytes]) : bytes;
}

export function addressText(bytes: Buffer): string {
  const isMapped = bytes.length === 16 && bytes.subarray(0, 12).equals(mappedPrefix);
  return isMapped ? `::ffff:${formatIp(bytes.subarray(12))}` : formatIp(bytes);
}

/** @param mac valid */
export function macBytes(mac: string): Uint8Array {
  return parseMac(mac)!;
}

export const macText = formatMac;

/** Address and length. @param cidr valid */
export function networkOf(cidr: string): { readonly bytes: Uint8Array; readonly length: number } {
  const [address = '', length = ''] = cidr.split('/');
  return { bytes: addressBytes(address), length: Number(length) };
}
