import type { IpFamily } from '#models/ip.ts';
import { AddressPool } from './address-pool.ts';
import type { Prefix } from './prefix.ts';

/** The pools of the families of the pods, the primary one first. An address outside of all of them is ignored. */
export class AddressPools {
  readonly all: readonly AddressPool[];
  readonly #outside = new WeakMap<readonly string[], readonly string[]>();

  constructor(prefixes: readonly Prefix[]) {
    this.all = prefixes.map((prefix) => new AddressPool(prefix));
  }

  contains(address: string): boolean {
    return this.all.some((pool) => pool.contains(address));
  }

  /**
   * Those that no pool contains; found once for a list, because they are asked for after each event.
   * @param addresses of an attachment; the list never changes
   */
  outsideOf(addresses: readonly string[]): readonly string[] {
    let outside = this.#outside.get(addresses);
    if (!outside) {
      outside = addresses.filter((address) => !this.contains(address));
      this.#outside.set(addresses, outside);
    }
    return outside;
  }

  isAllocatable(address: string): boolean {
    return this.all.some((pool) => pool.isAllocatable(address));
  }

  use(address: string): void {
    for (const pool of this.all) pool.use(address);
  }

  release(address: string): void {
    for (const pool of this.all) pool.release(address);
  }

  continueAfter(address: string): void {
    for (const pool of this.all) pool.continueAfter(address);
  }

  /** The pools of the families of which an attachment with these addresses has none. */
  without(addresses: readonly string[]): readonly AddressPool[] {
    const families = new Set(addresses.map(familyOfAddress));
    return this.all.filter(({ family }) => !families.has(family));
  }

  /** The addresses in the order of the families; those of other families last. */
  inOrder(addresses: readonly string[]): readonly string[] {
    const rank = (address: string): number => {
      const at = this.all.findIndex(({ family }) => family === familyOfAddress(address));
      return at < 0 ? this.all.length : at;
    };
    return [...addresses].sort((a, b) => rank(a) - rank(b));
  }

  toString(): string {
    return this.all.map(String).join(',');
  }
}

/** @param address in its canonical text */
export function familyOfAddress(address: string): IpFamily {
  return address.includes(':') ? 6 : 4;
}
