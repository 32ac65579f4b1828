import { checkField } from '#kvscheduler/api/check-field.ts';
import { defineDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type {
  Dependency,
  KeyedValue,
  KvDescriptor,
  OperationContext,
} from '#kvscheduler/api/descriptor.ts';
import { type VppArpEntry, vppArpKey, vppArpModel } from '#models/vpp/arp.ts';
import { interfaceUpKey, vlanUpKey } from '#models/vpp/derived.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import { fromAddress, fromMac, toAddress, toMac } from '../../binapi/addresses.ts';
import { AddressFamily, IpNeighborFlags } from '../../binapi/enums.gen.ts';
import type { IpNeighbor } from '../../binapi/messages.gen.ts';
import { ignoreNotFound, ignoreRetvals } from '../ignored-retvals.ts';
import { NONE } from '../limits.ts';
import { mapInSlices } from '../map-in-slices.ts';
import { interfaceNames } from '../names-by-index.ts';
import type { VppDescriptorOptions } from '../options.ts';

const ENTRY_EXISTS = -116;

/**
 * Neighbors, IPv4 and IPv6. Static neighbors on managed interfaces are managed, learned ones only if
 * they are desired.
 */
export function arpDescriptor({
  client,
  clock,
  learnedNeighbors,
}: VppDescriptorOptions): KvDescriptor<VppArpEntry, undefined> {
  const neighbor = (value: VppArpEntry, ctx: OperationContext): IpNeighbor => {
    const key = vppInterfaceKey.build({ name: value.interface });
    const isStatic = value.static ? IpNeighborFlags.IP_API_NEIGHBOR_FLAG_STATIC : 0;
    return {
      sw_if_index: ctx.metadata<VppInterfaceMetadata>(key).swIfIndex,
      // routes to hosts are separate values
      flags: isStatic | IpNeighborFlags.IP_API_NEIGHBOR_FLAG_NO_FIB_ENTRY,
      mac_address: toMac(value.phys_address),
      ip_address: toAddress(value.ip_address),
    };
  };
  const add = async (value: VppArpEntry, ctx: OperationContext): Promise<void> => {
    const added = neighbor(value, ctx);
    // together with the request, so that the two are in one order with those of addresses
    if (value.static) learnedNeighbors.remove(added);
    else learnedNeighbors.add(added);
    const request = client.request('ip_neighbor_add_del', { is_add: true, neighbor: added });
    await ignoreRetvals(request, [ENTRY_EXISTS]).catch((error: unknown) => {
      learnedNeighbors.remove(added);
      throw error;
    });
  };
  const remove = (value: VppArpEntry, ctx: OperationContext): Promise<void> => {
    const removed = neighbor(value, ctx);
    learnedNeighbors.remove(removed);
    return ignoreNotFound(
      client.request('ip_neighbor_add_del', { is_add: false, neighbor: removed }),
    );
  };

  return defineDescriptor('vpp-arp', vppArpModel, {
    retrieveDependencies: ['vpp-interface'],
    validate(key, value) {
      checkField(key, value.interface !== '', 'interface', 'missing');
      checkField(key, value.ip_address !== '', 'ip_address', 'missing');
      checkField(key, value.phys_address !== '', 'phys_address', 'missing');
    },
    dependencies: (_key, value) => dependencies(value),
    // VPP does not replace a static entry by a learned one
    needsRecreate: (_key, before, after) => before.static && !after.static,
    async create(_key, value, ctx) {
      await add(value, ctx);
      return undefined;
    },
    async update(_key, _before, after, _metadata, ctx) {
      await add(after, ctx);
      return undefined;
    },
    delete: (_key, value, _metadata, ctx) => remove(value, ctx),

    async retrieve(correlate, ctx) {
      const desired = new Map(correlate.map(({ key, value }) => [key, value]));
      const names = interfaceNames(ctx);
      const dumps = await Promise.all(
        interfacesToRead(correlate, ctx.only, names).flatMap((sw_if_index) =>
          [AddressFamily.ADDRESS_IP4, AddressFamily.ADDRESS_IP6].map((af) =>
            client.dump('ip_neighbor_dump', { sw_if_index, af }),
          ),
        ),
      );
      const learned: IpNeighbor[] = [];
      const entries = await mapInSlices(clock, dumps.flat(), ({ neighbor: found }) => {
        const name = names.get(found.sw_if_index);
        if (name === undefined) return [];
        const isStatic = (found.flags & IpNeighborFlags.IP_API_NEIGHBOR_FLAG_STATIC) !== 0;
        const ip = fromAddress(found.ip_address);
        const key = vppArpKey.build({ iface: name, ip });
        if (!isStatic && !desired.has(key)) return [];
        // one that is to become static is replaced, not kept
        if (!isStatic && !desired.get(key)?.static)
          learned.push({
            ...found,
            flags: found.flags | IpNeighborFlags.IP_API_NEIGHBOR_FLAG_NO_FIB_ENTRY,
          });
        const value = vppArpModel.canonical({
          interface: name,
          ip_address: ip,
          phys_address: fromMac(found.mac_address),
          static: isStatic,
        });
        return [{ key, value, origin: 'from-NB' as const }];
      });
      if (ctx.only) for (const one of learned) learnedNeighbors.add(one);
      else learnedNeighbors.replaceAll(learned);
      return entries.flat();
    },
  });
}

/** Indexes of the interfaces of the requested values; `NONE` is all interfaces. */
function interfacesToRead(
  correlate: readonly KeyedValue<VppArpEntry>[],
  only: ReadonlySet<string> | undefined,
  names: ReadonlyMap<number, string>,
): readonly number[] {
  if (!only) return [NONE];
  const requested = correlate.filter(({ key }) => only.has(key));
  const wanted = new Set(requested.map(({ value }) => value.interface));
  return [...names].filter(([, name]) => wanted.has(name)).map(([index]) => index);
}

/**
 * VPP removes a neighbor that is not static when its interface goes down. It also does that when an
 * address of the interface is deleted that covers the neighbor, although a neighbor does not need such an
 * address: the descriptor of addresses adds it again.
 */
function dependencies({ interface: name, ...value }: VppArpEntry): readonly Dependency[] {
  const exists = { label: 'interface-exists', key: vppInterfaceKey.build({ name }) };
  if (value.static) return [exists];
  const prefixes = [interfaceUpKey, vlanUpKey].map((up) => up.prefix({ iface: name }));
  return [exists, { label: 'interface-is-up', anyOf: { prefixes } }];
}
