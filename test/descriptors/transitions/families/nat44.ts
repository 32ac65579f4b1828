import { dnat44Model } from '#models/vpp/dnat44.ts';
import { nat44AddressPoolModel } from '#models/vpp/nat44-address-pool.ts';
import { nat44GlobalModel } from '#models/vpp/nat44-global.ts';
import { nat44InterfaceModel } from '#models/vpp/nat44-interface.ts';
import { keyedValue, loop, table } from '../../compliance/example-values.ts';
import { type Family, family } from '../family.ts';

const ANY_TABLE = 0xffff_ffff;

const nat = keyedValue(nat44GlobalModel, { forwarding: true });

const backend = (last: number, probability = 1, vrf_id = 1) => ({
  vrf_id,
  local_ip: `10.70.1.${last}`,
  local_port: 8080,
  probability,
});

/** VPP never chooses a backend without a share, unless none has one. */
const filler = { local_ip: '0.0.0.0', local_port: 1 };

const web = { external_ip: '10.97.0.1', external_port: 80, protocol: 'TCP' } as const;
const api = { external_ip: '10.97.0.1', external_port: 443, protocol: 'TCP' } as const;

/** Variants of a service's first mapping, beside a second one that stays. */
const mappings = {
  'one backend': { ...web, local_ips: [backend(2, 0)] },
  'another backend': { ...web, local_ips: [backend(3, 0)] },
  'one in another table': { ...web, local_ips: [backend(2, 0, 0)] },
  'one, self twice-NAT': { ...web, twice_nat: 'SELF', local_ips: [backend(2, 0)] },
  two: { ...web, twice_nat: 'SELF', local_ips: [backend(2), backend(3)] },
  three: { ...web, twice_nat: 'SELF', local_ips: [backend(2), backend(3), backend(4)] },
  'three others': { ...web, twice_nat: 'SELF', local_ips: [backend(3), backend(5), backend(6)] },
  'other shares': { ...web, twice_nat: 'SELF', local_ips: [backend(2, 9), backend(3)] },
  'great shares': { ...web, twice_nat: 'SELF', local_ips: [backend(2, 900), backend(3, 300)] },
  'no twice-NAT': { ...web, local_ips: [backend(2), backend(3)] },
  'two with affinity': { ...web, session_affinity: 60, local_ips: [backend(2), backend(3)] },
  'three with affinity': {
    ...web,
    session_affinity: 60,
    local_ips: [backend(2), backend(3), backend(4)],
  },
  'three others with affinity': {
    ...web,
    session_affinity: 60,
    local_ips: [backend(2), backend(5), backend(6)],
  },
  'one beside a filler': { ...web, twice_nat: 'SELF', local_ips: [filler, backend(2, 2)] },
  'two beside a filler': {
    ...web,
    twice_nat: 'SELF',
    local_ips: [filler, backend(2, 2), backend(3, 6)],
  },
  'longer affinity': { ...web, session_affinity: 90, local_ips: [backend(2), backend(3)] },
  'another protocol': { ...web, protocol: 'UDP', local_ips: [backend(2), backend(3)] },
  'whole address': { external_ip: '10.97.0.2', local_ips: [{ vrf_id: 1, local_ip: '10.70.1.2' }] },
  'interface’s address': {
    external_interface: 'nat-a',
    external_port: 80,
    local_ips: [backend(2, 0)],
  },
} as const;

