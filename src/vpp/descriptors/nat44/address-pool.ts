import { allOrNothing, allSettled } from '#infra/rollback/rollback.ts';
import { checkField } from '#kvscheduler/api/check-field.ts';
import { defineDescriptor, emptyValue } from '#kvscheduler/api/define-descriptor.ts';
import type { KeyedValue, KvDescriptor } from '#kvscheduler/api/descriptor.ts';
import {
  NAT44_ENDPOINT_DEPENDENT_KEY,
  natPoolAddressKey,
  twiceNatPoolKey,
} from '#models/vpp/derived.ts';
import {
  type Nat44AddressPool,
  nat44AddressPoolKey,
  nat44AddressPoolModel,
} from '#models/vpp/nat44-address-pool.ts';
import type { VppDescriptorOptions } from '../options.ts';
import {
  addressAt,
  addressClaim,
  type NatAddress,
  numberOf,
  readAddresses,
  setAddress,
} from './addresses.ts';
import { globalEntries } from './global.ts';
import { ignoreNotFound } from './ignored-retvals.ts';
import { tableDependencies } from './table-dependencies.ts';

/** VPP searches its pool linearly: a longer pool is considered a mistake. */
const MAX_ADDRESSES = 1024;

function lastOf(pool: Nat44AddressPool): string {
  return pool.last_ip === '' ? pool.first_ip : pool.last_ip;
}

function addressesOf(pool: Nat44AddressPool): readonly NatAddress[] {
  const first = numberOf(pool.first_ip);
  const count = numberOf(lastOf(pool)) - first + 1;
  return Array.from({ length: count }, (_, position) => ({
    address: addressAt(first + position),
    vrf: pool.vrf_id,
    twiceNat: pool.twice_nat,
  }));
}

function sameAddress(a: NatAddress): string {
  return `${addressClaim(a)} ${a.vrf}`;
}

/**
 * Pools of addresses. Addresses carry no mark, and VPP has one pool of each kind. All its addresses are
 * treated as managed, because traffic would leave with an address that is not desired. Addresses are
 * sent one by one, because a range that VPP refuses in the middle would stay partially configured.
 */
export function nat44AddressPoolDescriptor({
  client,
  log,
}: VppDescriptorOptions): KvDescriptor<Nat44AddressPool, undefined> {
  const change = (
    removed: readonly NatAddress[],
    added: readonly NatAddress[],
  ): Promise<undefined> =>
    allOrNothing(log, async (undo) => {
      await allSettled([
        ...removed.map(async (each) => {
          await ignoreNotFound(setAddress(client, each, false));
          undo.add(() => setAddress(client, each, true));
        }),
        ...added.map(async (each) => {
          await setAddress(client, each, true);
          undo.add(() => setAddress(client, each, false));
        }),
      ]);
      return undefined;
    });

  return defineDescriptor('vpp-nat44-address-pool', nat44AddressPoolModel, {
    retrieveDependencies: ['vpp-nat44-global'],
    validate,
    derived: (_key, pool) => {
      if (!pool.twice_nat)
        return addressesOf(pool).map(({ address }) => ({
          key: natPoolAddressKey.build({ address }),
          value: emptyValue,
        }));
      const range = pool.last_ip === '' ? pool.first_ip : `${pool.first_ip}-${pool.last_ip}`;
      return [{ key: twiceNatPoolKey.build({ vrf: pool.vrf_id, range }), value: emptyValue }];
    },
    dependencies: (_key, { vrf_id }) => [
      { label: 'nat44-enabled', key: NAT44_ENDPOINT_DEPENDENT_KEY },
      ...tableDependencies([vrf_id]),
    ],
    claims: (_key, pool) => addressesOf(pool).map(addressClaim),
    equivalent: (_key, a, b) =>
      a.first_ip === b.first_ip &&
      lastOf(a) === lastOf(b) &&
      a.vrf_id === b.vrf_id &&
      a.twice_nat === b.twice_nat,
    create: (_key, pool) => change([], addressesOf(pool)),
    update(_key, before, after) {
      const [old, desired] = [before, after].map(addressesOf) as [NatAddress[], NatAddress[]];
      const [has, wants] = [old, desired].map((each) => new Set(each.map(sameAddress)));
      return change(
        old.filter((each) => !wants?.has(sameAddress(each))),
        desired.filter((each) => !has?.has(sameAddress(each))),
      );
    },
    async delete(_key, pool) {
      await change(addressesOf(pool), []);
    },

    async retrieve(correlate, ctx) {
      if (!client.has('nat44_address_dump')) return [];
      const taken = globalEntries(ctx);
      const found = await readAddresses(client);
      return attribute(
        found.filter((each) => !taken.addresses.has(addressClaim(each))),
        correlate,
      ).map((each) => ({ ...each, origin: 'from-NB' as const }));
    },
  });
}

/**
 * Attributes addresses to pools: to a pool of which some addresses are missing, its first contiguous
 * addresses. Each remaining address becomes a pool of its own.
 */
function attribute(
  found: readonly NatAddress[],
  pools: readonly KeyedValue<Nat44AddressPool>[],
): readonly KeyedValue<Nat44AddressPool>[] {
  const left = new Map(found.map((each) => [sameAddress(each), each]));
  const values: KeyedValue<Nat44AddressPool>[] = [];
  for (const { key, value } of pools) {
    const all = addressesOf(value);
    const start = all.findIndex((each) => left.has(sameAddress(each)));
    if (start < 0) continue;
    const gap = all.findIndex((each, at) => at > start && !left.has(sameAddress(each)));
    const row = all.slice(start, gap < 0 ? all.length : gap);
    for (const each of row) left.delete(sameAddress(each));
    const isWhole = row.length === all.length;
    const [first, last] = [row[0]?.address, row.at(-1)?.address];
    const part = { ...value, first_ip: first, last_ip: last };
    values.push({ key, value: isWhole ? value : nat44AddressPoolModel.canonical(part) });
  }
  for (const { address, vrf, twiceNat } of left.values()) {
    const value = nat44AddressPoolModel.canonical({
      // one address may be in both pools of VPP
      name: twiceNat ? `twice-nat-${vrf}-${address}` : '',
      first_ip: address,
      vrf_id: vrf,
      twice_nat: twiceNat,
    });
    values.push({ key: nat44AddressPoolKey(value), value });
  }
  return values;
}

function validate(key: string, pool: Nat44AddressPool): void {
  const isV4 = (address: string): boolean => address !== '' && !address.includes(':');
  checkField(key, isV4(pool.first_ip), 'first_ip', 'must be an IPv4 address');
  checkField(key, isV4(lastOf(pool)), 'last_ip', 'must be an IPv4 address');
  const count = numberOf(lastOf(pool)) - numberOf(pool.first_ip) + 1;
  checkField(key, count >= 1, 'last_ip', 'is lower than first_ip');
  checkField(
    key,
    count <= MAX_ADDRESSES,
    'last_ip',
    `the range has more than ${MAX_ADDRESSES} addresses`,
  );
}
