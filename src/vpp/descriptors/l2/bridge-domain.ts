import { isDeepStrictEqual } from 'node:util';
import { allOrNothing, allSettled } from '#infra/rollback/rollback.ts';
import { checkField } from '#kvscheduler/api/check-field.ts';
import { defineDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor } from '#kvscheduler/api/descriptor.ts';
import {
  type BridgeDomain,
  bridgeDomainKey,
  bridgeDomainModel,
} from '#models/vpp/bridge-domain.ts';
import { bridgedInterfaceKey } from '#models/vpp/derived.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import type { BridgeDomainArpTerminationEntry } from '#models/vpp/l2.gen.ts';
import type { BridgeDomainMetadata } from '#plugins/controller/api/ports/metadata.ts';
import { fromAddress, fromMac, toAddress, toMac } from '../../binapi/addresses.ts';
import { ignoreNotFound } from '../ignored-retvals.ts';
import { NONE } from '../limits.ts';
import { managedNames, type NamedKey } from '../managed-keys.ts';
import { interfaceNames } from '../names-by-index.ts';
import type { VppDescriptorOptions } from '../options.ts';
import { tagOf } from '../tags.ts';
import { unmanagedMemberships } from './unmanaged-bridges.ts';

type ArpEntry = BridgeDomainArpTerminationEntry;

const namedKey: NamedKey = {
  build: (name) => bridgeDomainKey.build({ name }),
  parse: (key) => bridgeDomainKey.parse(key)?.name,
};

/**
 * Bridge domains. Managed ones have their name as tag; VPP chooses the number. Members are derived
 * values. ARP entries can be changed in place, flags and aging cannot.
 */
export function bridgeDomainDescriptor({
  client,
  log,
  managedKeys,
}: VppDescriptorOptions): KvDescriptor<BridgeDomain, BridgeDomainMetadata> {
  const arpEntry = (bd_id: number, entry: ArpEntry, is_add: boolean): Promise<unknown> =>
    client.request('bd_ip_mac_add_del', {
      is_add,
      entry: { bd_id, ip: toAddress(entry.ip_address), mac: toMac(entry.phys_address) },
    });
  const addOrDelete = (
    bd_id: number,
    value: BridgeDomain,
    is_add: boolean,
  ): Promise<{ readonly bd_id: number }> =>
    client.request('bridge_domain_add_del_v2', {
      bd_id,
      flood: value.flood,
      uu_flood: value.unknown_unicast_flood,
      forward: value.forward,
      learn: value.learn,
      arp_term: value.arp_termination,
      arp_ufwd: false,
      mac_age: value.mac_age,
      bd_tag: tagOf(value.name),
      is_add,
    });

  return defineDescriptor('vpp-bridge-domain', bridgeDomainModel, {
    retrieveDependencies: ['vpp-interface'],
    validate,
    equivalent: (_key, a, b) =>
      !flagsDiffer(a, b) && isDeepStrictEqual(a.arp_termination_table, b.arp_termination_table),
    needsRecreate: (_key, before, after) => flagsDiffer(before, after),
    derived: (_key, { name, interfaces }) =>
      interfaces.map((member) => ({
        key: bridgedInterfaceKey.build({ bd: name, iface: member.name }),
        value: member,
      })),

    create: (_key, value) =>
      allOrNothing(log, async (undo) => {
        const { bd_id } = await addOrDelete(NONE, value, true);
        // deleting the domain deletes its ARP entries
        undo.add(() => addOrDelete(bd_id, value, false));
        await allSettled(value.arp_termination_table.map((entry) => arpEntry(bd_id, entry, true)));
        return { bdId: bd_id };
      }),

    update: (_key, before, after, metadata) =>
      allOrNothing(log, async (undo) => {
        const { bdId } = metadata;
        const removed = missing(before.arp_termination_table, after.arp_termination_table);
        const added = missing(after.arp_termination_table, before.arp_termination_table);
        for (const entry of removed) undo.add(() => arpEntry(bdId, entry, true));
        for (const entry of added) undo.add(() => ignoreNotFound(arpEntry(bdId, entry, false)));
        // an address that changes its MAC is in both lists: the old entry is deleted first
        await allSettled([
          ...removed.map((entry) => ignoreNotFound(arpEntry(bdId, entry, false))),
          ...added.map((entry) => arpEntry(bdId, entry, true)),
        ]);
        return metadata;
      }),

    delete: (_key, value, { bdId }) => ignoreNotFound(addOrDelete(bdId, value, false)),

    async retrieve(correlate, ctx) {
      const names = interfaceNames(ctx);
      const desired = new Set(correlate.map(({ value }) => value.name));
      const { ofTag } = managedNames(managedKeys, namedKey, desired);
      const [domains, entries] = await Promise.all([
        client.dump('bridge_domain_dump', { bd_id: NONE, sw_if_index: NONE }),
        client.dump('bd_ip_mac_dump', { bd_id: NONE }),
      ]);
      const arp = Map.groupBy(entries, ({ entry }) => entry.bd_id);
      const isManaged = (name: string): boolean => managedKeys.has(vppInterfaceKey.build({ name }));
      const memberships = unmanagedMemberships(
        client,
        domains.filter(({ bd_tag }) => ofTag(bd_tag) === undefined),
        new Map([...names].filter(([, name]) => isManaged(name))),
      );
      for (const one of memberships) ctx.leftover(one);
      return domains.flatMap((found) => {
        const domain = ofTag(found.bd_tag);
        if (domain === undefined) return [];
        const value = bridgeDomainModel.canonical({
          name: domain,
          flood: found.flood,
          unknown_unicast_flood: found.uu_flood,
          forward: found.forward,
          learn: found.learn,
          arp_termination: found.arp_term,
          mac_age: found.mac_age,
          interfaces: found.sw_if_details.flatMap(({ sw_if_index, shg }) => {
            const name = names.get(sw_if_index);
            const bridged_virtual_interface = sw_if_index === found.bvi_sw_if_index;
            if (name === undefined) return [];
            return [{ name, bridged_virtual_interface, split_horizon_group: shg }];
          }),
          arp_termination_table: (arp.get(found.bd_id) ?? []).map(({ entry }) => ({
            ip_address: fromAddress(entry.ip),
            phys_address: fromMac(entry.mac),
          })),
        });
        const key = bridgeDomainKey.build({ name: domain });
        return [{ key, value, metadata: { bdId: found.bd_id }, origin: 'from-NB' as const }];
      });
    },
  });
}

