import { FreeIndex } from './free-index.ts';
import {
  addressText,
  contains,
  hostBits,
  type Prefix,
  parseAddress,
  prefixText,
} from './prefix.ts';

/** Larger pools are used up to here; a number stays exact. */
const MAX_BITS = 52;
/** Number 0 is the network itself, number 1 the gateway. */
const FIRST_NUMBER = 2;

/**
 * The addresses of this node's pods and which of them are in use. They are handed out in turn: an
 * address that has just become free is the last to be used again.
 */
export class AddressPool {
  readonly #prefix: Prefix;
  readonly #index: FreeIndex;
  #last = FIRST_NUMBER - 1;

  constructor(prefix: Prefix) {
    this.#prefix = prefix;
    // the last two addresses are left out: the broadcast address and the NAT loopback
    const size = 2 ** Math.min(hostBits(prefix), MAX_BITS) - 2;
    this.#index = new FreeIndex(size);
    for (let number = 0; number < FIRST_NUMBER; number++) this.#index.add(number);
  }

  /** Whether an address, in its canonical text, lies in the pool's network. */
  contains(address: string): boolean {
    const parsed = parseAddress(address);
    return parsed !== undefined && contains(this.#prefix, parsed.family, parsed.value);
  }

  /** Addresses outside the pool are left alone. */
  use(address: string): void {
    const number = this.#numberOf(address);
    if (number !== undefined) this.#index.add(number);
  }

  release(address: string): void {
    const number = this.#numberOf(address);
    if (number !== undefined) this.#index.delete(number);
  }

  /** Goes on after this address, which was handed out last. */
  continueAfter(address: string): void {
    this.#last = this.#numberOf(address) ?? this.#last;
  }

  /** The next address that is not in use; undefined when all are. It is not marked as used. */
  next(): string | undefined {
    const number = this.#index.next(this.#last + 1) ?? this.#index.next(0);
    if (number === undefined) return undefined;
    return addressText(this.#prefix.family, this.#prefix.base + BigInt(number));
  }

  toString(): string {
    return prefixText(this.#prefix);
  }

  /** Number of an address that the pool could hand out. */
  #numberOf(address: string): number | undefined {
    const parsed = parseAddress(address);
    if (!parsed || !contains(this.#prefix, parsed.family, parsed.value)) return undefined;
    const number = parsed.value - this.#prefix.base;
    const size = 2n ** BigInt(Math.min(hostBits(this.#prefix), MAX_BITS)) - 2n;
    return number >= BigInt(FIRST_NUMBER) && number < size ? Number(number) : undefined;
  }
}
