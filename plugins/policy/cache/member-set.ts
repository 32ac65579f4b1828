import { type AddressNumber, AddressSet } from '../address-set.ts';

/** A set of addresses. Changes are collected, and applied together. */
export class MemberSet {
  #set = AddressSet.none;
  #added: AddressNumber[] = [];
  #removed: AddressNumber[] = [];

  /** Without the changes that were not applied yet. */
  get set(): AddressSet {
    return this.#set;
  }

  judge(address: AddressNumber, isMember: boolean): void {
    if (this.#set.has(address) === isMember) return;
    if (isMember) this.#added.push(address);
    else this.#removed.push(address);
  }

  /** @returns whether the set has changed */
  apply(): boolean {
    if (this.#added.length === 0 && this.#removed.length === 0) return false;
    this.#set = AddressSet.union([this.#set, AddressSet.ofAddresses(this.#added)]).minus(
      AddressSet.ofAddresses(this.#removed),
    );
    this.#added = [];
    this.#removed = [];
    return true;
  }
}
