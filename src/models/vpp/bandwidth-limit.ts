import { defineModel } from '../define.ts';
import { interfaceNameRule } from '../interface-name.ts';
import { keyTemplate } from '../key-template.ts';
import { BandwidthLimit } from './policer.gen.ts';

export type { BandwidthLimit } from './policer.gen.ts';

export const bandwidthLimitKey = keyTemplate(
  'config/vpp/v2/bandwidth-limit/interface/{iface}/direction/{direction}',
  { direction: 'INPUT|OUTPUT' },
);

export const bandwidthLimitModel = defineModel<BandwidthLimit>({
  message: BandwidthLimit,
  keyPrefix: 'config/vpp/v2/bandwidth-limit/',
  key: (value) => bandwidthLimitKey.build({ iface: value.interface, direction: value.direction }),
  rules: { interface: interfaceNameRule },
});
