/**
 * Reads back all tagged mappings of NAT44 and assembles the values that they came from. An identity is
 * attributed to a desired value first: if several tables have it, VPP returns the tag of the first for
 * all of them.
 */
import { Slices } from '#infra/clock/slices.ts';
import type { KeyedValue, RetrieveContext, RetrievedValue } from '#kvscheduler/api/descriptor.ts';
import type { DeepInput } from '#models/model.ts';
import {
  type DNat44,
  type DNat44IdentityMapping,
  type DNat44StaticMapping,
  dnat44Key,
  dnat44Model,
} from '#models/vpp/dnat44.ts';
import { fromPrefix, textOfBytes } from '../../binapi/addresses.ts';
import type { VppClient } from '../../binapi/api.ts';
import { NatConfigFlags } from '../../binapi/enums.gen.ts';
import type {
  Nat44IdentityMappingDetails,
  Nat44LbStaticMappingDetails,
  Nat44StaticMappingDetails,
} from '../../binapi/messages.gen.ts';
import { NONE } from '../limits.ts';
import { managedNames, type NamedKey } from '../managed-keys.ts';
import { interfaceNames } from '../names-by-index.ts';
import type { VppDescriptorOptions } from '../options.ts';
import { danglingMappings } from './dangling-mappings.ts';
import { externalEnd, identityEnd, protocolName, sameDnat, sameMapping } from './mapping.ts';
import { tagReader } from './mapping-tag.ts';

const labelKey: NamedKey = {
  build: (label) => dnat44Key.build({ label }),
  parse: (key) => dnat44Key.parse(key)?.label,
};

interface Found {
  readonly st_mappings: DNat44StaticMapping[];
  readonly id_mappings: DNat44IdentityMapping[];
}

type Input<T> = DeepInput<T>;

export async function retrieveDnats(
  { client, clock, managedKeys }: Pick<VppDescriptorOptions, 'client' | 'clock' | 'managedKeys'>,
  correlate: readonly KeyedValue<DNat44>[],
  ctx: RetrieveContext,
): Promise<readonly RetrievedValue<DNat44, undefined>[]> {
  if (!client.has('nat44_static_mapping_dump')) return [];
  const slices = new Slices(clock);
  const config = await client.request('nat44_show_running_config', {});
  if (config.sessions === 0) return [];
  // one after another: VPP forwards no packets until it has answered all dumps that it received at once
  const statics = await client.dump('nat44_static_mapping_dump', {});
  const balanced = await client.dump('nat44_lb_static_mapping_dump', {});
  const identities = await client.dump('nat44_identity_mapping_dump', {});
  const desired = new Map(correlate.map(({ value }) => [value.label, value]));
  const known = new Known(correlate);
  const managed = managedNames(managedKeys, labelKey, new Set(desired.keys()));
  const readTag = tagReader(managed.all);
  const isManaged = (tag: string): boolean => tag !== '' && managed.has(readTag(tag).label);
  const names = interfaceNames(ctx);
  for (const one of await danglingMappings(client, statics, identities, names, isManaged))
    ctx.leftover(one);
  const owned = await addressesOf(client, statics, identities);
  const found = new Map<string, Found>();
  const foundOf = (label: string): Found => {
    const there = found.get(label);
    if (there !== undefined) return there;
    const made: Found = { st_mappings: [], id_mappings: [] };
    found.set(label, made);
    return made;
  };

  const add = (tag: string, end: (hidden: string) => DNat44StaticMapping): void => {
    const { label, hidden } = readTag(tag);
    const mapping = end(hidden);
    foundOf(label).st_mappings.push(known.mapping(label, mapping) ?? mapping);
  };
  for (const each of statics) {
    if (slices.due()) await slices.turn();
    if (!isManaged(each.tag) || owned.resolves(each)) continue;
    const name = names.get(each.external_sw_if_index);
    if (each.external_sw_if_index !== NONE && name === undefined) continue;
    add(each.tag, (hidden) => fromStatic(each, name, hidden));
  }
  for (const each of balanced) {
    if (slices.due()) await slices.turn();
    if (isManaged(each.tag)) add(each.tag, (hidden) => fromBalanced(each, hidden));
  }
  for (const each of identities) {
    if (slices.due()) await slices.turn();
    if (each.tag === '' || owned.resolvesIdentity(each)) continue;
    const name = names.get(each.sw_if_index);
    if (each.sw_if_index !== NONE && name === undefined) continue;
    const mapping = asIdentity(fromIdentity(each, name));
    const { label } = readTag(each.tag);
    const owner = known.identity(mapping, label);
    if (owner === undefined && !isManaged(each.tag)) continue;
    foundOf(owner?.label ?? label).id_mappings.push(owner?.mapping ?? mapping);
  }

  // VPP has no object for a value without mappings: it exists if it is desired
  for (const { label, st_mappings, id_mappings } of desired.values()) {
    if (st_mappings.length + id_mappings.length === 0) foundOf(label);
  }
  const values: RetrievedValue<DNat44, undefined>[] = [];
  for (const [label, mappings] of found) {
    if (slices.due()) await slices.turn();
    const key = dnat44Key.build({ label });
    if (ctx.only?.has(key) === false) continue;
    const asked = desired.get(label);
    const isAsked = asked !== undefined && sameDnat(asked, { label, ...mappings });
    const value = isAsked ? asked : dnat44Model.canonical({ label, ...mappings });
    values.push({ key, value, origin: 'from-NB' });
  }
  return values;
}

