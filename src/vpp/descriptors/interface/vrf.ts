import { allOrNothing, allSettled } from '#infra/rollback/rollback.ts';
import { defineInternalDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { Dependency, KvDescriptor, OperationContext } from '#kvscheduler/api/descriptor.ts';
import { inheritedVrfKey, interfaceVrfKey } from '#models/vpp/derived.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import { vrfTableKey } from '#models/vpp/vrf-table.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import { ignoreNotFound } from '../ignored-retvals.ts';
import type { VppDescriptorOptions } from '../options.ts';

const LENDER_IN_TABLE = 'lending-interface-in-vrf-table';

/** The table of an interface, and the families that it applies to. */
interface Binding {
  readonly swIfIndex: number;
  /** Undefined: that of a lender which has none. */
  readonly vrf: number | undefined;
  readonly v4: boolean;
  readonly v6: boolean;
}

/**
 * Binds an interface to its table, before its addresses and before it borrows one. Every new interface
 * is in table 0; it is in another table only if an earlier reset failed. The table of a family without
 * addresses is unknown, so that it is read first.
 */
export function interfaceVrfDescriptor({
  client,
  log,
}: VppDescriptorOptions): KvDescriptor<object, undefined> {
  const put = (sw_if_index: number, is_ipv6: boolean, vrf_id: number): Promise<unknown> =>
    client.request('sw_interface_set_table', { sw_if_index, is_ipv6, vrf_id });
  const takeBack = async (sw_if_index: number, is_ipv6: boolean): Promise<void> => {
    const { vrf_id } = await client.request('sw_interface_get_table', { sw_if_index, is_ipv6 });
    if (vrf_id !== 0) await put(sw_if_index, is_ipv6, 0);
  };

  return defineInternalDescriptor(
    'vpp-interface-vrf',
    { keys: [interfaceVrfKey, inheritedVrfKey] },
    {
      dependencies: (key) => dependencies(key),
      // the old table is released before the new one is bound, and addresses are deleted in between
      claims: (key) => [`interface-table/${ifaceOf(key)}`],

      create: (key, _value, ctx) =>
        allOrNothing(log, async (undo) => {
          const { swIfIndex, vrf, v4, v6 } = binding(key, ctx);
          if (!vrf) {
            await allSettled([takeBack(swIfIndex, false), takeBack(swIfIndex, true)]);
            return undefined;
          }
          undo.add(() => allSettled([put(swIfIndex, false, 0), put(swIfIndex, true, 0)]));
          await allSettled([
            v4 ? put(swIfIndex, false, vrf) : takeBack(swIfIndex, false),
            v6 ? put(swIfIndex, true, vrf) : takeBack(swIfIndex, true),
          ]);
          return undefined;
        }),

      async delete(key, _value, _metadata, ctx) {
        const { swIfIndex, vrf, v4, v6 } = binding(key, ctx);
        if (vrf === 0) return;
        await allSettled([
          ignoreNotFound(v4 ? put(swIfIndex, false, 0) : takeBack(swIfIndex, false)),
          ignoreNotFound(v6 ? put(swIfIndex, true, 0) : takeBack(swIfIndex, true)),
        ]);
      },
    },
  );
}

function ifaceOf(key: string): string {
  return interfaceVrfKey.parse(key)?.iface ?? inheritedVrfKey.parse(key)?.iface ?? '';
}

function dependencies(key: string): readonly Dependency[] {
  const inherited = inheritedVrfKey.parse(key);
  if (inherited !== undefined) {
    const { lender } = inherited;
    const prefixes = [interfaceVrfKey.prefix({ iface: lender })];
    return [
      { label: 'lending-interface-exists', key: vppInterfaceKey.build({ name: lender }) },
      { label: LENDER_IN_TABLE, anyOf: { prefixes } },
    ];
  }
  const { vrf = '0', version } = interfaceVrfKey.parse(key) ?? {};
  if (vrf === '0') return [];
  const needed: Dependency[] = [];
  if (version !== 'v6') {
    needed.push({
      label: 'ipv4-table-exists',
      key: vrfTableKey.build({ id: vrf, protocol: 'IPV4' }),
    });
  }
  if (version !== 'v4') {
    needed.push({
      label: 'ipv6-table-exists',
      key: vrfTableKey.build({ id: vrf, protocol: 'IPV6' }),
    });
  }
  return needed;
}

/**
 * An unnumbered interface is in the table of its lender, for the families of the lender's addresses:
 * the table of the other family may not exist. The key of the lender's table names both.
 */
function binding(key: string, ctx: OperationContext): Binding {
  const { swIfIndex } = ctx.metadata<VppInterfaceMetadata>(
    vppInterfaceKey.build({ name: ifaceOf(key) }),
  );
  const isInherited = inheritedVrfKey.parse(key) !== undefined;
  const table = interfaceVrfKey.parse(isInherited ? (ctx.metBy(LENDER_IN_TABLE) ?? '') : key);
  // a lender that borrows itself has no address to lend
  if (table === undefined) return { swIfIndex, vrf: undefined, v4: false, v6: false };
  const { vrf, version } = table;
  return { swIfIndex, vrf: Number(vrf), v4: version !== 'v6', v6: version !== 'v4' };
}
