/**
 * Reads back all managed interfaces of VPP, with everything that is derived from them.
 * A managed interface has a tag, which is its logical name. An interface without a tag is managed if
 * its creator crashed between creating and tagging it: then its natural identity (the host interface,
 * the ends of a tunnel) is that of a desired value. A NIC is managed if it is tagged with its own name;
 * without the tag it is reported as an object of the southbound. All other interfaces are left alone.
 */

import type {
  KeyedValue,
  Origin,
  RetrieveContext,
  RetrievedValue,
} from '#kvscheduler/api/descriptor.ts';
import { linuxInterfaceKey } from '#models/linux/interface.ts';
import { type VppInterface, vppInterfaceKey, vppInterfaceModel } from '#models/vpp/interface.ts';
import type {
  LinuxInterfaceMetadata,
  VppInterfaceMetadata,
} from '#plugins/controller/api/ports/metadata.ts';
import { fromMac } from '../../binapi/addresses.ts';
import type { VppClient } from '../../binapi/api.ts';
import { IfStatusFlags, IfType } from '../../binapi/enums.gen.ts';
import type { SwInterfaceDetails } from '../../binapi/messages.gen.ts';
import { NONE } from '../limits.ts';
import { type ManagedNames, managedNames, type NamedKey } from '../managed-keys.ts';
import { mapInSlices } from '../map-in-slices.ts';
import { missingInterfaces } from '../missing-interfaces.ts';
import type { VppDescriptorOptions } from '../options.ts';
import { isTagOf, isTagWithGarbage, tagOf } from '../tags.ts';
import { faultOfTap } from './dead-taps.ts';
import { existingValues } from './derived-values.ts';
import type { InterfaceDetails } from './details.ts';
import { type FoundLease, readDhcpClients } from './dhcp-dump.ts';
import {
  type Families,
  familiesInTable,
  interfaceFamilies,
  type Layer3,
  noFamilies,
  readLayer3,
  tableOf,
} from './layer3.ts';
import { danglingBorrower, orphanedTables, wrongTag } from './leftovers.ts';
import { defaultMtu } from './mtu.ts';
import { type InterfaceReading, readAllInterfaces, readRequestedInterfaces } from './reading.ts';
import { adoptRxModes, type QueueMode } from './rx-mode-values.ts';
import { adoptRxPlacements, type QueueThread } from './rx-placement-values.ts';
import { dpdk } from './types/dpdk.ts';
import type {
  FoundInterface,
  InterfaceTypeHandler,
  TypeFields,
  TypeRetrieveContext,
} from './types/handler.ts';
import { interfaceTypeHandlers } from './types/registry.ts';

type Retrieved = RetrievedValue<VppInterface, VppInterfaceMetadata> & {
  readonly details: InterfaceDetails;
};

/** An interface of VPP that has a logical name. */
interface Named {
  readonly name: string;
  readonly kind: InterfaceTypeHandler;
  readonly found: FoundInterface;
  readonly details: SwInterfaceDetails;
  readonly origin: Origin;
}

export async function retrieveInterfaces(
  needs: Needs,
  correlate: readonly KeyedValue<VppInterface>[],
  ctx: RetrieveContext,
): Promise<readonly Retrieved[]> {
  const { client } = needs;
  const { only } = ctx;
  const desired = new Map(correlate.map(({ value }) => [value.name, value]));
  const few = only && (await readRequestedInterfaces(client, ctx, only, desired));
  const found = few && (await retrieveFrom(needs, few, desired, ctx));
  const isComplete = found?.length === few?.requested;
  return found && isComplete
    ? found
    : retrieveFrom(needs, await readAllInterfaces(client), desired, ctx);
}

type Needs = Pick<VppDescriptorOptions, 'client' | 'clock' | 'lostTapLinks' | 'managedKeys'>;