interface DesiredIdentity {
  readonly label: string;
  readonly mapping: DNat44IdentityMapping;
}

/** Desired and known mappings, by the end that is unique in VPP. */
class Known {
  readonly #mappings = new Map<string, DNat44StaticMapping>();
  readonly #identities = new Map<string, readonly DesiredIdentity[]>();

  constructor(values: readonly KeyedValue<DNat44>[]) {
    for (const { value } of values) {
      const { label } = value;
      for (const mapping of value.st_mappings) {
        this.#mappings.set(`${label} ${externalEnd(mapping)}`, mapping);
      }
      for (const mapping of value.id_mappings) {
        const end = identityEnd(mapping);
        const others = this.#identities.get(end) ?? [];
        this.#identities.set(end, [...others, { label, mapping }]);
      }
    }
  }

  /** The desired mapping that equals the one in VPP. */
  mapping(label: string, found: DNat44StaticMapping): DNat44StaticMapping | undefined {
    const desired = this.#mappings.get(`${label} ${externalEnd(found)}`);
    if (desired === undefined) return undefined;
    // VPP does not return SELF for a mapping that is bound to an interface
    const isBound = found.external_interface !== '' && desired.twice_nat === 'SELF';
    const seen = isBound ? { ...found, twice_nat: desired.twice_nat } : found;
    return sameMapping(desired, seen) ? desired : undefined;
  }

  /** @param label from the tag: of several values that desire the identity, this one has it */
  identity(found: DNat44IdentityMapping, label: string): DesiredIdentity | undefined {
    const desired = this.#identities.get(identityEnd(found)) ?? [];
    return desired.find((each) => each.label === label) ?? desired[0];
  }
}

function asIdentity(input: Input<DNat44IdentityMapping>): DNat44IdentityMapping {
  const [mapping] = dnat44Model.canonical({ id_mappings: [input] }).id_mappings;
  return mapping as DNat44IdentityMapping;
}

function twiceNatOf(flags: number): DNat44StaticMapping['twice_nat'] {
  if (flags & NatConfigFlags.NAT_IS_TWICE_NAT) return 'ENABLED';
  return flags & NatConfigFlags.NAT_IS_SELF_TWICE_NAT ? 'SELF' : 'DISABLED';
}

