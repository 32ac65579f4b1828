import type { Scheduler } from '#kvscheduler/scheduler.ts';
import type { FlowExporter } from '#models/vpp/flow-exporter.ts';
import type { FlowProbePort } from '#plugins/controller/api/ports/flow-probe.ts';
import type { FlowProbeMetadata } from '#plugins/controller/api/ports/metadata.ts';

/** The exporter and the probes that VPP has, as the scheduler knows them. */
export function flowProbePort(scheduler: Pick<Scheduler, 'metadataMap'>): FlowProbePort {
  const exporters = scheduler.metadataMap<FlowExporter>('vpp-flow-exporter')!;
  const probes = scheduler.metadataMap<FlowProbeMetadata>('vpp-flow-probe')!;
  return {
    exporter() {
      const [name] = exporters.listAllNames();
      const found = name === undefined ? undefined : exporters.getValue(name);
      return (
        found && {
          address: found.collector_address,
          port: found.collector_port,
          source: found.source_address,
        }
      );
    },
    isProbed: (swIfIndex) => probes.listNames('swIfIndex', String(swIfIndex)).length > 0,
    get probed() {
      return probes.size;
    },
  };
}
