import { allSettled } from '#infra/rollback/rollback.ts';
import { defineInternalDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor, OperationContext } from '#kvscheduler/api/descriptor.ts';
import { rxModesKey } from '#models/vpp/derived.ts';
import type { InterfaceRxMode } from '#models/vpp/interface.gen.ts';
import { type VppInterface, vppInterfaceKey, vppInterfaceModel } from '#models/vpp/interface.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import { ignoreNotFound } from '../ignored-retvals.ts';
import type { VppDescriptorOptions } from '../options.ts';
import { queueDependencies } from './queue-dependencies.ts';
import { modeNumber } from './rx-mode-values.ts';

const allByDefault: readonly InterfaceRxMode[] = [
  { queue: 0, mode: 'DEFAULT', default_mode: true },
];

/** Receive modes of an interface's queues; read back with the interface. */
export function interfaceRxModeDescriptor({
  client,
}: VppDescriptorOptions): KvDescriptor<VppInterface, undefined> {
  const set = async (
    value: VppInterface,
    modes: readonly InterfaceRxMode[],
    ctx: OperationContext,
  ): Promise<void> => {
    const { swIfIndex } = ctx.metadata<VppInterfaceMetadata>(
      vppInterfaceKey.build({ name: value.name }),
    );
    // the mode for all queues first: it overwrites the modes of single queues
    const ordered = modes.toSorted((a, b) => Number(b.default_mode) - Number(a.default_mode));
    await allSettled(
      ordered.map(({ queue, mode, default_mode }) =>
        client.request('sw_interface_set_rx_mode', {
          sw_if_index: swIfIndex,
          queue_id_valid: !default_mode,
          queue_id: default_mode ? 0 : queue,
          mode: modeNumber(mode),
        }),
      ),
    );
  };
  return defineInternalDescriptor(
    'vpp-interface-rx-mode',
    { keys: [rxModesKey], valueType: vppInterfaceModel },
    {
      dependencies: (_key, value) => queueDependencies(value),
      async create(_key, value, ctx) {
        await set(value, value.rx_modes, ctx);
        return undefined;
      },
      /** Resets all queues to VPP's default mode first, for queues that are no longer listed. */
      async update(_key, _before, after, _metadata, ctx) {
        await set(after, [...allByDefault, ...after.rx_modes], ctx);
        return undefined;
      },
      delete: (_key, value, _metadata, ctx) => ignoreNotFound(set(value, allByDefault, ctx)),
    },
  );
}
