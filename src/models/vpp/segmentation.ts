import { defineModel } from '../define.ts';
import { interfaceNameRule } from '../interface-name.ts';
import { keyTemplate } from '../key-template.ts';
import { Segmentation } from './gso.gen.ts';

export type { Segmentation } from './gso.gen.ts';

export const segmentationKey = keyTemplate('config/vpp/gso/v2/interface/{iface}');

export const segmentationModel = defineModel<Segmentation>({
  message: Segmentation,
  keyPrefix: segmentationKey.prefix(),
  key: (value) => segmentationKey.build({ iface: value.interface }),
  rules: { interface: interfaceNameRule },
});
