import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { proxyArpModel } from '#models/vpp/proxy-arp.ts';
import { xConnectModel } from '#models/vpp/xconnect.ts';
import { keyedValue, loop } from '../../compliance/example-values.ts';
import { type Family, family } from '../family.ts';
import { tables } from './interfaces.ts';

const model = vppInterfaceModel;
const memif = { id: 1, master: true, socket_filename: 'abstract:contiv-transitions-1' };
const sub = { parent_name: 'trunk', sub_id: 100 };

/** Interfaces that hang on others or on a peer, and what ties interfaces together. */
export const linkFamilies: readonly Family[] = [
  family('memif', {
    model,
    setup: [
      ...tables(1),
      keyedValue(model, { name: 'memif-beside', type: 'MEMIF', memif: { ...memif, id: 9 } }),
    ],
    base: { name: 'memif', type: 'MEMIF', memif },
    fields: {
      enabled: [true],
      vrf: [1],
      mtu: [1400],
      ip_addresses: [['10.80.1.1/24']],
      memif: [
        { ...memif, id: 2 },
        { ...memif, master: false },
        { ...memif, mode: 'IP' },
        { ...memif, socket_filename: 'abstract:contiv-transitions-2', secret: 'hush' },
      ],
    },
  }),
  family('VLAN', {
    model,
    setup: [...tables(1), loop('trunk', { enabled: true }), loop('other-trunk', { enabled: true })],
    base: { name: 'vlan', type: 'SUB_INTERFACE', sub },
    fields: {
      enabled: [true],
      vrf: [1],
      mtu: [1400],
      ip_addresses: [['10.81.1.1/24'], ['10.81.2.1/24', 'fd81::1/64']],
      sub: [
        { ...sub, sub_id: 101 },
        { ...sub, parent_name: 'other-trunk' },
        { ...sub, tag_rw_option: 'POP1' },
      ],
    },
  }),
  family('interface with VLANs', {
    model,
    setup: [],
    base: { name: 'carrier', type: 'SOFTWARE_LOOPBACK', enabled: true },
    fields: { enabled: [false], mtu: [1400], phys_address: ['02:fe:00:00:00:82'] },
    others: {
      'a memif': {
        name: 'carrier',
        type: 'MEMIF',
        enabled: true,
        memif: { ...memif, id: 3 },
      },
    },
    dependents: [
      keyedValue(model, {
        name: 'carrier.5',
        type: 'SUB_INTERFACE',
        enabled: true,
        ip_addresses: ['10.82.1.1/24'],
        sub: { parent_name: 'carrier', sub_id: 5 },
      }),
    ],
  }),
  family('cross-connect', {
    model: xConnectModel,
    setup: [
      loop('left'),
      loop('right'),
      loop('third'),
      keyedValue(xConnectModel, { receive_interface: 'right', transmit_interface: 'left' }),
    ],
    base: { receive_interface: 'left', transmit_interface: 'right' },
    fields: { transmit_interface: ['third'] },
  }),
  family('proxy ARP', {
    model: proxyArpModel,
    setup: [...tables(1, 2), loop('left'), loop('right')],
    base: {
      interfaces: [{ name: 'left' }],
      ranges: [{ first_ip_addr: '10.83.1.1', last_ip_addr: '10.83.1.9', vrf_id: 1 }],
    },
    fields: {
      interfaces: [[], [{ name: 'right' }], [{ name: 'right' }, { name: 'left' }]],
      ranges: [
        [],
        [{ first_ip_addr: '10.83.1.1', last_ip_addr: '10.83.1.9' }],
        [
          { first_ip_addr: '10.83.1.1', last_ip_addr: '10.83.1.9', vrf_id: 1 },
          { first_ip_addr: '10.83.2.1', last_ip_addr: '10.83.2.1', vrf_id: 2 },
        ],
      ],
    },
  }),
];
