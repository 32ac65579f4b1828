import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { proxyArpModel } from '#models/vpp/proxy-arp.ts';
import { xConnectModel } from '#models/vpp/xconnect.ts';
import { loop, table } from '../../compliance/keyed.ts';
import { type Family, family } from '../family.ts';

const trunk = loop('trunk', { enabled: true });
const otherTrunk = loop('other-trunk', { enabled: true });
const socket_filename = 'abstract:contiv-transitions-1';
const otherSocket = 'abstract:contiv-transitions-2';
const range = { first_ip_addr: '10.91.1.1', last_ip_addr: '10.91.1.254' };

export const linkFamilies: readonly Family[] = [
  family('memif', {
    model: vppInterfaceModel,
    base: { name: 'memif', type: 'MEMIF', memif: { id: 1, socket_filename } },
    fields: {
      enabled: [true],
      mtu: [1400],
      phys_address: ['02:fe:00:00:91:01'],
      ip_addresses: [['10.90.1.1/24'], ['10.90.2.1/24', 'fd90::1/64']],
      memif: [
        { id: 2, socket_filename },
        { id: 1, socket_filename, master: true, secret: 'hush', ring_size: 512 },
        { id: 1, socket_filename: otherSocket },
      ],
    },
    others: {
      'of bare IP': { name: 'memif', type: 'MEMIF', memif: { id: 1, mode: 'IP', socket_filename } },
      loopback: { name: 'memif', type: 'SOFTWARE_LOOPBACK' },
    },
  }),
  family('VLAN', {
    model: vppInterfaceModel,
    setup: [trunk, otherTrunk, table(91)],
    base: {
      name: 'vlan',
      type: 'SUB_INTERFACE',
      sub: { parent_name: 'trunk', sub_id: 10 },
    },
    fields: {
      enabled: [true],
      vrf: [91],
      mtu: [1400],
      ip_addresses: [['10.90.3.1/24'], ['10.90.4.1/24']],
      sub: [
        { parent_name: 'trunk', sub_id: 11 },
        { parent_name: 'other-trunk', sub_id: 10 },
        { parent_name: 'trunk', sub_id: 10, tag_rw_option: 'POP1' },
        { parent_name: 'trunk', sub_id: 10, tag_rw_option: 'PUSH2', tag1: 5, tag2: 6 },
      ],
    },
  }),
  family('client of DHCP', {
    model: vppInterfaceModel,
    setup: [table(91)],
    base: { name: 'dhcp', type: 'SOFTWARE_LOOPBACK', set_dhcp_client: true },
    fields: {
      enabled: [true],
      vrf: [91],
      set_dhcp_client: [false],
      ip_addresses: [['10.90.5.1/24'], ['fd91::1/64']],
    },
  }),
  family('cross-connect', {
    model: xConnectModel,
    setup: [loop('cross-a'), loop('cross-b'), trunk],
    base: { receive_interface: 'cross-a', transmit_interface: 'cross-b' },
    fields: { transmit_interface: ['trunk'] },
  }),
  family('proxy ARP', {
    model: proxyArpModel,
    setup: [table(91), loop('proxy-a'), loop('proxy-b')],
    base: { ranges: [range], interfaces: [{ name: 'proxy-a' }] },
    fields: {
      interfaces: [[], [{ name: 'proxy-a' }, { name: 'proxy-b' }], [{ name: 'proxy-b' }]],
      ranges: [[], [{ ...range, vrf_id: 91 }], [range, { ...range, last_ip_addr: '10.91.1.9' }]],
    },
  }),
];