function validate(key: string, value: BridgeDomain): void {
  checkField(key, value.name !== '', 'name', 'missing');
  checkField(key, value.mac_age <= 255, 'mac_age', 'above 255 minutes');
  const bvis = value.interfaces.filter((member) => member.bridged_virtual_interface);
  checkField(key, bvis.length <= 1, 'interfaces', 'more than one bridged_virtual_interface');
  const members = new Set(value.interfaces.map(({ name }) => name));
  checkField(
    key,
    members.size === value.interfaces.length,
    'interfaces',
    'an interface is listed twice',
  );
  const deep = value.interfaces.some((member) => member.split_horizon_group > 255);
  checkField(key, !deep, 'interfaces', 'split_horizon_group above 255');
  const whole = value.arp_termination_table.every(
    (entry) => entry.ip_address !== '' && entry.phys_address !== '',
  );
  checkField(key, whole, 'arp_termination_table', 'an address is missing');
  const addresses = new Set(value.arp_termination_table.map((entry) => entry.ip_address));
  const twice = addresses.size !== value.arp_termination_table.length;
  checkField(key, !twice, 'arp_termination_table', 'an address is listed twice');
}

function flagsDiffer(a: BridgeDomain, b: BridgeDomain): boolean {
  return (
    a.flood !== b.flood ||
    a.unknown_unicast_flood !== b.unknown_unicast_flood ||
    a.forward !== b.forward ||
    a.learn !== b.learn ||
    a.arp_termination !== b.arp_termination ||
    a.mac_age !== b.mac_age
  );
}

function missing(from: readonly ArpEntry[], among: readonly ArpEntry[]): readonly ArpEntry[] {
  return from.filter((entry) => !among.some((other) => isDeepStrictEqual(entry, other)));
}