async function retrieveFrom(
  needs: Needs,
  { details, indexes, lenders: allLenders }: InterfaceReading,
  desired: ReadonlyMap<string, VppInterface>,
  ctx: RetrieveContext,
): Promise<readonly Retrieved[]> {
  const { client, clock, managedKeys } = needs;
  const managed = managedNames(managedKeys, interfaceKey, new Set(desired.keys()));
  const called = new Map(
    details.map((each) => [each.sw_if_index, managed.ofTag(each.tag) ?? each.interface_name]),
  );
  const linux = ctx.retrieved<LinuxInterfaceMetadata>('linux-interface');
  const kindContext: TypeRetrieveContext = {
    details,
    indexes,
    linuxHostName: (name) => linux.get(linuxInterfaceKey.build({ name }))?.hostIfName,
    nameOf: (swIfIndex) => called.get(swIfIndex),
  };
  const types = new Set(details.map(({ tag }) => desired.get(managed.ofTag(tag) ?? '')?.type));
  const handlers = indexes.includes(NONE)
    ? interfaceTypeHandlers
    : interfaceTypeHandlers.filter(({ type }) => types.has(type));
  const [queues, leases, ...dumps] = await Promise.all([
    readQueues(client, needsThreads(ctx, desired) ? [NONE] : indexes),
    readDhcpClients(client),
    ...handlers.map((kind) => kind.dump(client, kindContext)),
  ]);
  const found = new Map<number, { kind: InterfaceTypeHandler; found: FoundInterface }>();
  for (const [position, kind] of handlers.entries()) {
    for (const each of dumps[position] ?? []) found.set(each.swIfIndex, { kind, found: each });
  }
  const named = nameAll(details, found, desired, managed);
  for (const {
    name,
    found: { swIfIndex },
    details: { tag },
    origin,
  } of named)
    if (origin === 'from-NB' && desired.has(name) && tag !== tagOf(name))
      ctx.leftover(wrongTag(client, { name, swIfIndex }, tag));
  const names = new Map(named.map(({ details: { sw_if_index }, name }) => [sw_if_index, name]));
  const lenders = await existingLenders(client, allLenders, names, ctx);
  const requested = named.filter(
    ({ name }) => ctx.only?.has(vppInterfaceKey.build({ name })) ?? true,
  );
  const nameOf = (swIfIndex: number): string | undefined => names.get(swIfIndex);
  const layers = await Promise.all(
    await mapInSlices(clock, requested, ({ name, details: { sw_if_index } }) => {
      const owner = allLenders.has(sw_if_index) ? undefined : tableOwner(name, desired);
      const wanted = owner && interfaceFamilies(owner);
      return readLayer3(client, sw_if_index, leases.has(sw_if_index), wanted);
    }),
  );
  const inTable = requested.map(({ name }, position): Families => {
    const owner = tableOwner(name, desired);
    return owner ? familiesInTable(layers[position]!, owner) : noFamilies;
  });
  const orphaned = await Promise.all(
    requested.map(({ name, origin, found: { swIfIndex } }, position) => {
      const { addresses, dhcpClient } = layers[position]!;
      const isAddressless = addresses.length === 0 && !dhcpClient && !allLenders.has(swIfIndex);
      if (!isAddressless || origin !== 'from-NB') return [];
      return orphanedTables(client, { name, swIfIndex }, inTable[position]);
    }),
  );
  for (const one of orphaned.flat()) ctx.leftover(one);
  // a lease may have been added or removed in between
  const leasesNow = leases.size === 0 ? leases : await readDhcpClients(client);
  return mapInSlices(clock, requested.entries(), ([position, each]) => {
    const index = each.details.sw_if_index;
    const desiredValue = desired.get(each.name);
    const leased = [leases.get(index)?.address, leasesNow.get(index)?.address];
    const lender = names.get(lenders.get(index) ?? NONE);
    const layer3 = withoutLeased(layers[position]!, leased, desiredValue);
    const { rx_modes, rx_placements } = adoptQueues(queues, index, each.kind, desiredValue);
    const context = { ...kindContext, nameOf };
    const surroundings = { lender, lease: leasesNow.get(index), rx_modes, rx_placements };
    const broken = faultOfTap(needs, ctx.readBack, each.name, each.found);
    const retrieved = assemble(each, desiredValue, layer3, surroundings, context);
    const derived =
      desiredValue &&
      existingValues(retrieved.value, desiredValue, inTable[position]!, ctx.isKnown);
    return { ...retrieved, derived, broken };
  });
}

/** The desired value of whose addresses an interface is in the table: its own, or that of its lender. */
function tableOwner(
  name: string,
  desired: ReadonlyMap<string, VppInterface>,
): VppInterface | undefined {
  const value = desired.get(name);
  const lender = value?.unnumbered?.interface_with_ip;
  return lender === undefined ? value : desired.get(lender);
}

type Queue = QueueMode & QueueThread;

interface Queues {
  readonly of: ReadonlyMap<number, readonly Queue[]>;
  readonly hasWorkers: boolean;
}

