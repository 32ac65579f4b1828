/** Probes of flows of a simulated VPP. */
import { test } from 'node:test';
import { flowExporterModel } from '#models/vpp/flow-exporter.ts';
import { flowProbeModel } from '#models/vpp/flow-probe.ts';
import { flowExporter } from '#test/descriptors/compliance/flow-probe-examples.ts';
import { flowProbeSuite } from '#test/descriptors/compliance/flow-probe-suite.ts';
import { assertAccepted, assertRejected } from '#test/descriptors/validation.ts';
import { simulatedVpp } from './backends.ts';

flowProbeSuite(() => simulatedVpp());

test('values that are rejected', () => {
  assertRejected('vpp-flow-exporter', flowExporterModel, [
    [{ ...flowExporter, collector_address: '' }, 'collector_address'],
    [{ ...flowExporter, collector_address: 'fd01::1' }, 'collector_address'],
    [{ ...flowExporter, source_address: 'fd01::1' }, 'source_address'],
    [{ ...flowExporter, collector_port: 0 }, 'collector_port'],
    [{ ...flowExporter, collector_port: 4_741 }, 'collector_port'],
  ]);
  assertAccepted('vpp-flow-exporter', flowExporterModel, [flowExporter]);
  assertRejected('vpp-flow-probe', flowProbeModel, [[{ interface: '' }, 'interface']]);
});
