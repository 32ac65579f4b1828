import { allOrNothing } from '#infra/rollback/rollback.ts';
import { checkField } from '#kvscheduler/api/check-field.ts';
import { defineDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor } from '#kvscheduler/api/descriptor.ts';
import type { VrfTableFlowHashSettings } from '#models/vpp/l3.gen.ts';
import { type VrfTable, vrfTableKey, vrfTableModel } from '#models/vpp/vrf-table.ts';
import { AddressFamily, IpFlowHashConfig } from '../../binapi/enums.gen.ts';
import type { IpTable } from '../../binapi/messages.gen.ts';
import { ignoreNotFound } from '../ignored-retvals.ts';
import { fitsTag, TAG_LENGTH } from '../limits.ts';
import type { ManagedKeys } from '../managed-keys.ts';
import type { VppDescriptorOptions } from '../options.ts';

/** VPP's name for a table that was created without one. */
function defaultName({ id, protocol }: Pick<VrfTable, 'id' | 'protocol'>): string {
  return `${protocol === 'IPV6' ? 'ipv6' : 'ipv4'}-VRF:${id}`;
}

/** A table that the agent has made; others are unmanaged, unless they are desired. */
export function isManagedTable({ table_id, is_ip6, name }: IpTable, keys: ManagedKeys): boolean {
  const table = { id: table_id, protocol: is_ip6 ? 'IPV6' : 'IPV4' } as const;
  return table_id !== 0 && name !== defaultName(table) && keys.has(vrfTableKey.build(table));
}

/** Marks a table without a label as managed; VPP's default name would not. */
function unlabelledName({ id, protocol }: Pick<VrfTable, 'id' | 'protocol'>): string {
  return `unlabelled-${defaultName({ id, protocol })}`;
}

function toTable(value: VrfTable): IpTable {
  const name = value.label === '' ? unlabelledName(value) : value.label;
  return { table_id: value.id, is_ip6: value.protocol === 'IPV6', name };
}

function flowHash(settings: VrfTableFlowHashSettings): number {
  return (
    (settings.use_src_ip ? IpFlowHashConfig.IP_API_FLOW_HASH_SRC_IP : 0) |
    (settings.use_dst_ip ? IpFlowHashConfig.IP_API_FLOW_HASH_DST_IP : 0) |
    (settings.use_src_port ? IpFlowHashConfig.IP_API_FLOW_HASH_SRC_PORT : 0) |
    (settings.use_dst_port ? IpFlowHashConfig.IP_API_FLOW_HASH_DST_PORT : 0) |
    (settings.use_protocol ? IpFlowHashConfig.IP_API_FLOW_HASH_PROTO : 0) |
    (settings.reverse ? IpFlowHashConfig.IP_API_FLOW_HASH_REVERSE : 0) |
    (settings.symmetric ? IpFlowHashConfig.IP_API_FLOW_HASH_SYMETRIC : 0)
  );
}

/**
 * Tables. Table 0 always exists: VPP ignores requests to create or delete it, including its label. Other
 * tables are managed if they have a name of their own; the name is set when the table is created. VPP
 * does not return the flow hash, so it is assumed to be as desired.
 */
export function vrfTableDescriptor({
  client,
  log,
  managedKeys,
}: VppDescriptorOptions): KvDescriptor<VrfTable, undefined> {
  const setFlowHash = (value: VrfTable, settings: VrfTableFlowHashSettings): Promise<unknown> =>
    client.request('set_ip_flow_hash_v2', {
      table_id: value.id,
      af: value.protocol === 'IPV6' ? AddressFamily.ADDRESS_IP6 : AddressFamily.ADDRESS_IP4,
      flow_hash_config: flowHash(settings),
    });
  const addOrDelete = (value: VrfTable, is_add: boolean): Promise<unknown> =>
    client.request('ip_table_add_del', { is_add, table: toTable(value) });

  return defineDescriptor('vpp-vrf-table', vrfTableModel, {
    validate(key, value) {
      checkField(key, fitsTag(value.label), `label`, `longer than ${TAG_LENGTH} bytes`);
      checkField(
        key,
        value.label !== defaultName(value),
        'label',
        'is VPP’s default name, which marks unmanaged tables',
      );
    },
    needsRecreate: (_key, before, after) =>
      (after.id !== 0 && before.label !== after.label) ||
      (before.flow_hash_settings !== undefined && after.flow_hash_settings === undefined),

    create: (_key, value) =>
      allOrNothing(log, async (undo) => {
        if (value.id !== 0) {
          await addOrDelete(value, true);
          undo.add(() => addOrDelete(value, false));
        }
        if (value.flow_hash_settings) await setFlowHash(value, value.flow_hash_settings);
        return undefined;
      }),

    async update(_key, _before, after) {
      if (after.flow_hash_settings) await setFlowHash(after, after.flow_hash_settings);
      return undefined;
    },

    async delete(_key, value) {
      if (value.id !== 0) await ignoreNotFound(addOrDelete(value, false));
    },

    async retrieve(correlate) {
      const desired = new Map(correlate.map(({ key, value }) => [key, value]));
      const tables = await client.dump('ip_table_dump', {});
      return tables.map(({ table }) => {
        const id = table.table_id;
        const protocol = table.is_ip6 ? 'IPV6' : 'IPV4';
        const key = vrfTableKey.build({ id, protocol });
        const known = desired.get(key);
        const label = table.name === unlabelledName({ id, protocol }) ? '' : table.name;
        const value = vrfTableModel.canonical({
          id,
          protocol,
          label: id === 0 ? (known?.label ?? '') : label,
          flow_hash_settings: known?.flow_hash_settings,
        });
        const isManaged = id !== 0 && (known !== undefined || isManagedTable(table, managedKeys));
        return { key, value, origin: isManaged ? 'from-NB' : 'unknown' };
      });
    },
  });
}
