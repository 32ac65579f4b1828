/** Sets of IP addresses, immutable. Text is parsed and formatted only at the boundaries. */
import { formatIp, parseCidr } from '#models/ip.ts';

/** An address as a number: of type number for IPv4, bigint for IPv6. The two are never mixed in one range. */
export type AddressNumber = number | bigint;

/** Inclusive. */
export interface AddressRange {
  readonly first: AddressNumber;
  readonly last: AddressNumber;
}

type Family = 4 | 6;

const LAST_V4 = 0xffff_ffff;
const LAST_V6 = (1n << 128n) - 1n;

export class AddressSet {
  static readonly none = new AddressSet([]);
  /** Every address of both families. */
  static readonly any = new AddressSet([
    { first: 0, last: LAST_V4 },
    { first: 0n, last: LAST_V6 },
  ]);

  /** Ascending, IPv4 first; neither overlapping nor adjacent. */
  readonly #ranges: readonly AddressRange[];
  #prefixes: readonly string[] | undefined;

  private constructor(ranges: readonly AddressRange[]) {
    this.#ranges = ranges;
  }

  /** @param prefixes CIDRs, or addresses without prefix length; host bits are ignored. Invalid ones are left out. */
  static of(prefixes: Iterable<string>): AddressSet {
    const ranges: AddressRange[] = [];
    for (const text of prefixes) {
      const range = prefixRange(text);
      if (range !== undefined) ranges.push(range);
    }
    return new AddressSet(merged(ranges));
  }

  static ofAddresses(addresses: Iterable<AddressNumber>): AddressSet {
    const v4: number[] = [];
    const v6: bigint[] = [];
    for (const one of addresses) {
      if (typeof one === 'number') v4.push(one);
      else v6.push(one);
    }
    // of one type each, so that the order of the type is that of the addresses
    v6.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    const ranges: AddressRange[] = [];
    for (const one of Float64Array.from(v4).sort()) append(ranges, { first: one, last: one });
    for (const one of v6) append(ranges, { first: one, last: one });
    return new AddressSet(ranges);
  }

