import { ipRedirectModel } from '#models/vpp/ip-redirect.ts';
import { puntToHostModel } from '#models/vpp/punt-to-host.ts';
import { stnRuleModel } from '#models/vpp/stn-rule.ts';
import { loop } from '../../compliance/example-values.ts';
import { type Family, family } from '../family.ts';

const host = loop('punt-host', { enabled: true, ip_addresses: ['10.85.1.1/24', 'fd85::1/64'] });

export const puntFamilies: readonly Family[] = [
  family('STN rule', {
    model: stnRuleModel,
    setup: [host],
    base: { ip_address: '192.168.85.1', interface: 'punt-host' },
  }),
  family('redirect of punted packets', {
    model: ipRedirectModel,
    setup: [host, loop('punt-in')],
    base: { l3_protocol: 'ALL', tx_interface: 'punt-host' },
    fields: { rx_interface: ['punt-in'], next_hop: ['10.85.1.2', '10.85.1.3', 'fd85::2', '::'] },
  }),
  family('socket for punted packets', {
    model: puntToHostModel,
    base: { l3_protocol: 'ALL', l4_protocol: 'UDP', port: 5353, socket_path: '/run/punted-1' },
    fields: { socket_path: ['/run/punted-2'] },
  }),
];
