import { FLOW_PORT, flowExporterModel } from '#models/vpp/flow-exporter.ts';
import { flowProbeModel } from '#models/vpp/flow-probe.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { changing, keyedValue } from './example-values.ts';
import type { Example } from './suite.ts';

export const flowExporter = {
  collector_address: '172.30.1.2',
  collector_port: FLOW_PORT,
  source_address: '172.30.1.1',
} as const;

export const probedMemif = keyedValue(vppInterfaceModel, {
  name: 'probed',
  type: 'MEMIF',
  enabled: true,
  memif: { id: 1, master: true, socket_filename: 'abstract:contiv-flow-probe' },
});

export const flowProbeExamples: readonly Example[] = [
  {
    name: 'exporter of flows',
    ...changing(
      flowExporterModel,
      flowExporter,
      { collector_address: '172.30.2.2', source_address: '172.30.2.1' },
      true,
    ),
  },
  {
    name: 'probe of a memif',
    setup: [probedMemif, keyedValue(flowExporterModel, flowExporter)],
    value: keyedValue(flowProbeModel, { interface: 'probed' }),
  },
];
