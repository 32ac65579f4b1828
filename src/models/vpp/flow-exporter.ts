import { ipAddressRule } from '../address-rules.ts';
import { defineModel } from '../define.ts';
import { Exporter } from './flowprobe.gen.ts';

export type { Exporter as FlowExporter } from './flowprobe.gen.ts';

export const FLOW_EXPORTER_KEY = 'config/vpp/v2/flow-exporter';

/** Of UDP, at the host: where VPP sends flows. */
export const FLOW_PORT = 4740;

export const flowExporterModel = defineModel<Exporter>({
  message: Exporter,
  keyPrefix: FLOW_EXPORTER_KEY,
  key: () => FLOW_EXPORTER_KEY,
  rules: { collector_address: ipAddressRule, source_address: ipAddressRule },
});
