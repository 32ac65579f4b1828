/**
 * Networks as numbers, for the arithmetic of the address plan. Text is parsed and formatted only at
 * the boundaries.
 */
import { defineError } from '#infra/errors/errors.ts';
import { formatIp, type IpBytes, type IpFamily, ipFamily, parseCidr, parseIp } from '#models/ip.ts';

export const AddressPlanError = defineError({
  name: 'AddressPlanError',
  code: 'CV_IPAM_PLAN',
  remedy:
    'Correct the subnets under ipamConfig in contiv.conf so that they have addresses for every node.',
});

/** A network; its host bits are zero. */
export interface Prefix {
  readonly family: IpFamily;
  readonly base: bigint;
  /** Prefix length. */
  readonly length: number;
}

/** Number of bits of an address. */
export function addressBits(family: IpFamily): 32 | 128 {
  return family === 4 ? 32 : 128;
}

function toNumber(bytes: IpBytes): bigint {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return value;
}

/** @returns undefined for a text that is not an address */
export function parseAddress(text: string): { family: IpFamily; value: bigint } | undefined {
  const bytes = parseIp(text);
  return bytes && { family: ipFamily(bytes), value: toNumber(bytes) };
}

export function addressText(family: IpFamily, value: bigint): string {
  const bytes = new Uint8Array(family === 4 ? 4 : 16);
  let rest = value;
  for (let at = bytes.length - 1; at >= 0; at--) {
    bytes[at] = Number(rest & 0xffn);
    rest >>= 8n;
  }
  return formatIp(bytes);
}

/**
 * The network of a CIDR.
 * @param where configuration key for the error
 */
export function parsePrefix(text: string, where: string): Prefix {
  const cidr = parseCidr(text);
  if (!cidr)
    throw new AddressPlanError(`${JSON.stringify(text)} is not a network such as 10.1.0.0/16`, {
      where,
    });
  const family = ipFamily(cidr.address);
  const hostBits = BigInt(addressBits(family) - cidr.length);
  return { family, base: (toNumber(cidr.address) >> hostBits) << hostBits, length: cidr.length };
}

export function prefixText(prefix: Prefix): string {
  return `${addressText(prefix.family, prefix.base)}/${prefix.length}`;
}

/** Number of host bits of a prefix. */
export function hostBits(prefix: Prefix): number {
  return addressBits(prefix.family) - prefix.length;
}

/** The last address: in IPv4, the broadcast address. */
export function lastAddress(prefix: Prefix): bigint {
  return prefix.base + (1n << BigInt(hostBits(prefix))) - 1n;
}

export function contains(prefix: Prefix, family: IpFamily, value: bigint): boolean {
  return family === prefix.family && value >= prefix.base && value <= lastAddress(prefix);
}

/** Subnet number `index` of the prefix when it is divided into subnets of prefix length `length`. */
export function subnet(prefix: Prefix, length: number, index: bigint, where: string): Prefix {
  const newBits = length - prefix.length;
  if (newBits <= 0 || length > addressBits(prefix.family))
    throw new AddressPlanError(
      `${prefixText(prefix)} cannot be divided into subnets of prefix length ${length}`,
      { where },
    );
  if (index < 0n || index >= 1n << BigInt(newBits))
    throw new AddressPlanError(
      `${prefixText(prefix)} has no subnet number ${index} of prefix length ${length}`,
      { where },
    );
  const shift = BigInt(addressBits(prefix.family) - length);
  return { family: prefix.family, base: prefix.base + (index << shift), length };
}

/** Address number `index` of the prefix; the network address is number 0. */
export function host(prefix: Prefix, index: bigint, where: string): bigint {
  const value = prefix.base + index;
  if (index < 0n || value > lastAddress(prefix))
    throw new AddressPlanError(`${prefixText(prefix)} has no address number ${index}`, { where });
  return value;
}
