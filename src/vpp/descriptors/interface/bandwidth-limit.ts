import { allOrNothing, allSettled } from '#infra/rollback/rollback.ts';
import { checkField } from '#kvscheduler/api/check-field.ts';
import { defineDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor, OperationContext } from '#kvscheduler/api/descriptor.ts';
import {
  type BandwidthLimit,
  bandwidthLimitKey,
  bandwidthLimitModel,
} from '#models/vpp/bandwidth-limit.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import {
  Sse2QosActionType,
  Sse2QosPolicerType,
  Sse2QosRateType,
  Sse2QosRoundType,
} from '../../binapi/enums.gen.ts';
import { ignoreNotFound } from '../ignored-retvals.ts';
import { NONE } from '../limits.ts';
import { interfaceNames } from '../names-by-index.ts';
import type { VppDescriptorOptions } from '../options.ts';
import { tagOf } from '../tags.ts';
import { type ArcFeature, isFeatureEnabled } from './feature-state.ts';

type Direction = BandwidthLimit['direction'];
type Identity = Pick<BandwidthLimit, 'interface' | 'direction'>;
type Limit = Pick<BandwidthLimit, 'rate_kbps' | 'burst_bytes'>;

const DIRECTIONS: readonly Direction[] = ['INPUT', 'OUTPUT'];

/** Of IPv4, which VPP enables together with that of IPv6. Releases before 26.06 have the input in another arc. */
const FEATURES: Readonly<Record<Direction, ArcFeature>> = {
  INPUT: { arc: 'ip4-unicast', node: 'policer-input', end: 'ip4-lookup' },
  OUTPUT: { arc: 'ip4-output', node: 'policer-output', end: 'interface-output' },
};

/** The largest packet with its Ethernet header: VPP counts what it segments later as one packet. */
const LARGEST_PACKET = 65_535 + 14;

const drop = { type: Sse2QosActionType.SSE2_QOS_ACTION_API_DROP, dscp: 0 };
const transmit = { type: Sse2QosActionType.SSE2_QOS_ACTION_API_TRANSMIT, dscp: 0 };

/** Names with this beginning are the agent's own. */
const OWN = 'contiv/';

function policerName({ interface: iface, direction }: Identity): string {
  return tagOf(`${OWN}${direction}/${iface}`);
}

function keyOf({ interface: iface, direction }: Identity): string {
  return bandwidthLimitKey.build({ iface, direction });
}

/** VPP deletes a policer by its name alone. */
function policerMessage(name: string, is_add: boolean, { rate_kbps, burst_bytes }: Limit) {
  return {
    is_add,
    name,
    cir: rate_kbps,
    eir: 0,
    cb: BigInt(burst_bytes),
    eb: 0n,
    rate_type: Sse2QosRateType.SSE2_QOS_RATE_API_KBPS,
    round_type: Sse2QosRoundType.SSE2_QOS_ROUND_API_TO_CLOSEST,
    type: Sse2QosPolicerType.SSE2_QOS_POLICER_TYPE_API_1R2C,
    color_aware: false,
    conform_action: transmit,
    exceed_action: drop,
    violate_action: drop,
  };
}

/**
 * A policer that VPP has for one direction of one interface. Its name says which. VPP does not tell which
 * policer an interface has, only whether it has one; it keeps the policer when the interface goes. A changed
 * limit is a new policer: between the two, for the time of a round trip, nothing is limited and nothing lost.
 */
