import { allOrNothing, allSettled } from '#infra/rollback/rollback.ts';
import { defineDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { Dependency, KvDescriptor, OperationContext } from '#kvscheduler/api/descriptor.ts';
import {
  NAT44_ENDPOINT_DEPENDENT_KEY,
  natPoolAddressKey,
  twiceNatPoolKey,
} from '#models/vpp/derived.ts';
import {
  type DNat44,
  type DNat44IdentityMapping,
  type DNat44StaticMapping,
  dnat44Model,
} from '#models/vpp/dnat44.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import type { VppClient } from '../../binapi/api.ts';
import type { Requests } from '../../binapi/messages.gen.ts';
import type { VppDescriptorOptions } from '../options.ts';
import { tagOf } from '../tags.ts';
import { numberOf } from './addresses.ts';
import { type BackendStep, backendSteps } from './backend-steps.ts';
import { retrieveDnats } from './dnat-retrieve.ts';
import { ignoreNotFound } from './ignored-retvals.ts';
import {
  balancedEnd,
  externalEnd,
  identityEnd,
  isBalanced,
  sameDnat,
  sameMapping,
  toBalanced,
  toIdentity,
  toLocal,
  toStatic,
} from './mapping.ts';
import { mappingTag } from './mapping-tag.ts';
import { tableDependencies } from './table-dependencies.ts';
import { validateDnat } from './validate-dnat.ts';

/** Requests that add or delete one mapping or backend. */
type Switched =
  | 'nat44_add_del_static_mapping_v2'
  | 'nat44_add_del_lb_static_mapping'
  | 'nat44_lb_static_mapping_add_del_local'
  | 'nat44_add_del_identity_mapping';

/** A request to VPP, and the request that reverts it. */
interface Step {
  readonly run: () => Promise<unknown>;
  readonly takeBack: () => Promise<unknown>;
}

const nothing = dnat44Model.canonical({});

/**
 * Services: packets to an external address and port are sent to one backend or balanced over several.
 * Identities are not translated. The tag of each mapping contains the label of its value. A value is
 * changed mapping by mapping, and a balanced mapping backend by backend, so that other sessions
 * continue.
 */
export function dnat44Descriptor({
  client,
  clock,
  log,
  managedKeys,
}: VppDescriptorOptions): KvDescriptor<DNat44, undefined> {
  const change = async (
    label: string,
    before: DNat44,
    after: DNat44,
    ctx: OperationContext,
  ): Promise<undefined> => {
    const steps = new Changes(client, label, ctx).between(before, after);
    const [first] = steps;
    // most values have one mapping, and one step needs no undo
    if (first && steps.length === 1) await first.run();
    else await allOf(steps);
  };
  const allOf = (steps: readonly Step[]): Promise<unknown> =>
    allOrNothing(log, (undo) =>
      // VPP processes them in this order, so that no step waits for the reply to another
      allSettled(
        steps.map(async ({ run, takeBack }) => {
          await run();
          undo.add(takeBack);
        }),
      ),
    );

  return defineDescriptor('vpp-nat44-dnat', dnat44Model, {
    retrieveDependencies: ['vpp-interface'],
    validate: validateDnat,
    equivalent: (_key, a, b) => sameDnat(a, b),
    dependencies: (_key, value) => dependencies(value),
    claims: (_key, { st_mappings, id_mappings }) => {
      const claims: string[] = [];
      for (const mapping of st_mappings) addMappingClaims(mapping, claims);
      for (const mapping of id_mappings) claims.push(`nat44-identity/${identityEnd(mapping)}`);
      return claims;
    },
    create: (_key, value, ctx) => change(value.label, nothing, value, ctx),
    update: (_key, before, after, _metadata, ctx) => change(after.label, before, after, ctx),
    async delete(_key, value, _metadata, ctx) {
      await change(value.label, value, nothing, ctx);
    },
    retrieve: (correlate, ctx) => retrieveDnats({ client, clock, managedKeys }, correlate, ctx),
  });
}

/**
 * If an end has an identity, VPP treats a mapping of it as one more table of the identity. Identities of
 * several values may share an end, so a mapping claims it in the tables that it uses.
 */
function addMappingClaims(mapping: DNat44StaticMapping, claims: string[]): void {
  const end = externalEnd(mapping);
  claims.push(`nat44-mapping/${end}`, `nat44-identity/${end}/0`);
  const others = mapping.local_ips.filter(({ vrf_id }) => vrf_id !== 0);
  if (others.length === 0) return;
  for (const id of new Set(others.map(({ vrf_id }) => vrf_id)))
    claims.push(`nat44-identity/${end}/${id}`);
}

class Changes {
  readonly #client: VppClient;
  readonly #label: string;
  readonly #ctx: OperationContext;

  constructor(client: VppClient, label: string, ctx: OperationContext) {
    this.#client = client;
    this.#label = label;
    this.#ctx = ctx;
  }

  /** Deletes come first, because another mapping may reuse the end. */
  between(before: DNat44, after: DNat44): readonly Step[] {
    if (before === nothing) return this.#all(after);
    if (after === nothing) return this.#all(before).map(reversed);
    const old = byEnd(before.st_mappings, externalEnd);
    const fresh = byEnd(after.st_mappings, externalEnd);
    const oldIds = byEnd(before.id_mappings, identityEnd);
    const freshIds = byEnd(after.id_mappings, identityEnd);
    const steps: Step[] = [];
    for (const [end, mapping] of oldIds) {
      if (!freshIds.has(end)) steps.push(reversed(this.#identity(mapping)));
    }
    for (const [end, mapping] of old) {
      if (!fresh.has(end)) steps.push(reversed(this.#mapping(mapping)));
    }
    for (const [end, mapping] of fresh) {
      const known = old.get(end);
      if (known === undefined) steps.push(this.#mapping(mapping));
      else steps.push(...this.#change(known, mapping));
    }
    for (const [end, mapping] of freshIds) {
      if (!oldIds.has(end)) steps.push(this.#identity(mapping));
    }
    return steps;
  }

  #all({ st_mappings, id_mappings }: DNat44): readonly Step[] {
    const steps = st_mappings.map((mapping) => this.#mapping(mapping));
    for (const mapping of id_mappings) steps.push(this.#identity(mapping));
    return steps;
  }

  #change(before: DNat44StaticMapping, after: DNat44StaticMapping): readonly Step[] {
    if (before === after) return [];
    const isInPlace =
      isBalanced(before) &&
      isBalanced(after) &&
      before.twice_nat === after.twice_nat &&
      before.session_affinity === after.session_affinity;
    if (!isInPlace && sameMapping(before, after)) return [];
    const steps = isInPlace ? backendSteps(before, after) : undefined;
    if (steps === undefined) return [reversed(this.#mapping(before)), this.#mapping(after)];
    return steps.map((step) => this.#backend(after, step));
  }

  #backend(mapping: DNat44StaticMapping, { isAdd, local, share }: BackendStep): Step {
    const added = this.#adding('nat44_lb_static_mapping_add_del_local', {
      is_add: true,
      ...balancedEnd(mapping),
      local: toLocal(local, share),
    });
    return isAdd ? added : reversed(added);
  }

  #mapping(mapping: DNat44StaticMapping): Step {
    const tag = mappingTag(this.#label, mapping);
    if (isBalanced(mapping)) {
      return this.#adding('nat44_add_del_lb_static_mapping', toBalanced(mapping, tag));
    }
    const index = this.#indexOf(mapping.external_interface);
    return this.#adding('nat44_add_del_static_mapping_v2', toStatic(mapping, index, tag));
  }

  #identity(mapping: DNat44IdentityMapping): Step {
    const fields = toIdentity(mapping, this.#indexOf(mapping.interface), tagOf(this.#label));
    return this.#adding('nat44_add_del_identity_mapping', fields);
  }

  #adding<N extends Switched>(name: N, added: Requests[N]['request']): Step {
    return {
      run: () => this.#client.request(name, added),
      takeBack: () => ignoreNotFound(this.#client.request(name, { ...added, is_add: false })),
    };
  }

  #indexOf(name: string): number | undefined {
    if (name === '') return undefined;
    return this.#ctx.metadata<VppInterfaceMetadata>(vppInterfaceKey.build({ name })).swIfIndex;
  }
}

const noEnds: ReadonlyMap<string, never> = new Map<string, never>();

function byEnd<T>(mappings: readonly T[], endOf: (mapping: T) => string): ReadonlyMap<string, T> {
  if (mappings.length === 0) return noEnds;
  const ends = new Map<string, T>();
  for (const mapping of mappings) ends.set(endOf(mapping), mapping);
  return ends;
}

function reversed({ run, takeBack }: Step): Step {
  return { run: takeBack, takeBack: run };
}

/** Every value depends on it, and most values on nothing else. */
const enabled: readonly Dependency[] = [
  { label: 'nat44-enabled', key: NAT44_ENDPOINT_DEPENDENT_KEY },
];

function dependencies({ st_mappings, id_mappings }: DNat44): readonly Dependency[] {
  const interfaces: string[] = [];
  const tables: number[] = [];
  const poolAddresses: string[] = [];
  for (const { external_interface, local_ips, twice_nat_pool_ip } of st_mappings) {
    if (external_interface !== '') interfaces.push(external_interface);
    if (twice_nat_pool_ip !== '') poolAddresses.push(twice_nat_pool_ip);
    for (const { vrf_id } of local_ips) if (vrf_id !== 0) tables.push(vrf_id);
  }
  const exempted: string[] = [];
  for (const mapping of id_mappings) {
    if (mapping.interface !== '') interfaces.push(mapping.interface);
    if (mapping.vrf_id !== 0) tables.push(mapping.vrf_id);
    if (mapping.requires_pool) exempted.push(mapping.ip_address);
  }
  const others = interfaces.length + tables.length + poolAddresses.length + exempted.length;
  if (others === 0) return enabled;
  return [
    ...enabled,
    ...[...new Set(interfaces)].map((name) => ({
      label: `interface-${name}-exists`,
      key: vppInterfaceKey.build({ name }),
    })),
    ...tableDependencies(tables),
    ...[...new Set(poolAddresses)].map((address) => ({
      label: `twice-nat-pool-has-${address}`,
      anyOf: {
        prefixes: [twiceNatPoolKey.prefix()],
        accepts: (key: string) => poolHas(key, address),
      },
    })),
    ...[...new Set(exempted)].map((address) => ({
      label: `pool-has-${address}`,
      key: natPoolAddressKey.build({ address }),
    })),
  ];
}

function poolHas(key: string, address: string): boolean {
  const [first = '', last = first] = twiceNatPoolKey.parse(key)?.range.split('-') ?? [];
  if (first === '') return false;
  const position = numberOf(address);
  return numberOf(first) <= position && position <= numberOf(last);
}
