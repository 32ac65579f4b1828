import { defineModel } from '../define.ts';
import { interfaceNameRule } from '../interface-name.ts';
import { keyTemplate } from '../key-template.ts';
import { XConnectPair } from './l2.gen.ts';

export type { XConnectPair } from './l2.gen.ts';

export const xConnectKey = keyTemplate('config/vpp/l2/v2/xconnect/{rx}');

export const xConnectModel = defineModel<XConnectPair>({
  message: XConnectPair,
  keyPrefix: xConnectKey.prefix(),
  key: ({ receive_interface }) => xConnectKey.build({ rx: receive_interface }),
  rules: { receive_interface: interfaceNameRule, transmit_interface: interfaceNameRule },
});
