import { allOrNothing } from '#infra/rollback/rollback.ts';
import { checkField } from '#kvscheduler/api/check-field.ts';
import { defineDescriptor, emptyValue } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor, RetrieveContext } from '#kvscheduler/api/descriptor.ts';
import {
  NAT44_ENDPOINT_DEPENDENT_KEY,
  nat44AddressKey,
  nat44FeatureKey,
  nat44TableLimitKey,
} from '#models/vpp/derived.ts';
import type { Nat44GlobalAddress, Nat44GlobalInterface } from '#models/vpp/nat.gen.ts';
import { NAT44_GLOBAL_KEY, type Nat44Global, nat44GlobalModel } from '#models/vpp/nat44-global.ts';
import { Nat44ConfigFlags, NatConfigFlags } from '../../binapi/enums.gen.ts';
import type { Nat44ShowRunningConfigReply, NatWorkerDetails } from '../../binapi/messages.gen.ts';
import type { VppDescriptorOptions } from '../options.ts';
import { addressClaim, readAddresses } from './addresses.ts';
import { type Feature, readFeatures } from './features.ts';
import { ignoreAlreadyDisabled, ignoreAlreadyEnabled, ignoreNotFound } from './ignored-retvals.ts';
import { addedNodes, setNode } from './interface-nodes.ts';
import {
  hasDefaultTimeouts,
  readWorkers,
  sameTables,
  sameTimeouts,
  setTimeouts,
  settingsOf,
  useOneWorker,
  validateSettings,
} from './session-settings.ts';
import { readTableLimits } from './table-limits.ts';

/** Objects of VPP that belong to the lists of the global value, not to values of their own. */
interface GlobalEntries {
  /** `<interface>/<feature>` */
  readonly features: ReadonlySet<string>;
  readonly addresses: ReadonlySet<string>;
}

export interface Nat44GlobalMetadata {
  readonly features: readonly string[];
  readonly addresses: readonly string[];
  /** Whether VPP has several workers; one of them translates. */
  readonly hasWorkers: boolean;
}

export function globalEntries(ctx: RetrieveContext): GlobalEntries {
  const metadata = ctx.retrieved<Nat44GlobalMetadata>('vpp-nat44-global').get(NAT44_GLOBAL_KEY);
  return { features: new Set(metadata?.features), addresses: new Set(metadata?.addresses) };
}

export function featureOfEntry(entry: Nat44GlobalInterface): Feature {
  if (entry.output_feature) return 'output';
  return entry.is_inside ? 'in' : 'out';
}

function featureName(entry: Nat44GlobalInterface): string {
  return `${entry.name}/${featureOfEntry(entry)}`;
}

function addressName({ address, twice_nat }: Nat44GlobalAddress): string {
  return addressClaim({ address, twiceNat: twice_nat });
}

/**
 * NAT44 as a whole. VPP has two plugins for it. Only the endpoint-dependent one supports what services
 * need: several backends of one address, twice-NAT, identities by table. It must be enabled before VPP
 * accepts any other NAT44 message, and disabling it deletes all NAT44 objects. The session table has its
 * size from then on: VPP has a message that changes it, which does not resize the table.
 * Interfaces and addresses may be listed in this value, which is deprecated: they are then derived
 * values, equal in VPP to those that are values of their own. VPP reassembles fragments by itself, so
 * reassembly needs no setting.
 */
