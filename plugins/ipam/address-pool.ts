import type { IpFamily } from '#models/ip.ts';
import { FreeIndex } from './free-index.ts';
import {
  addressText,
  contains,
  hostBits,
  type Prefix,
  parseAddress,
  prefixText,
} from './prefix.ts';

/** Larger pools are used up to this size, up to which numbers are exact. */
const MAX_BITS = 52;
/** Number 0 is the network itself, number 1 the gateway. */
const FIRST_NUMBER = 2;

/**
 * The pod addresses of this node and which of them are in use. Addresses are allocated in ascending
 * order, so that a released address is reused as late as possible.
 */
export class AddressPool {
  readonly #prefix: Prefix;
  readonly #index: FreeIndex;
  #last = FIRST_NUMBER - 1;

  constructor(prefix: Prefix) {
    this.#prefix = prefix;
    // without the last two addresses: the broadcast address and the NAT loopback
    const size = 2 ** Math.min(hostBits(prefix), MAX_BITS) - 2;
    this.#index = new FreeIndex(size);
    for (let number = 0; number < FIRST_NUMBER; number++) this.#index.add(number);
  }

  get family(): IpFamily {
    return this.#prefix.family;
  }

  /** Whether an address, in its canonical text, is in the network of the pool. */
  contains(address: string): boolean {
    const parsed = parseAddress(address);
    return parsed !== undefined && contains(this.#prefix, parsed.family, parsed.value);
  }

  /** Whether a pod can have the address. */
  isAllocatable(address: string): boolean {
    return this.#numberOf(address) !== undefined;
  }

  /** Addresses outside of the pool are ignored. */
  use(address: string): void {
    const number = this.#numberOf(address);
    if (number !== undefined) this.#index.add(number);
  }

  release(address: string): void {
    const number = this.#numberOf(address);
    if (number !== undefined) this.#index.delete(number);
  }

  /** Continues after this address, the last allocated one. */
  continueAfter(address: string): void {
    this.#last = this.#numberOf(address) ?? this.#last;
  }

  /** The next free address, not marked as used; undefined if there is none. */
  next(): string | undefined {
    const number = this.#index.next(this.#last + 1) ?? this.#index.next(0);
    if (number === undefined) return undefined;
    return addressText(this.#prefix.family, this.#prefix.base + BigInt(number));
  }

  toString(): string {
    return prefixText(this.#prefix);
  }

  /** Number of an address that the pool can allocate; otherwise undefined. */
  #numberOf(address: string): number | undefined {
    const parsed = parseAddress(address);
    if (!parsed || !contains(this.#prefix, parsed.family, parsed.value)) return undefined;
    const number = parsed.value - this.#prefix.base;
    const size = 2n ** BigInt(Math.min(hostBits(this.#prefix), MAX_BITS)) - 2n;
    return number >= BigInt(FIRST_NUMBER) && number < size ? Number(number) : undefined;
  }
}