export function bandwidthLimitDescriptor({
  client,
  log,
}: VppDescriptorOptions): KvDescriptor<BandwidthLimit, undefined> {
  /** An object for each policer that was created here: a read-back knows whether one was created since. */
  const creations = new Map<string, object>();
  const remove = (name: string): Promise<void> => {
    creations.delete(name);
    const message = policerMessage(name, false, { rate_kbps: 0, burst_bytes: 0 });
    return ignoreNotFound(client.request('policer_add_del', message));
  };
  const apply = (value: BandwidthLimit, isOn: boolean, ctx: OperationContext): Promise<unknown> => {
    const key = vppInterfaceKey.build({ name: value.interface });
    const { swIfIndex } = ctx.metadata<VppInterfaceMetadata>(key);
    const request = { name: policerName(value), sw_if_index: swIfIndex, apply: isOn };
    return value.direction === 'INPUT'
      ? client.request('policer_input', request)
      : client.request('policer_output', request);
  };
  /**
   * Afterwards the interface has no policer, whatever it had before: VPP counts how often one is applied, and when one is taken off
   * where none ever was, it writes past the end of a table or crashes. So one is taken off only after one was applied.
   */
  const detach = async (value: BandwidthLimit, ctx: OperationContext): Promise<void> => {
    let isOn = false;
    const applied = apply(value, true, ctx).then(() => {
      isOn = true;
    });
    await ignoreNotFound(applied);
    if (isOn)
      await allSettled([apply(value, false, ctx), ignoreNotFound(apply(value, false, ctx))]);
  };
  /** If VPP cannot tell, a policer that exists is taken for one that is applied. */
  const isApplied = async (swIfIndex: number, direction: Direction): Promise<boolean> =>
    !client.has('feature_is_enabled') ||
    (await isFeatureEnabled(client, swIfIndex, FEATURES[direction]));

  return defineDescriptor('vpp-bandwidth-limit', bandwidthLimitModel, {
    retrieveDependencies: ['vpp-interface'],
    validate(key, value) {
      checkField(key, value.interface !== '', 'interface', 'missing');
      checkField(key, value.rate_kbps > 0, 'rate_kbps', 'missing');
      checkField(
        key,
        value.burst_bytes >= LARGEST_PACKET,
        'burst_bytes',
        `less than the largest packet has (${LARGEST_PACKET})`,
      );
    },
    dependencies: (_key, { interface: name }) => [
      { label: 'interface-exists', key: vppInterfaceKey.build({ name }) },
    ],
    create: (_key, value, ctx) =>
      allOrNothing(log, async (undo) => {
        const name = policerName(value);
        creations.set(name, {});
        undo.add(async () => {
          await detach(value, ctx);
          await remove(name);
        });
        // until the last one packets pass without a limit
        await allSettled([
          client.request('policer_add_del', policerMessage(name, true, value)),
          detach(value, ctx),
        ]);
        await apply(value, true, ctx);
        return undefined;
      }),
    async delete(_key, value, _metadata, ctx) {
      await detach(value, ctx);
      await remove(policerName(value));
    },

    async retrieve(correlate, ctx) {
      if (!client.has('policer_dump_v2')) return [];
      const policers = await client.dump('policer_dump_v2', { policer_index: NONE });
      const own = policers.filter(({ name }) => name.startsWith(OWN));
      if (own.length === 0) return [];
      const known = new Map<string, Identity & { readonly swIfIndex?: number }>();
      for (const { value } of correlate) known.set(policerName(value), value);
      for (const [swIfIndex, name] of interfaceNames(ctx))
        for (const direction of DIRECTIONS) {
          const identity = { interface: name, direction, swIfIndex };
          known.set(policerName(identity), identity);
        }
      const found = own.map(async ({ name, cir, cb }) => {
        const identity = known.get(name);
        const swIfIndex = identity?.swIfIndex;
        if (
          identity &&
          swIfIndex !== undefined &&
          (await isApplied(swIfIndex, identity.direction))
        ) {
          const { interface: iface, direction } = identity;
          const value = bandwidthLimitModel.canonical({
            interface: iface,
            direction,
            rate_kbps: cir,
            burst_bytes: Number(cb),
          });
          return [{ key: keyOf(identity), value, origin: 'from-NB' as const }];
        }
        // left by a crash, or its interface was deleted past the agent
        const seen = creations.get(name);
        ctx.leftover({
          name,
          what: `the policer ${name} limits no interface`,
          precedes: identity ? [keyOf(identity)] : [],
          remove: async () => {
            if (creations.get(name) === seen) await remove(name);
          },
        });
        return [];
      });
      return (await Promise.all(found)).flat();
    },
  });
}