/** Whether VPP has workers shows in the queues of all interfaces. */
function needsThreads(
  { only }: RetrieveContext,
  desired: ReadonlyMap<string, VppInterface>,
): boolean {
  const placed = [...desired.values()].filter(({ rx_placements }) => rx_placements.length > 0);
  return placed.some(({ name }) => only?.has(vppInterfaceKey.build({ name })) ?? true);
}

async function readQueues(client: VppClient, indexes: readonly number[]): Promise<Queues> {
  const all = await Promise.all(
    indexes.map((sw_if_index) => client.dump('sw_interface_rx_placement_dump', { sw_if_index })),
  );
  const queues = all.flat().map(({ sw_if_index, queue_id, mode, worker_id }) => ({
    sw_if_index,
    queue: queue_id,
    mode,
    thread: worker_id,
  }));
  return {
    of: Map.groupBy(queues, ({ sw_if_index }) => sw_if_index),
    // if there are workers, VPP assigns the queues to them
    hasWorkers: queues.some(({ thread }) => thread > 0),
  };
}

/** An address from DHCP is not part of the configuration, unless the configuration contains it too. */
function withoutLeased(
  found: Layer3,
  leased: readonly (string | undefined)[],
  desired: VppInterface | undefined,
): Layer3 {
  const isOwn = (address: string): boolean =>
    !leased.includes(address) || desired?.ip_addresses.includes(address) === true;
  return { ...found, addresses: found.addresses.filter(isOwn) };
}

function nameAll(
  details: readonly SwInterfaceDetails[],
  found: ReadonlyMap<number, { kind: InterfaceTypeHandler; found: FoundInterface }>,
  desired: ReadonlyMap<string, VppInterface>,
  managed: ManagedNames,
): readonly Named[] {
  /** Names of desired interfaces that no tag names exactly. */
  const byIdentity = new Map<string, string[]>();
  const tagged = new Set(details.map(({ tag }) => tag));
  for (const value of desired.values()) {
    const kind = interfaceTypeHandlers.find(({ type }) => type === value.type);
    const identity = kind?.identity(value);
    if (identity === undefined || tagged.has(tagOf(value.name))) continue;
    byIdentity.set(identity, [...(byIdentity.get(identity) ?? []), value.name]);
  }
  const isOrphan = (tag: string, name: string): boolean =>
    !desired.has(name) && isTagWithGarbage(tag, name);
  return details.flatMap((each) => {
    const known = found.get(each.sw_if_index);
    // a NIC of any driver, if a value names it
    const isNic = known?.kind === dpdk || desired.get(each.interface_name)?.type === 'DPDK';
    if (isNic && each.type === IfType.IF_API_TYPE_HARDWARE) return [nicOf(each)];
    if (known === undefined) return [];
    const named = managed.ofTag(each.tag) ?? managed.all.find((one) => isOrphan(each.tag, one));
    const candidates =
      named !== undefined && desired.has(named) ? [] : byIdentity.get(known.found.identity ?? '');
    // a managed interface with another name is an orphan, which releases the identity
    const isFree = (one: string): boolean => named === undefined || isTagOf(each.tag, one);
    const unnamed = each.tag === '' ? managed.ofOrphan(known.found.identity ?? '') : undefined;
    const name = takeFirst(candidates ?? [], isFree) ?? named ?? unnamed;
    if (name === undefined) return [];
    return [{ ...known, details: each, name, origin: 'from-NB' }];
  });
}

const interfaceKey: NamedKey = {
  build: (name) => vppInterfaceKey.build({ name }),
  parse: (key) => vppInterfaceKey.parse(key)?.name,
};

function takeFirst(names: string[], isIt: (name: string) => boolean): string | undefined {
  const position = names.findIndex(isIt);
  return position < 0 ? undefined : names.splice(position, 1)[0];
}

function nicOf(details: SwInterfaceDetails): Named {
  const name = details.interface_name;
  return {
    name,
    kind: dpdk,
    found: { swIfIndex: details.sw_if_index, fields: {}, identity: undefined },
    details,
    origin: details.tag === name ? 'from-NB' : 'from-SB',
  };
}