function fromStatic(
  found: Nat44StaticMappingDetails,
  external_interface: string | undefined,
  hidden: string,
): DNat44StaticMapping {
  return {
    external_interface: external_interface ?? '',
    external_ip: external_interface === undefined ? textOfBytes(found.external_ip_address) : '',
    external_port: found.external_port,
    protocol: protocolName(found.protocol),
    twice_nat: twiceNatOf(found.flags),
    session_affinity: 0,
    twice_nat_pool_ip: hidden,
    local_ips: [
      {
        vrf_id: found.vrf_id,
        local_ip: textOfBytes(found.local_ip_address),
        local_port: found.local_port,
        probability: 0,
      },
    ],
  };
}

function fromBalanced(found: Nat44LbStaticMappingDetails, hidden: string): DNat44StaticMapping {
  return {
    external_interface: '',
    external_ip: textOfBytes(found.external_addr),
    external_port: found.external_port,
    protocol: protocolName(found.protocol),
    twice_nat: twiceNatOf(found.flags),
    session_affinity: Number(hidden),
    twice_nat_pool_ip: '',
    local_ips: found.locals.map(({ addr, port, probability, vrf_id }) => ({
      vrf_id,
      local_ip: textOfBytes(addr),
      local_port: port,
      probability,
    })),
  };
}

function fromIdentity(
  found: Nat44IdentityMappingDetails,
  name: string | undefined,
): Input<DNat44IdentityMapping> {
  return {
    vrf_id: found.vrf_id,
    interface: name,
    ip_address: name === undefined ? textOfBytes(found.ip_address) : '',
    port: found.port,
    protocol: protocolName(found.protocol),
  };
}

interface Owned {
  /** Whether VPP added it for the address of an interface that a mapping is bound to. */
  resolves(mapping: Nat44StaticMappingDetails): boolean;
  resolvesIdentity(mapping: Nat44IdentityMappingDetails): boolean;
}

/** VPP returns a mapping that is bound to an interface twice, once with the interface's address. */
async function addressesOf(
  client: VppClient,
  statics: readonly Nat44StaticMappingDetails[],
  identities: readonly Nat44IdentityMappingDetails[],
): Promise<Owned> {
  const bound = statics.filter((each) => each.external_sw_if_index !== NONE);
  const boundIdentities = identities.filter((each) => each.sw_if_index !== NONE);
  const indexes = new Set([
    ...bound.map((each) => each.external_sw_if_index),
    ...boundIdentities.map((each) => each.sw_if_index),
  ]);
  const addresses = new Map<number, readonly string[]>();
  await Promise.all(
    [...indexes].map(async (sw_if_index) => {
      const found = await client.dump('ip_address_dump', { sw_if_index, is_ipv6: false });
      addresses.set(
        sw_if_index,
        found.map(({ prefix }) => fromPrefix(prefix).split('/')[0] ?? ''),
      );
    }),
  );
  const ends = new Set<string>();
  const endOf = (each: Nat44StaticMappingDetails, address: string): string =>
    [address, each.external_port, each.protocol, textOfBytes(each.local_ip_address)]
      .concat([each.local_port, each.vrf_id, each.tag])
      .join(' ');
  const identityOf = (each: Nat44IdentityMappingDetails, address: string): string =>
    ['identity', address, each.port, each.port === 0 ? 0 : each.protocol, each.vrf_id].join(' ');
  for (const each of bound) {
    for (const address of addresses.get(each.external_sw_if_index) ?? []) {
      ends.add(endOf(each, address));
    }
  }
  for (const each of boundIdentities) {
    for (const address of addresses.get(each.sw_if_index) ?? []) {
      ends.add(identityOf(each, address));
    }
  }
  return {
    resolves: (each) =>
      each.external_sw_if_index === NONE &&
      ends.has(endOf(each, textOfBytes(each.external_ip_address))),
    resolvesIdentity: (each) =>
      each.sw_if_index === NONE && ends.has(identityOf(each, textOfBytes(each.ip_address))),
  };
}
