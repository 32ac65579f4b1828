import { defineModel } from '../define.ts';
import { interfaceNameRule } from '../interface-name.ts';
import { keyTemplate } from '../key-template.ts';
import { Probe } from './flowprobe.gen.ts';

export type { Probe as FlowProbe } from './flowprobe.gen.ts';

export const flowProbeKey = keyTemplate('config/vpp/v2/flow-probe/interface/{iface}');

export const flowProbeModel = defineModel<Probe>({
  message: Probe,
  keyPrefix: flowProbeKey.prefix(),
  key: (value) => flowProbeKey.build({ iface: value.interface }),
  rules: { interface: interfaceNameRule },
});
