/** Addresses outside of the cluster, in ranges that policies treat alike. */
import type { IpFamily } from '#models/ip.ts';
import {
  type AddressNumber,
  type AddressRange,
  AddressSet,
  familyOf,
  formatAddress,
} from '../address-set.ts';

export interface OutsideRange extends AddressRange {
  /** An address of the range that no pod has: it stands for the range. */
  readonly address: AddressNumber;
}

/**
 * All addresses of some families, cut wherever an ipBlock begins or ends; ascending. Ranges of which pods have every
 * address are left out.
 * @param pods the addresses of all pods
 */
export function outsideRanges(
  blocks: Iterable<AddressSet>,
  families: ReadonlySet<IpFamily>,
  pods: ReadonlySet<AddressNumber>,
): OutsideRange[] {
  const limits = Array.from(blocks, (block) => block.ranges()).flat();
  return AddressSet.any
    .ranges()
    .filter(({ first }) => families.has(familyOf(first)))
    .flatMap((all) => cut(all, limits))
    .flatMap((range) => {
      const address = firstWithout(range, pods);
      return address === undefined ? [] : [{ ...range, address }];
    });
}

/** For example `10.0.0.0-10.255.255.255`. */
export function rangeText({ first, last }: AddressRange): string {
  return `${formatAddress(first)}-${formatAddress(last)}`;
}

function cut(all: AddressRange, limits: readonly AddressRange[]): AddressRange[] {
  const family = familyOf(all.first);
  const begins = new Set<AddressNumber>([all.first]);
  for (const { first, last } of limits) {
    if (familyOf(first) !== family) continue;
    begins.add(first);
    if (last !== all.last) begins.add(after(last));
  }
  const sorted = [...begins].sort((a, b) => (a < b ? -1 : 1));
  return sorted.map((first, at) => {
    const next = sorted[at + 1];
    return { first, last: next === undefined ? all.last : before(next) };
  });
}

function firstWithout(
  { first, last }: AddressRange,
  pods: ReadonlySet<AddressNumber>,
): AddressNumber | undefined {
  let address = first;
  while (pods.has(address)) {
    if (address === last) return undefined;
    address = after(address);
  }
  return address;
}

function after(address: AddressNumber): AddressNumber {
  return typeof address === 'number' ? address + 1 : address + 1n;
}

function before(address: AddressNumber): AddressNumber {
  return typeof address === 'number' ? address - 1 : address - 1n;
}
