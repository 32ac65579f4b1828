import type { AddressSet } from '../address-set.ts';

/** The prefixes of a set of addresses, by family. */
export interface PrefixLists {
  readonly v4: readonly string[];
  readonly v6: readonly string[];
  /** Equal for equal sets. */
  readonly text: string;
}

const known = new WeakMap<AddressSet, PrefixLists>();

/** Computed once for each set: sets are kept while the policies do not change. */
export function prefixLists(set: AddressSet): PrefixLists {
  const lists = known.get(set) ?? makeLists(set.prefixes());
  known.set(set, lists);
  return lists;
}

function makeLists(prefixes: readonly string[]): PrefixLists {
  const isV6 = (prefix: string): boolean => prefix.includes(':');
  return {
    v4: prefixes.filter((prefix) => !isV6(prefix)),
    v6: prefixes.filter(isV6),
    text: prefixes.join(),
  };
}
