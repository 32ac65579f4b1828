import { flowExporterModel } from '#models/vpp/flow-exporter.ts';
import { flowProbeModel } from '#models/vpp/flow-probe.ts';
import { keyedValue } from '../../compliance/example-values.ts';
import { flowExporter, probedMemif } from '../../compliance/flow-probe-examples.ts';
import { type Family, family } from '../family.ts';

const probe = keyedValue(flowProbeModel, { interface: 'probed' });

export const flowProbeFamilies: readonly Family[] = [
  family('exporter of flows', {
    model: flowExporterModel,
    setup: [probedMemif],
    base: flowExporter,
    fields: {
      collector_address: ['172.30.2.2'],
      source_address: ['172.30.2.1'],
    },
    dependents: [probe],
  }),
  family('probe of a memif', {
    model: flowProbeModel,
    setup: [probedMemif, keyedValue(flowExporterModel, flowExporter)],
    base: { interface: 'probed' },
  }),
];
