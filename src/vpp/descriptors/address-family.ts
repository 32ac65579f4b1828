/** Values that stand for something of IPv4, of IPv6 or of both, which VPP has one each of. */
import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import type { L3Protocol } from '#models/vpp/punt.gen.ts';
import { AddressFamily } from '../binapi/enums.gen.ts';

export type AddressFamilyName = 'IPV4' | 'IPV6';

export const addressFamilies: readonly AddressFamilyName[] = ['IPV4', 'IPV6'];

export const familyNumbers: Readonly<Record<AddressFamilyName, number>> = {
  IPV4: AddressFamily.ADDRESS_IP4,
  IPV6: AddressFamily.ADDRESS_IP6,
};

/** Each family that the protocol of a value names. */
export function familiesOf(protocol: L3Protocol): readonly AddressFamilyName[] {
  return addressFamilies.filter((family) => protocol === 'ALL' || protocol === family);
}

/**
 * Which value each part that VPP has belongs to: to one that is all there, or else it may be half
 * of one of both families.
 * @param partsOf identities of what the value stands for, by family
 * @param halfOf what is there of a value of which the rest is not
 * @returns the values, and the identities that belong to none
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
  const wanted = correlate.map((each) => ({ ...each, parts: partsOf(each.value) }));
  // both families before one of them
  for (const each of wanted.sort((a, b) => b.parts.size - a.parts.size)) {
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