export const nat44Families: readonly Family[] = [
  family('NAT44', {
    model: nat44GlobalModel,
    setup: [loop('nat-a', { enabled: true, ip_addresses: ['10.71.1.1/24'] }), loop('nat-b')],
    base: { forwarding: true },
    fields: {
      forwarding: [false],
      sessions: [
        { udp_timeout: 60, icmp_timeout: 30 },
        { max_sessions: 1024, tcp_established_timeout: 600 },
        { table_limits: [{ vrf_id: 0, max_sessions: 900 }] },
        { table_limits: [{ vrf_id: 0, max_sessions: 800 }] },
      ],
      nat_interfaces: [
        [{ name: 'nat-b' }],
        [{ name: 'nat-b', is_inside: true }, { name: 'nat-b' }],
        [{ name: 'nat-b', output_feature: true }],
      ],
      address_pool: [
        [{ address: '10.72.0.1', vrf_id: ANY_TABLE }],
        [{ address: '10.72.0.1', vrf_id: ANY_TABLE, twice_nat: true }],
      ],
    },
    dependents: [
      keyedValue(nat44InterfaceModel, { name: 'nat-a', nat_outside: true }),
      keyedValue(nat44AddressPoolModel, {
        name: 'waits',
        first_ip: '10.72.0.2',
        vrf_id: ANY_TABLE,
      }),
      keyedValue(dnat44Model, { label: 'waits', id_mappings: [{ ip_address: '10.72.0.2' }] }),
    ],
  }),
  family('NAT44 interface', {
    model: nat44InterfaceModel,
    setup: [nat, loop('nat-a', { enabled: true, ip_addresses: ['10.71.1.1/24'] })],
    base: { name: 'nat-a', nat_inside: true },
    fields: { nat_outside: [true] },
    others: {
      out: { name: 'nat-a', nat_outside: true },
      output: { name: 'nat-a', output_feature: true },
      outputOnly: { name: 'nat-a', output_feature: true, output_only: true },
      classify: { name: 'nat-a', nat_inside: true, classify: true },
    },
  }),
  family('NAT44 pool', {
    model: nat44AddressPoolModel,
    setup: [nat, table(1)],
    base: { name: 'pool', first_ip: '10.73.0.1', last_ip: '10.73.0.4', vrf_id: ANY_TABLE },
    fields: {
      first_ip: ['10.73.0.3'],
      last_ip: ['', '10.73.0.7'],
      vrf_id: [1],
      twice_nat: [true],
    },
    others: {
      elsewhere: { name: 'pool', first_ip: '10.74.0.1', vrf_id: ANY_TABLE, twice_nat: true },
    },
    dependents: [
      keyedValue(dnat44Model, {
        label: 'pool',
        st_mappings: [
          {
            ...api,
            external_ip: '10.97.0.9',
            twice_nat: 'ENABLED',
            twice_nat_pool_ip: '10.73.0.3',
            local_ips: [backend(2, 0)],
          },
        ],
      }),
    ],
  }),
  family('service', {
    model: dnat44Model,
    setup: [
      nat,
      table(1),
      loop('nat-a', { enabled: true, ip_addresses: ['10.71.1.1/24'] }),
      keyedValue(nat44InterfaceModel, { name: 'nat-a', nat_outside: true }),
    ],
    base: { label: 'default/web' },
    others: Object.fromEntries(
      Object.entries(mappings).map(([name, mapping]) => [
        name,
        {
          label: 'default/web',
          st_mappings: [mapping, { ...api, local_ips: [backend(2, 0)] }],
        },
      ]),
    ),
  }),
  family('identities', {
    model: dnat44Model,
    setup: [nat, table(1), table(2)],
    base: { label: 'DNAT-identities' },
    fields: {
      id_mappings: [
        [{ ip_address: '10.75.0.1', port: 4789, protocol: 'UDP' }],
        [{ ip_address: '10.75.0.1', protocol: 'UDP' }],
        [
          { ip_address: '10.75.0.1', protocol: 'UDP' },
          { ip_address: '10.75.0.1', protocol: 'UDP', vrf_id: 1 },
        ],
        [
          { ip_address: '10.75.0.1', protocol: 'UDP', vrf_id: 1 },
          { ip_address: '10.75.0.1', protocol: 'TCP', vrf_id: 2 },
          { ip_address: '10.75.0.1', protocol: 'TCP', port: 80 },
        ],
      ],
    },
    // one object in VPP with the identity above, whose tag it has
    dependents: [
      keyedValue(dnat44Model, {
        label: 'others',
        id_mappings: [{ ip_address: '10.75.0.1', protocol: 'UDP', vrf_id: 3 }],
      }),
      table(3),
    ],
  }),
];
