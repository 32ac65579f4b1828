/** Example values that connect interfaces: bridge domains and cross-connects. */
import { bridgeDomainModel } from '#models/vpp/bridge-domain.ts';
import { fibEntryModel } from '#models/vpp/fib-entry.ts';
import { xConnectModel } from '#models/vpp/xconnect.ts';
import { changing, keyedValue, loop } from './example-values.ts';
import type { Example } from './suite.ts';

const longName = `vpp-tap-${'0123456789abcdef'.repeat(4)}`;

export const layer2Examples: readonly Example[] = [
  {
    name: 'bridge domain with a name that is longer than a tag',
    setup: [loop(longName)],
    ...changing(
      bridgeDomainModel,
      { name: longName, forward: true, interfaces: [{ name: longName }] },
      { learn: true },
      false,
    ),
  },
  {
    name: 'bridge domain without members',
    ...changing(
      bridgeDomainModel,
      {
        name: 'bd',
        flood: true,
        learn: true,
        forward: true,
        arp_termination: true,
        arp_termination_table: [
          { ip_address: '10.1.1.1', phys_address: '02:fe:00:00:00:01' },
          { ip_address: '10.1.1.2', phys_address: '02:fe:00:00:00:02' },
        ],
      },
      {
        arp_termination_table: [
          { ip_address: '10.1.1.1', phys_address: '02:fe:00:00:00:09' },
          { ip_address: 'fd00::3', phys_address: '02:fe:00:00:00:03' },
        ],
      },
      true,
    ),
  },
  {
    name: 'bridge domain that changes its flags',
    setup: [loop('bvi')],
    ...changing(
      bridgeDomainModel,
      { name: 'bd', forward: true, interfaces: [{ name: 'bvi' }] },
      { learn: true, unknown_unicast_flood: true, mac_age: 5 },
      false,
    ),
  },
  {
    name: 'bridge domain with BVI and members',
    setup: [loop('bvi', { phys_address: '12:2b:00:00:00:01' }), loop('b'), loop('c')],
    ...changing(
      bridgeDomainModel,
      {
        name: 'vxlanBD',
        forward: true,
        interfaces: [
          { name: 'bvi', bridged_virtual_interface: true, split_horizon_group: 1 },
          { name: 'b', split_horizon_group: 1 },
        ],
      },
      {
        interfaces: [
          { name: 'bvi', bridged_virtual_interface: true, split_horizon_group: 1 },
          { name: 'b', split_horizon_group: 2 },
          { name: 'c' },
        ],
      },
      true,
    ),
  },
  {
    name: 'cross-connect',
    setup: [loop('a'), loop('b'), loop('c')],
    ...changing(
      xConnectModel,
      { receive_interface: 'a', transmit_interface: 'b' },
      { transmit_interface: 'c' },
      true,
    ),
  },
  {
    name: 'cross-connect both ways',
    setup: [
      loop('a'),
      loop('b'),
      keyedValue(xConnectModel, { receive_interface: 'b', transmit_interface: 'a' }),
    ],
    value: keyedValue(xConnectModel, { receive_interface: 'a', transmit_interface: 'b' }),
  },
  {
    name: 'entry of a bridge domain',
    setup: [
      loop('b'),
      loop('c'),
      keyedValue(bridgeDomainModel, {
        name: 'bd',
        forward: true,
        interfaces: [{ name: 'b' }, { name: 'c' }],
      }),
    ],
    ...changing(
      fibEntryModel,
      {
        phys_address: '02:fe:00:00:00:02',
        bridge_domain: 'bd',
        outgoing_interface: 'b',
        static_config: true,
      },
      { outgoing_interface: 'c' },
      false,
    ),
  },
  {
    name: 'entry of a bridge domain that drops',
    setup: [keyedValue(bridgeDomainModel, { name: 'bd', forward: true })],
    value: keyedValue(fibEntryModel, {
      phys_address: '02:fe:00:00:00:02',
      bridge_domain: 'bd',
      action: 'DROP',
      static_config: true,
    }),
  },
];