/** Lenders by borrower, without those that were deleted past the agent. */
async function existingLenders(
  client: VppClient,
  lenders: ReadonlyMap<number, number>,
  managed: ReadonlyMap<number, string>,
  ctx: RetrieveContext,
): Promise<ReadonlyMap<number, number>> {
  const suspects = [...lenders].filter(
    ([borrower, lender]) => managed.has(borrower) && !managed.has(lender),
  );
  if (suspects.length === 0) return lenders;
  const missing = await missingInterfaces(client, new Set(suspects.map(([, lender]) => lender)));
  for (const [swIfIndex, lender] of suspects) {
    const name = managed.get(swIfIndex);
    if (name !== undefined && missing.has(lender))
      ctx.leftover(danglingBorrower(client, { name, swIfIndex }, lender));
  }
  return new Map([...lenders].filter(([, lender]) => !missing.has(lender)));
}

function assemble(
  { name, kind, found, details, origin }: Named,
  desired: VppInterface | undefined,
  layer3: Layer3,
  { lender, lease, ...queues }: Surroundings,
  ctx: TypeRetrieveContext,
): Retrieved {
  const sameKind = desired?.type === kind.type ? desired : undefined;
  const fields: TypeFields =
    sameKind === undefined ? found.fields : kind.adopt(found, sameKind, ctx);
  const vrf = lender === undefined ? tableOf(layer3, desired) : (desired?.vrf ?? 0);
  const value = vppInterfaceModel.canonical({
    name,
    type: kind.type,
    enabled: (details.flags & IfStatusFlags.IF_STATUS_API_FLAG_ADMIN_UP) !== 0,
    phys_address: adoptMac(kind, details, desired),
    mtu: adoptMtu(kind, details, desired),
    ip_addresses: adoptOrder(layer3.addresses, desired),
    set_dhcp_client: layer3.dhcpClient,
    ...(lender !== undefined && { unnumbered: { interface_with_ip: lender } }),
    vrf,
    ...queues,
    ...fields,
  });
  return {
    key: vppInterfaceKey.build({ name }),
    value,
    origin,
    details: { report: details, table4: layer3.table4, table6: layer3.table6, lease },
    metadata: {
      swIfIndex: details.sw_if_index,
      type: kind.type,
      ...(found.hostIfName !== undefined && { hostIfName: found.hostIfName }),
      ...(found.hostNamespace !== undefined && { hostNamespace: found.hostNamespace }),
    },
  };
}

type Surroundings = QueueFields & {
  readonly lender: string | undefined;
  readonly lease: FoundLease | undefined;
};

type QueueFields = Pick<VppInterface, 'rx_modes' | 'rx_placements'>;

function adoptQueues(
  { of, hasWorkers }: Queues,
  swIfIndex: number,
  { hasDynamicQueues: queuesCome }: InterfaceTypeHandler,
  desired: VppInterface | undefined,
): QueueFields {
  const found = of.get(swIfIndex) ?? [];
  if (queuesCome === true && found.length === 0) return { rx_modes: [], rx_placements: [] };
  return {
    rx_modes: adoptRxModes(found, desired?.rx_modes ?? []),
    rx_placements: adoptRxPlacements(found, desired?.rx_placements ?? [], hasWorkers),
  };
}

function adoptMac(
  kind: InterfaceTypeHandler,
  details: SwInterfaceDetails,
  desired: VppInterface | undefined,
): string {
  if (kind.mac === 'never' || desired?.phys_address === '') return desired?.phys_address ?? '';
  return fromMac(details.l2_address);
}

/**
 * An MTU that the value leaves to VPP reads back as 0 while it is VPP's default; the default of hardware is
 * unknown. The frame size of a device is no default: VPP sets the MTU with it.
 */
function adoptMtu(
  kind: InterfaceTypeHandler,
  details: SwInterfaceDetails,
  desired: VppInterface | undefined,
): number {
  if (kind.mtu === 'hardware') return desired?.mtu === 0 ? 0 : details.link_mtu;
  const layer3 = details.mtu[0] ?? 0;
  if (kind.mtu === 'inherited') return layer3;
  const initial = defaultMtu(kind, details);
  return layer3 === initial && layer3 !== desired?.mtu ? 0 : layer3;
}

/** VPP returns IPv4 before IPv6; the addresses of a family are in the order of their creation. */
function adoptOrder(
  found: readonly string[],
  desired: VppInterface | undefined,
): readonly string[] {
  const set = new Set(found);
  // the configuration may list an address twice
  const isAll = new Set(desired?.ip_addresses).size === set.size;
  return isAll && desired?.ip_addresses.every((address) => set.has(address))
    ? desired.ip_addresses
    : found;
}
