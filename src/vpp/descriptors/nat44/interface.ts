import { allOrNothing } from '#infra/rollback/rollback.ts';
import { checkField } from '#kvscheduler/api/check-field.ts';
import { defineDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor, OperationContext } from '#kvscheduler/api/descriptor.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import { NAT44_GLOBAL_KEY } from '#models/vpp/nat44-global.ts';
import {
  type Nat44Interface,
  nat44InterfaceKey,
  nat44InterfaceModel,
} from '#models/vpp/nat44-interface.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import type { VppDescriptorOptions } from '../options.ts';
import { type Feature, featureClaims, readFeatures, setFeature } from './features.ts';
import { globalEntries } from './global.ts';
import { ignoreNotFound } from './ignored-retvals.ts';

function featuresOf(value: Nat44Interface): readonly Feature[] {
  const features: Feature[] = [];
  if (value.nat_inside) features.push('in');
  if (value.nat_outside) features.push('out');
  if (value.output_feature) features.push('output');
  return features;
}

/** The NAT44 features of one interface: one value per interface, so that a new pod adds one value. */
export function nat44InterfaceDescriptor({
  client,
  log,
}: VppDescriptorOptions): KvDescriptor<Nat44Interface, undefined> {
  const indexOf = (value: Nat44Interface, ctx: OperationContext): number =>
    ctx.metadata<VppInterfaceMetadata>(vppInterfaceKey.build({ name: value.name })).swIfIndex;
  /**
   * A new side is enabled before the old one is disabled, so that no packet passes without NAT44. VPP
   * refuses the output feature beside a side: then what is old has to go first.
   */
  const change = (
    index: number,
    before: readonly Feature[],
    after: readonly Feature[],
  ): Promise<undefined> =>
    allOrNothing(log, async (undo) => {
      const removed = before.filter((feature) => !after.includes(feature));
      const added = after.filter((feature) => !before.includes(feature));
      const set = async (feature: Feature, isOn: boolean): Promise<void> => {
        const request = setFeature(client, index, feature, isOn);
        await (isOn ? request : ignoreNotFound(request));
        undo.add(() => setFeature(client, index, feature, !isOn));
      };
      const setAll = async (features: readonly Feature[], isOn: boolean): Promise<void> => {
        for (const feature of features) await set(feature, isOn);
      };
      if (before.includes('output') || after.includes('output')) {
        await setAll(removed, false);
        await setAll(added, true);
      } else {
        await setAll(added, true);
        await setAll(removed, false);
      }
      return undefined;
    });

  return defineDescriptor('vpp-nat44-interface', nat44InterfaceModel, {
    retrieveDependencies: ['vpp-interface', 'vpp-nat44-global'],
    validate(key, value) {
      checkField(key, value.name !== '', 'name', 'missing');
      const sides = value.nat_inside || value.nat_outside;
      checkField(
        key,
        !(value.output_feature && sides),
        'output_feature',
        'excludes nat_inside and nat_outside',
      );
      checkField(key, value.output_feature || sides, 'nat_inside', 'no feature is enabled');
    },
    dependencies: (_key, { name }) => [
      { label: 'nat44-enabled', key: NAT44_GLOBAL_KEY },
      { label: 'interface-exists', key: vppInterfaceKey.build({ name }) },
    ],
    claims: (_key, value) =>
      featuresOf(value).flatMap((feature) => featureClaims(value.name, feature)),
    create: (_key, value, ctx) => change(indexOf(value, ctx), [], featuresOf(value)),
    update: (_key, before, after, _metadata, ctx) =>
      change(indexOf(after, ctx), featuresOf(before), featuresOf(after)),
    async delete(_key, value, _metadata, ctx) {
      await change(indexOf(value, ctx), featuresOf(value), []);
    },

    async retrieve(_correlate, ctx) {
      if (!client.has('nat44_interface_dump')) return [];
      const features = await readFeatures(client, ctx);
      const taken = globalEntries(ctx);
      return [...features].flatMap(([name, all]) => {
        const on = all.filter((feature) => !taken.features.has(`${name}/${feature}`));
        if (on.length === 0) return [];
        const value = nat44InterfaceModel.canonical({
          name,
          nat_inside: on.includes('in'),
          nat_outside: on.includes('out'),
          output_feature: on.includes('output'),
        });
        return [{ key: nat44InterfaceKey.build({ name }), value, origin: 'from-NB' as const }];
      });
    },
  });
}
