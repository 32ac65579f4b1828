/** An ipBlock with its exceptions, found again in the prefixes that it was split into. */
import { type Cidr, formatCidr, lastAddress, network, parseCidr } from '#models/ip.ts';

/** Both inclusive. */
interface Range {
  readonly first: bigint;
  readonly last: bigint;
}

export interface SplitBlock {
  readonly block: Cidr;
  readonly exceptions: readonly string[];
  readonly prefixes: readonly Cidr[];
}

/**
 * @returns undefined: there are no exceptions, the prefixes are the shorter text, or they are of both families
 */
export function splitBlock(prefixes: readonly string[]): SplitBlock | undefined {
  const cidrs = prefixes.flatMap((text) => parseCidr(text, 'bare') ?? []);
  const bytes = cidrs[0]?.address.length;
  if (bytes === undefined || cidrs.some(({ address }) => address.length !== bytes))
    return undefined;
  const ranges = cidrs.map(rangeOf).sort((a, b) => (a.first < b.first ? -1 : 1));
  const block = covering(ranges, bytes);
  const exceptions: string[] = [];
  let next = rangeOf(block).first;
  // The one behind all others ends the last gap.
  const behind = rangeOf(block).last + 1n;
  for (const { first, last } of [...ranges, { first: behind, last: behind }]) {
    while (next < first) {
      const gap = largestPrefix(next, first - 1n, bytes);
      exceptions.push(formatCidr(gap));
      if (exceptions.length + 1 >= prefixes.length) return undefined;
      next = rangeOf(gap).last + 1n;
    }
    if (last >= next) next = last + 1n;
  }
  return exceptions.length === 0 ? undefined : { block, exceptions, prefixes: cidrs };
}

function rangeOf(cidr: Cidr): Range {
  return { first: numberOf(network(cidr).address), last: numberOf(lastAddress(cidr)) };
}

/** The longest prefix that contains all. */
function covering(ranges: readonly Range[], bytes: number): Cidr {
  const first = ranges[0]!.first;
  let last = first;
  for (const range of ranges) if (range.last > last) last = range.last;
  let length = bytes * 8;
  while (length > 0 && rangeOf(cidrAt(first, length, bytes)).last < last) length--;
  return network(cidrAt(first, length, bytes));
}

/** The shortest prefix that begins with the first address and does not pass the last one. */
function largestPrefix(first: bigint, last: bigint, bytes: number): Cidr {
  let length = bytes * 8;
  while (length > 0) {
    const range = rangeOf(cidrAt(first, length - 1, bytes));
    if (range.first !== first || range.last > last) break;
    length--;
  }
  return cidrAt(first, length, bytes);
}

function cidrAt(address: bigint, length: number, bytes: number): Cidr {
  return { address: Buffer.from(address.toString(16).padStart(bytes * 2, '0'), 'hex'), length };
}

function numberOf(address: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(address).toString('hex')}`);
}
