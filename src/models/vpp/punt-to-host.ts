import { defineModel } from '../define.ts';
import { keyTemplate } from '../key-template.ts';
import { ToHost } from './punt.gen.ts';

export type { ToHost as PuntToHost } from './punt.gen.ts';

export const puntToHostKey = keyTemplate('config/vpp/v2/tohost/l3/{l3}/l4/{l4}/port/{port}', {
  l3: '[A-Z0-9_]+',
  l4: '[A-Z0-9_]+',
  port: '\\d+',
});

export const puntToHostModel = defineModel<ToHost>({
  message: ToHost,
  keyPrefix: 'config/vpp/v2/tohost/',
  key: ({ l3_protocol, l4_protocol, port }) =>
    puntToHostKey.build({ l3: l3_protocol, l4: l4_protocol, port }),
});
