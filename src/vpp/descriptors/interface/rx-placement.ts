import { defineInternalDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor, OperationContext } from '#kvscheduler/api/descriptor.ts';
import { rxPlacementKey } from '#models/vpp/derived.ts';
import { type VppInterface, vppInterfaceKey, vppInterfaceModel } from '#models/vpp/interface.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import type { VppDescriptorOptions } from '../options.ts';
import { queueDependencies } from './queue-dependencies.ts';

/**
 * The thread that serves one receive queue of an interface, the only queue in the value; read back with
 * the interface. VPP has no default thread to return a queue to: after a delete it stays.
 */
export function interfaceRxPlacementDescriptor({
  client,
}: VppDescriptorOptions): KvDescriptor<VppInterface, undefined> {
  const setPlacement = async (value: VppInterface, ctx: OperationContext): Promise<undefined> => {
    const { swIfIndex } = ctx.metadata<VppInterfaceMetadata>(
      vppInterfaceKey.build({ name: value.name }),
    );
    for (const { queue, worker, main_thread } of value.rx_placements) {
      await client.request('sw_interface_set_rx_placement', {
        sw_if_index: swIfIndex,
        queue_id: queue,
        worker_id: main_thread ? 0 : worker,
        is_main: main_thread,
      });
    }
    return undefined;
  };
  return defineInternalDescriptor(
    'vpp-interface-rx-placement',
    { keys: [rxPlacementKey], valueType: vppInterfaceModel },
    {
      dependencies: (_key, value) => queueDependencies(value),
      create: (_key, value, ctx) => setPlacement(value, ctx),
      update: (_key, _before, after, _metadata, ctx) => setPlacement(after, ctx),
      delete: async () => undefined,
    },
  );
}