  static union(sets: Iterable<AddressSet>): AddressSet {
    let all = [...sets].filter(({ isEmpty }) => !isEmpty);
    while (all.length > 1) {
      const next: AddressSet[] = [];
      for (let at = 0; at < all.length; at += 2) {
        const [a, b] = [all[at] as AddressSet, all[at + 1]];
        next.push(b === undefined ? a : new AddressSet(mergedTwo(a.#ranges, b.#ranges)));
      }
      all = next;
    }
    return all[0] ?? AddressSet.none;
  }

  get isEmpty(): boolean {
    return this.#ranges.length === 0;
  }

  /** Ascending, IPv4 first; neither overlapping nor adjacent. */
  ranges(): readonly AddressRange[] {
    return this.#ranges;
  }

  has(address: AddressNumber): boolean {
    let low = 0;
    let high = this.#ranges.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const { first, last } = this.#ranges[middle] as AddressRange;
      if (isBefore(address, first)) high = middle - 1;
      else if (isBefore(last, address)) low = middle + 1;
      else return true;
    }
    return false;
  }

  minus(other: AddressSet): AddressSet {
    const left: AddressRange[] = [];
    let next = 0;
    for (const { first, last } of this.#ranges) {
      let begin: AddressNumber | undefined = first;
      while (
        next < other.#ranges.length &&
        isBefore((other.#ranges[next] as AddressRange).last, first)
      )
        next++;
      for (let at = next; at < other.#ranges.length && begin !== undefined; at++) {
        const cut = other.#ranges[at] as AddressRange;
        if (isBefore(last, cut.first)) break;
        if (isBefore(begin, cut.first)) left.push({ first: begin, last: minusOne(cut.first) });
        begin = isBefore(cut.last, last) ? plusOne(cut.last) : undefined;
      }
      if (begin !== undefined) left.push({ first: begin, last });
    }
    return new AddressSet(left);
  }

  intersect(other: AddressSet): AddressSet {
    return this.minus(this.minus(other));
  }

  /** The fewest CIDRs that contain exactly the addresses, ascending, IPv4 first. */
  prefixes(): readonly string[] {
    this.#prefixes ??= this.#ranges.flatMap(prefixesOf);
    return this.#prefixes;
  }

  equals(other: AddressSet): boolean {
    if (this.#ranges.length !== other.#ranges.length) return false;
    return this.#ranges.every(({ first, last }, at) => {
      const range = other.#ranges[at] as AddressRange;
      return range.first === first && range.last === last;
    });
  }
}

/** @returns undefined for a text that is not an address */
export function addressNumber(text: string): AddressNumber | undefined {
  return text.includes('/') ? undefined : prefixRange(text)?.first;
}

/** As in Go, for example `10.1.1.2` or `fd00::2`. */
export function formatAddress(address: AddressNumber): string {
  return formatIp(typeof address === 'number' ? bytesOfV4(address) : bytesOfV6(address));
}

export function familyOf(address: AddressNumber): Family {
  return typeof address === 'number' ? 4 : 6;
}

/** Order of addresses, IPv4 first: JavaScript compares a number with a bigint by value, not by type. */
function isBefore(a: AddressNumber, b: AddressNumber): boolean {
  const family = familyOf(a);
  return family === familyOf(b) ? a < b : family === 4;
}

function plusOne(address: AddressNumber): AddressNumber {
  return typeof address === 'number' ? address + 1 : address + 1n;
}

function minusOne(address: AddressNumber): AddressNumber {
  return typeof address === 'number' ? address - 1 : address - 1n;
}

function merged(ranges: AddressRange[]): readonly AddressRange[] {
  ranges.sort((a, b) => (isBefore(a.first, b.first) ? -1 : isBefore(b.first, a.first) ? 1 : 0));
  const result: AddressRange[] = [];
  for (const range of ranges) append(result, range);
  return result;
}

function mergedTwo(a: readonly AddressRange[], b: readonly AddressRange[]): AddressRange[] {
  const result: AddressRange[] = [];
  let [atA, atB] = [0, 0];
  while (atA < a.length || atB < b.length) {
    const [nextA, nextB] = [a[atA], b[atB]];
    if (nextA !== undefined && (nextB === undefined || !isBefore(nextB.first, nextA.first))) {
      append(result, nextA);
      atA++;
    } else if (nextB !== undefined) {
      append(result, nextB);
      atB++;
    }
  }
  return result;
}

/** Adds a range that does not begin before the last one. */
function append(ranges: AddressRange[], range: AddressRange): void {
  const before = ranges.at(-1);
  const touches =
    before !== undefined &&
    familyOf(before.last) === familyOf(range.first) &&
    !isBefore(plusOne(before.last), range.first);
  if (!touches) ranges.push(range);
  else if (isBefore(before.last, range.last))
    ranges[ranges.length - 1] = { first: before.first, last: range.last };
}

function prefixRange(text: string): AddressRange | undefined {
  const cidr = parseCidr(text, 'bare');
  if (cidr === undefined) return undefined;
  const { address, length } = cidr;
  if (address.length === 4) {
    const value =
      (address[0] as number) * 2 ** 24 +
      (address[1] as number) * 2 ** 16 +
      (address[2] as number) * 2 ** 8 +
      (address[3] as number);
    const size = 2 ** (32 - length);
    const first = Math.floor(value / size) * size;
    return { first, last: first + size - 1 };
  }
  let value = 0n;
  for (const byte of address) value = (value << 8n) | BigInt(byte);
  const free = BigInt(128 - length);
  const first = (value >> free) << free;
  return { first, last: first + (1n << free) - 1n };
}

function bytesOfV4(address: number): Uint8Array {
  return Uint8Array.of(
    address / 2 ** 24,
    (address / 2 ** 16) % 256,
    (address / 2 ** 8) % 256,
    address % 256,
  );
}

function bytesOfV6(address: bigint): Uint8Array {
  return Uint8Array.from({ length: 16 }, (_, at) =>
    Number((address >> BigInt(120 - 8 * at)) & 0xffn),
  );
}

function prefixesOf({ first, last }: AddressRange): string[] {
  return typeof first === 'number'
    ? prefixesOfV4(first, last as number)
    : prefixesOfV6(first, last as bigint);
}

function prefixesOfV4(first: number, last: number): string[] {
  const prefixes: string[] = [];
  for (let begin = first; begin <= last; ) {
    let free = 0;
    while (free < 32 && begin % 2 ** (free + 1) === 0 && begin + 2 ** (free + 1) - 1 <= last)
      free++;
    prefixes.push(`${formatAddress(begin)}/${32 - free}`);
    begin += 2 ** free;
  }
  return prefixes;
}

function prefixesOfV6(first: bigint, last: bigint): string[] {
  const prefixes: string[] = [];
  for (let begin = first; begin <= last; ) {
    let free = 0n;
    while (
      free < 128n &&
      begin % (1n << (free + 1n)) === 0n &&
      begin + (1n << (free + 1n)) - 1n <= last
    )
      free++;
    prefixes.push(`${formatAddress(begin)}/${128n - free}`);
    begin += 1n << free;
  }
  return prefixes;
}