export function nat44GlobalDescriptor({
  client,
  log,
}: VppDescriptorOptions): KvDescriptor<Nat44Global, Nat44GlobalMetadata> {
  const request = (enable: boolean, sessions: number): Promise<unknown> =>
    client.request('nat44_ed_plugin_enable_disable', {
      // VPP's default tables
      inside_vrf: 0,
      outside_vrf: 0,
      sessions,
      session_memory: 0,
      enable,
      flags: Nat44ConfigFlags.NAT44_IS_ENDPOINT_DEPENDENT,
    });
  /**
   * VPP crashes if a mapping of several backends, of any owner, is left when it disables NAT44, or at the
   * next packet if a node is left that it has not enabled.
   */
  const disable = async (): Promise<unknown> => {
    const [balanced, interfaces, workers] = await Promise.all([
      client.dump('nat44_lb_static_mapping_dump', {}),
      client.dump('nat44_interface_dump', {}),
      readWorkers(client),
    ]);
    const removals = [
      ...balanced.map((mapping) =>
        client.request('nat44_add_del_lb_static_mapping', {
          ...mapping,
          is_add: false,
          locals: [],
        }),
      ),
      ...interfaces
        .filter(({ flags }) => flags === NatConfigFlags.NAT_IS_INSIDE)
        .flatMap(({ sw_if_index }) =>
          addedNodes.map((node) => setNode(client, sw_if_index, node, false, workers.length > 0)),
        ),
    ];
    await Promise.all(removals.map(ignoreNotFound));
    return request(false, 0);
  };
  /** @returns whether it was enabled before */
  const enable = ({ sessions }: Nat44Global): Promise<boolean> =>
    ignoreAlreadyEnabled(request(true, sessions?.max_sessions ?? 0));
  const readConfig = () =>
    Promise.all([client.request('nat44_show_running_config', {}), readWorkers(client)]);
  const forward = (isOn: boolean): Promise<unknown> =>
    client.request('nat44_forwarding_enable_disable', { enable: isOn });

  return defineDescriptor('vpp-nat44-global', nat44GlobalModel, {
    retrieveDependencies: ['vpp-interface'],
    validate,
    equivalent: (_key, a, b) =>
      a.forwarding === b.forwarding && sameTables(a, b) && sameTimeouts(a, b),
    needsRecreate: (_key, before, after) => !sameTables(before, after),
    derived: (_key, value) => [
      { key: NAT44_ENDPOINT_DEPENDENT_KEY, value: emptyValue },
      ...value.nat_interfaces.map((entry) => ({
        key: nat44FeatureKey.build({ iface: entry.name, feature: entry.is_inside ? 'in' : 'out' }),
        value: entry,
      })),
      ...value.address_pool.map((entry) => ({
        key: nat44AddressKey.build({
          address: entry.address,
          twice: entry.twice_nat ? 'on' : 'off',
        }),
        value: entry,
      })),
      ...(value.sessions?.table_limits ?? []).map((limit) => ({
        key: nat44TableLimitKey.build({ vrf: String(limit.vrf_id) }),
        value: limit,
      })),
    ],

    create: (_key, value) =>
      allOrNothing(log, async (undo) => {
        const wasEnabled = await enable(value);
        undo.add(disable);
        if (wasEnabled) {
          const found = settingsIn(...(await readConfig()), value);
          if (found !== undefined && !sameTables(found, value)) {
            await disable();
            await enable(value);
          }
        }
        const workers = await readWorkers(client);
        await useOneWorker(client, workers);
        // a table that was just created has the default timeouts
        if (wasEnabled || !hasDefaultTimeouts(value)) await setTimeouts(client, value);
        await forward(value.forwarding);
        return metadataOf(value, workers);
      }),
    update: (_key, before, after, metadata) =>
      allOrNothing(log, async (undo) => {
        if (!sameTimeouts(before, after)) {
          await setTimeouts(client, after);
          undo.add(() => setTimeouts(client, before));
        }
        if (before.forwarding !== after.forwarding) await forward(after.forwarding);
        return { ...metadata, ...entriesOf(after) };
      }),
    async delete() {
      await ignoreAlreadyDisabled(disable());
    },

    async retrieve(correlate, ctx) {
      if (!client.has('nat44_show_running_config')) return [];
      const known = correlate.find(({ key }) => key === NAT44_GLOBAL_KEY)?.value;
      const hasLists =
        known !== undefined && known.nat_interfaces.length + known.address_pool.length > 0;
      const [config, features, addresses] = await Promise.all([
        readConfig(),
        hasLists ? readFeatures(client, ctx) : new Map<string, readonly Feature[]>(),
        hasLists ? readAddresses(client) : [],
      ]);
      const found = settingsIn(...config, known);
      if (found === undefined) return [];
      const limits = await readTableLimits(client, known?.sessions?.table_limits ?? []);
      const inVpp = new Set(addresses.map((each) => `${addressClaim(each)} ${each.vrf}`));
      const value = nat44GlobalModel.canonical({
        ...found,
        nat_interfaces: known?.nat_interfaces.filter((entry) =>
          features.get(entry.name)?.includes(featureOfEntry(entry)),
        ),
        address_pool: known?.address_pool.filter((entry) =>
          inVpp.has(`${addressName(entry)} ${entry.vrf_id}`),
        ),
        virtual_reassembly: known?.virtual_reassembly,
        ...(found.sessions && { sessions: { ...found.sessions, table_limits: limits } }),
      });
      const metadata = metadataOf(value, config[1]);
      return [{ key: NAT44_GLOBAL_KEY, value, metadata, origin: 'from-NB' as const }];
    },
  });
}

/** The value without its lists; undefined if NAT44 is disabled. */
function settingsIn(
  config: Nat44ShowRunningConfigReply,
  workers: readonly NatWorkerDetails[],
  known: Nat44Global | undefined,
): Nat44Global | undefined {
  // this is the only sign of a disabled plugin
  if (config.sessions === 0) return undefined;
  return nat44GlobalModel.canonical({
    forwarding: config.forwarding_enabled,
    sessions: settingsOf(config, workers.length > 1, known),
  });
}

function metadataOf(value: Nat44Global, workers: readonly NatWorkerDetails[]): Nat44GlobalMetadata {
  return { ...entriesOf(value), hasWorkers: workers.length > 0 };
}

function entriesOf(value: Nat44Global): Omit<Nat44GlobalMetadata, 'hasWorkers'> {
  return {
    features: value.nat_interfaces.map(featureName),
    addresses: value.address_pool.map(addressName),
  };
}

function validate(key: string, value: Nat44Global): void {
  validateSettings(key, value);
  const ends = 'not supported: load balancing and twice-NAT need the endpoint-dependent mode';
  checkField(key, !value.endpoint_independent, 'endpoint_independent', ends);
  const { nat_interfaces: interfaces, address_pool: addresses } = value;
  checkField(
    key,
    interfaces.every(({ name }) => name !== ''),
    'nat_interfaces',
    'name is missing',
  );
  const features = new Set(interfaces.map(featureName));
  checkField(
    key,
    features.size === interfaces.length,
    'nat_interfaces',
    'a feature is listed twice',
  );
  const mixed = interfaces.some(
    ({ name, output_feature }) =>
      output_feature && (features.has(`${name}/in`) || features.has(`${name}/out`)),
  );
  checkField(key, !mixed, 'nat_interfaces', 'output_feature excludes the other features');
  const isV4 = addresses.every(({ address }) => address !== '' && !address.includes(':'));
  checkField(key, isV4, 'address_pool', 'an address is not an IPv4 address');
  const names = new Set(addresses.map(addressName));
  checkField(key, names.size === addresses.length, 'address_pool', 'an address is listed twice');
}
