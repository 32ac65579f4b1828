import { bridgeDomainModel } from '#models/vpp/bridge-domain.ts';
import { fibEntryModel } from '#models/vpp/fib-entry.ts';
import { keyedValue, loop } from '../../compliance/example-values.ts';
import { type Family, family } from '../family.ts';

const macs = ['02:fe:00:00:00:11', '02:fe:00:00:00:12'] as const;

export const layer2Families: readonly Family[] = [
  family('bridge domain', {
    model: bridgeDomainModel,
    setup: [loop('a'), loop('b', { phys_address: macs[0] }), loop('c')],
    base: {
      name: 'bd',
      forward: true,
      interfaces: [{ name: 'a', bridged_virtual_interface: true }, { name: 'b' }],
    },
    fields: {
      flood: [true],
      learn: [true],
      forward: [false],
      unknown_unicast_flood: [true],
      arp_termination: [true],
      mac_age: [5],
      interfaces: [
        [],
        [{ name: 'a' }, { name: 'b', bridged_virtual_interface: true }],
        [{ name: 'b', split_horizon_group: 3 }, { name: 'c' }],
      ],
      arp_termination_table: [
        [{ ip_address: '10.60.1.1', phys_address: macs[0] }],
        [
          { ip_address: '10.60.1.1', phys_address: macs[1] },
          { ip_address: 'fd60::1', phys_address: macs[0] },
        ],
      ],
    },
    dependents: [
      keyedValue(fibEntryModel, {
        bridge_domain: 'bd',
        phys_address: macs[1],
        outgoing_interface: 'b',
        static_config: true,
      }),
    ],
  }),
  family('entry of a bridge domain', {
    model: fibEntryModel,
    setup: [
      loop('a', { phys_address: macs[0] }),
      loop('b'),
      loop('c'),
      keyedValue(bridgeDomainModel, {
        name: 'bd',
        forward: true,
        interfaces: [
          { name: 'a', bridged_virtual_interface: true },
          { name: 'b' },
          { name: 'c', split_horizon_group: 1 },
        ],
      }),
    ],
    base: {
      bridge_domain: 'bd',
      phys_address: macs[1],
      outgoing_interface: 'b',
      static_config: true,
    },
    fields: { outgoing_interface: ['c', 'a'] },
    others: {
      drops: {
        bridge_domain: 'bd',
        phys_address: macs[1],
        action: 'DROP',
        static_config: true,
      },
    },
  }),
];
