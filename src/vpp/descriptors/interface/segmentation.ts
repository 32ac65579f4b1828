import { checkField } from '#kvscheduler/api/check-field.ts';
import { defineDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor, OperationContext } from '#kvscheduler/api/descriptor.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import { type Segmentation, segmentationKey, segmentationModel } from '#models/vpp/segmentation.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import { ignoreNotFound } from '../ignored-retvals.ts';
import { interfaceNames } from '../names-by-index.ts';
import type { VppDescriptorOptions } from '../options.ts';
import { type ArcFeature, isFeatureEnabled } from './feature-state.ts';

/**
 * VPP segments the GSO packets that leave through an interface whose device cannot. VPP counts how often
 * it was enabled, so it is enabled only where it is not; it ends with the interface.
 */
export function segmentationDescriptor({
  client,
}: VppDescriptorOptions): KvDescriptor<Segmentation, undefined> {
  const enable = (value: Segmentation, on: boolean, ctx: OperationContext): Promise<unknown> => {
    const key = vppInterfaceKey.build({ name: value.interface });
    return client.request('feature_gso_enable_disable', {
      sw_if_index: ctx.metadata<VppInterfaceMetadata>(key).swIfIndex,
      enable_disable: on,
    });
  };
  return defineDescriptor('vpp-gso-segmentation', segmentationModel, {
    retrieveDependencies: ['vpp-interface'],
    validate(key, value) {
      checkField(key, value.interface !== '', 'interface', 'missing');
    },
    dependencies: (_key, { interface: name }) => [
      { label: 'interface-exists', key: vppInterfaceKey.build({ name }) },
    ],
    async create(_key, value, ctx) {
      await enable(value, true, ctx);
      return undefined;
    },
    delete: (_key, value, _metadata, ctx) => ignoreNotFound(enable(value, false, ctx)),

    async retrieve(_correlate, ctx) {
      if (!client.has('feature_is_enabled')) return [];
      const found = await Promise.all(
        [...interfaceNames(ctx)].map(async ([swIfIndex, name]) => {
          const key = segmentationKey.build({ iface: name });
          const isRequested = ctx.only?.has(key) ?? true;
          if (!isRequested || !(await isFeatureEnabled(client, swIfIndex, SEGMENTATION))) return [];
          const value = segmentationModel.canonical({ interface: name });
          return [{ key, value, origin: 'from-NB' as const }];
        }),
      );
      return found.flat();
    },
  });
}

/** Output of IPv4; the message enables and disables all outputs together. */
const SEGMENTATION: ArcFeature = { arc: 'ip4-output', node: 'gso-ip4', end: 'interface-output' };
