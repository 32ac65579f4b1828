import { checkField } from '#kvscheduler/api/check-field.ts';
import { defineDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor, RetrieveContext } from '#kvscheduler/api/descriptor.ts';
import { FLOW_EXPORTER_KEY } from '#models/vpp/flow-exporter.ts';
import { type FlowProbe, flowProbeModel } from '#models/vpp/flow-probe.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import type {
  FlowProbeMetadata,
  VppInterfaceMetadata,
} from '#plugins/controller/api/ports/metadata.ts';
import { FlowprobeDirection, FlowprobeWhich } from '../../binapi/enums.gen.ts';
import { ignoreNotFound, ignoreRetvals } from '../ignored-retvals.ts';
import { type ArcFeature, isFeatureEnabled } from '../interface/feature-state.ts';
import type { VppDescriptorOptions } from '../options.ts';

const ALREADY_EXISTS = -116;

/** Before all other nodes: what a pod has sent, before an ACL looks at it. VPP enables the output together with it. */
const INPUT: ArcFeature = {
  arc: 'device-input',
  node: 'flowprobe-input-l2',
  end: 'ethernet-input',
};

/**
 * VPP counts the flows of an interface, in both directions and both families. It sees frames, so the interface must be of Ethernet.
 * VPP keeps a probe when its interface is deleted, and takes it for one of the interface that gets the index next, whose packets
 * it does not count.
 */
export function flowProbeDescriptor({
  client,
}: VppDescriptorOptions): KvDescriptor<FlowProbe, FlowProbeMetadata> {
  const set = (sw_if_index: number, is_add: boolean): Promise<unknown> =>
    client.request('flowprobe_interface_add_del', {
      is_add,
      which: FlowprobeWhich.FLOWPROBE_WHICH_L2,
      direction: FlowprobeDirection.FLOWPROBE_DIRECTION_BOTH,
      sw_if_index,
    });

  return defineDescriptor('vpp-flow-probe', flowProbeModel, {
    retrieveDependencies: ['vpp-interface'],
    metadataFields: ({ swIfIndex }) => ({ swIfIndex: [String(swIfIndex)] }),
    validate(key, value) {
      checkField(key, value.interface !== '', 'interface', 'missing');
    },
    dependencies: (_key, { interface: name }) => [
      { label: 'interface-exists', key: vppInterfaceKey.build({ name }) },
      { label: 'flow-exporter', key: FLOW_EXPORTER_KEY },
    ],
    async create(_key, { interface: name }, ctx) {
      const { swIfIndex } = ctx.metadata<VppInterfaceMetadata>(vppInterfaceKey.build({ name }));
      if (await ignoreRetvals(set(swIfIndex, true), [ALREADY_EXISTS])) {
        // that of a deleted interface
        await set(swIfIndex, false);
        await set(swIfIndex, true);
      }
      return { swIfIndex };
    },
    delete: (_key, _value, { swIfIndex }) => ignoreNotFound(set(swIfIndex, false)),

    async retrieve(_correlate, ctx) {
      if (!client.has('flowprobe_interface_dump')) return [];
      const names = memifNames(ctx);
      const found = await client.dump('flowprobe_interface_dump', {});
      const values = found.map(async ({ sw_if_index: swIfIndex, which, direction }) => {
        const name = names.get(swIfIndex);
        if (
          name === undefined ||
          which !== FlowprobeWhich.FLOWPROBE_WHICH_L2 ||
          direction !== FlowprobeDirection.FLOWPROBE_DIRECTION_BOTH
        )
          return [];
        const value = flowProbeModel.canonical({ interface: name });
        const counts =
          !client.has('feature_is_enabled') || (await isFeatureEnabled(client, swIfIndex, INPUT));
        const broken = counts ? undefined : 'the probe is that of a deleted interface';
        const key = flowProbeModel.key(value);
        return [{ key, value, metadata: { swIfIndex }, origin: 'from-NB' as const, broken }];
      });
      return (await Promise.all(values)).flat();
    },
  });
}

/** The probes of other interfaces are those of an operator. */
function memifNames(ctx: RetrieveContext): ReadonlyMap<number, string> {
  const names = new Map<number, string>();
  for (const [key, { swIfIndex, type }] of ctx.retrieved<VppInterfaceMetadata>('vpp-interface')) {
    const name = vppInterfaceKey.parse(key)?.name;
    if (name !== undefined && type === 'MEMIF') names.set(swIfIndex, name);
  }
  return names;
}
