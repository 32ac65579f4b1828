import { isDeepStrictEqual } from 'node:util';
import { allOrNothing, allSettled } from '#infra/rollback/rollback.ts';
import { checkField } from '#kvscheduler/api/check-field.ts';
import { defineDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor } from '#kvscheduler/api/descriptor.ts';
import { proxyArpInterfaceKey } from '#models/vpp/derived.ts';
import {
  PROXY_ARP_KEY,
  type ProxyARP,
  type ProxyARPRange,
  proxyArpModel,
} from '#models/vpp/proxy-arp.ts';
import { vrfTableKey } from '#models/vpp/vrf-table.ts';
import { bytesOfAddress, textOfBytes } from '../../binapi/addresses.ts';
import { ignoreNotFound } from '../ignored-retvals.ts';
import { interfaceNames } from '../names-by-index.ts';
import type { VppDescriptorOptions } from '../options.ts';
import { isManagedTable } from './vrf-table.ts';

/**
 * Ranges of addresses that VPP answers ARP for, on the interfaces that are derived from this value.
 * Ranges carry no mark: those in table 0, in managed tables and in desired tables are treated as
 * managed. A range holds the index of its table but does not lock it, so it is deleted first.
 */
export function proxyArpDescriptor({
  client,
  log,
  managedKeys,
}: VppDescriptorOptions): KvDescriptor<ProxyARP, undefined> {
  const set = (range: ProxyARPRange, is_add: boolean): Promise<unknown> =>
    client.request('proxy_arp_add_del', {
      is_add,
      proxy: {
        table_id: range.vrf_id,
        low: bytesOfAddress(range.first_ip_addr),
        hi: bytesOfAddress(range.last_ip_addr),
      },
    });
  const change = (before: readonly ProxyARPRange[], after: readonly ProxyARPRange[]) =>
    allOrNothing(log, async (undo) => {
      const removed = missing(before, after);
      const added = missing(after, before);
      for (const range of removed) undo.add(() => set(range, true));
      for (const range of added) undo.add(() => ignoreNotFound(set(range, false)));
      await allSettled([
        ...removed.map((range) => ignoreNotFound(set(range, false))),
        ...added.map((range) => set(range, true)),
      ]);
      return undefined;
    });

  return defineDescriptor('vpp-proxy-arp', proxyArpModel, {
    retrieveDependencies: ['vpp-interface', 'vpp-vrf-table'],
    validate,
    equivalent: (_key, a, b) => isDeepStrictEqual(a.ranges, b.ranges),
    dependencies: (_key, { ranges }) =>
      [...new Set(ranges.map((range) => range.vrf_id))]
        .filter((id) => id !== 0)
        .map((id) => ({
          label: `vrf-table-${id}-exists`,
          key: vrfTableKey.build({ id, protocol: 'IPV4' }),
        })),
    derived: (_key, { interfaces }) =>
      interfaces.map((each) => ({
        key: proxyArpInterfaceKey.build({ iface: each.name }),
        value: each,
      })),
    create: (_key, value) => change([], value.ranges),
    update: (_key, before, after) => change(before.ranges, after.ranges),
    async delete(_key, value) {
      await change(value.ranges, []);
    },

    async retrieve(correlate, ctx) {
      const names = interfaceNames(ctx);
      const [ranges, enabled, tables] = await Promise.all([
        client.dump('proxy_arp_dump', {}),
        client.dump('proxy_arp_intfc_dump', {}),
        client.dump('ip_table_dump', {}),
      ]);
      const desired = new Set(correlate.flatMap((each) => each.value.ranges.map((r) => r.vrf_id)));
      const others = new Set(
        tables
          .filter(({ table }) => !table.is_ip6 && !isManagedTable(table, managedKeys))
          .map(({ table }) => table.table_id)
          .filter((id) => id !== 0 && !desired.has(id)),
      );
      const managed = ranges.filter(({ proxy }) => !others.has(proxy.table_id));
      const value = proxyArpModel.canonical({
        ranges: managed.map(({ proxy }) => ({
          first_ip_addr: textOfBytes(proxy.low),
          last_ip_addr: textOfBytes(proxy.hi),
          vrf_id: proxy.table_id,
        })),
        interfaces: enabled.flatMap(({ sw_if_index }) => {
          const name = names.get(sw_if_index);
          return name === undefined ? [] : [{ name }];
        }),
      });
      const isNothing = value.ranges.length === 0 && value.interfaces.length === 0;
      // a value without ranges sends no request: it exists as soon as it is desired
      const isDesired = correlate.some((each) => each.value.ranges.length === 0);
      if (isNothing && !isDesired) return [];
      return [{ key: PROXY_ARP_KEY, value, origin: 'from-NB' as const }];
    },
  });
}

function validate(key: string, { ranges, interfaces }: ProxyARP): void {
  for (const { first_ip_addr, last_ip_addr } of ranges) {
    const first = v4(first_ip_addr);
    const last = v4(last_ip_addr);
    checkField(key, first !== undefined, 'ranges.first_ip_addr', 'is not an IPv4 address');
    checkField(key, last !== undefined, 'ranges.last_ip_addr', 'is not an IPv4 address');
    const ordered = Buffer.compare(first ?? empty, last ?? empty) <= 0;
    checkField(key, ordered, 'ranges.last_ip_addr', 'is lower than first_ip_addr');
  }
  const distinct = new Set(ranges.map((range) => Object.values(range).join(' ')));
  checkField(key, distinct.size === ranges.length, 'ranges', 'a range is listed twice');
  const names = new Set(interfaces.map(({ name }) => name));
  checkField(key, names.size === interfaces.length, 'interfaces', 'an interface is listed twice');
  checkField(key, !names.has(''), 'interfaces', 'an interface has no name');
}

const empty = new Uint8Array();

function v4(address: string): Uint8Array | undefined {
  const isV4 = address !== '' && !address.includes(':');
  return isV4 ? bytesOfAddress(address) : undefined;
}

function missing(
  from: readonly ProxyARPRange[],
  among: readonly ProxyARPRange[],
): readonly ProxyARPRange[] {
  return from.filter((range) => !among.some((other) => isDeepStrictEqual(range, other)));
}
