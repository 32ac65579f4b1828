/** Values for IPv4, IPv6 or both, for which VPP has one object per family. */
import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import type { L3Protocol } from '#models/vpp/punt.gen.ts';
import { AddressFamily } from '../binapi/enums.gen.ts';

export type AddressFamilyName = 'IPV4' | 'IPV6';

export const addressFamilies: readonly AddressFamilyName[] = ['IPV4', 'IPV6'];

export const familyNumbers: Readonly<Record<AddressFamilyName, number>> = {
  IPV4: AddressFamily.ADDRESS_IP4,
  IPV6: AddressFamily.ADDRESS_IP6,
};

/** The families that the protocol of a value selects. */
export function familiesOf(protocol: L3Protocol): readonly AddressFamilyName[] {
  return addressFamilies.filter((family) => protocol === 'ALL' || protocol === family);
}

/**
 * Attributes VPP's objects to values: first to values all of whose objects exist, then to values of
 * both families of which one object exists.
 * @param partsOf identities of a value's objects, by family
 * @param halfOf the value reduced to the family whose object exists
 * @returns the values, and the identities that belong to no value
 */
export function attributeByFamily<V extends object>(
  found: Iterable<string>,
  correlate: readonly KeyedValue<V>[],
  partsOf: (value: V) => ReadonlyMap<AddressFamilyName, string>,
  halfOf: (value: V, family: AddressFamilyName) => V,
): { readonly values: readonly KeyedValue<V>[]; readonly left: ReadonlySet<string> } {
  const left = new Set(found);
  const values: KeyedValue<V>[] = [];
  const rest: (KeyedValue<V> & { readonly parts: ReadonlyMap<AddressFamilyName, string> })[] = [];
  const desired = correlate.map((each) => ({ ...each, parts: partsOf(each.value) }));
  // values of both families first
  for (const each of desired.sort((a, b) => b.parts.size - a.parts.size)) {
    const parts = [...each.parts.values()];
    if (parts.every((part) => left.has(part))) {
      for (const part of parts) left.delete(part);
      values.push({ key: each.key, value: each.value });
    } else rest.push(each);
  }
  for (const { key, value, parts } of rest) {
    const half = [...parts].find(([, part]) => left.has(part));
    if (half === undefined) continue;
    const [family, part] = half;
    left.delete(part);
    values.push({ key, value: halfOf(value, family) });
  }
  return { values, left };
}
