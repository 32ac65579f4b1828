import { checkField } from '#kvscheduler/api/check-field.ts';
import { defineDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { Dependency, KvDescriptor, OperationContext } from '#kvscheduler/api/descriptor.ts';
import { bridgeDomainKey } from '#models/vpp/bridge-domain.ts';
import { bridgedInterfaceKey } from '#models/vpp/derived.ts';
import { type FIBEntry, fibEntryKey, fibEntryModel } from '#models/vpp/fib-entry.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import type {
  BridgeDomainMetadata,
  VppInterfaceMetadata,
} from '#plugins/controller/api/ports/metadata.ts';
import { fromMac, toMac } from '../../binapi/addresses.ts';
import { ignoreNotFound } from '../ignored-retvals.ts';
import { NONE } from '../limits.ts';
import { mapInSlices } from '../map-in-slices.ts';
import { bridgeDomainNames, interfaceNames } from '../names-by-index.ts';
import type { VppDescriptorOptions } from '../options.ts';

/**
 * Entries of a bridge domain's table. Static and filtering entries are managed. Learned entries, and
 * the entry that VPP creates for the MAC of a BVI, are managed only if they are desired.
 */
export function fibEntryDescriptor({
  client,
  clock,
}: VppDescriptorOptions): KvDescriptor<FIBEntry, undefined> {
  const addOrDelete = (
    value: FIBEntry,
    is_add: boolean,
    ctx: OperationContext,
  ): Promise<unknown> => {
    const drops = value.action === 'DROP';
    const interfaceKey = vppInterfaceKey.build({ name: value.outgoing_interface });
    return client.request('l2fib_add_del', {
      mac: toMac(value.phys_address),
      bd_id: ctx.metadata<BridgeDomainMetadata>(
        bridgeDomainKey.build({ name: value.bridge_domain }),
      ).bdId,
      // VPP stores a filter without an interface and deletes it only under that index
      sw_if_index: drops ? NONE : ctx.metadata<VppInterfaceMetadata>(interfaceKey).swIfIndex,
      is_add,
      static_mac: value.static_config,
      filter_mac: drops,
      bvi_mac: value.bridged_virtual_interface,
    });
  };
  return defineDescriptor('vpp-l2-fib', fibEntryModel, {
    retrieveDependencies: ['vpp-interface', 'vpp-bridge-domain'],
    validate(key, value) {
      checkField(key, value.phys_address !== '', 'phys_address', 'missing');
      checkField(key, value.bridge_domain !== '', 'bridge_domain', 'missing');
      const leads = value.action === 'DROP' || value.outgoing_interface !== '';
      checkField(key, leads, 'outgoing_interface', 'missing');
    },
    // of a filtering entry VPP stores only the MAC
    equivalent: (_key, a, b) =>
      a.action === b.action &&
      (a.action === 'DROP' ||
        (a.outgoing_interface === b.outgoing_interface &&
          a.static_config === b.static_config &&
          a.bridged_virtual_interface === b.bridged_virtual_interface)),
    dependencies: (_key, value) => dependencies(value),
    async create(_key, value, ctx) {
      await addOrDelete(value, true, ctx);
      return undefined;
    },
    delete: (_key, value, _metadata, ctx) => ignoreNotFound(addOrDelete(value, false, ctx)),

    async retrieve(correlate, ctx) {
      const desired = new Map(correlate.map(({ key, value }) => [key, value]));
      const interfaces = interfaceNames(ctx);
      const domains = [...bridgeDomainNames(ctx)];
      const dumps = await Promise.all(
        domains.map(([bd_id]) => client.dump('l2_fib_table_dump', { bd_id })),
      );
      const found = domains.flatMap(([, bd], position) =>
        (dumps[position] ?? []).map((entry) => ({ bd, entry })),
      );
      const entries = await mapInSlices(clock, found, ({ bd, entry }) => {
        const mac = fromMac(entry.mac);
        const key = fibEntryKey.build({ bd, mac });
        const known = desired.get(key);
        const managed = (entry.static_mac && !entry.bvi_mac) || entry.filter_mac;
        const name = interfaces.get(entry.sw_if_index);
        if (!managed && known === undefined) return [];
        if (name === undefined && !entry.filter_mac) return [];
        if (entry.filter_mac && known?.action === 'DROP') {
          return [{ key, value: known, origin: 'from-NB' as const }];
        }
        const value = fibEntryModel.canonical({
          phys_address: mac,
          bridge_domain: bd,
          action: entry.filter_mac ? 'DROP' : 'FORWARD',
          outgoing_interface: entry.filter_mac ? '' : name,
          static_config: entry.static_mac,
          bridged_virtual_interface: entry.bvi_mac,
        });
        return [{ key, value, origin: 'from-NB' as const }];
      });
      return entries.flat();
    },
  });
}

function dependencies(value: FIBEntry): readonly Dependency[] {
  const bd = value.bridge_domain;
  const iface = value.outgoing_interface;
  const domain = { label: 'bridge-domain-exists', key: bridgeDomainKey.build({ name: bd }) };
  if (value.action === 'DROP') return [domain];
  return [
    domain,
    { label: 'interface-exists', key: vppInterfaceKey.build({ name: iface }) },
    { label: 'interface-in-bridge-domain', key: bridgedInterfaceKey.build({ bd, iface }) },
  ];
}
