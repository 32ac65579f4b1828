import { dnat44Model } from '#models/vpp/dnat44.ts';
import { nat44AddressPoolModel } from '#models/vpp/nat44-address-pool.ts';
import { nat44GlobalModel } from '#models/vpp/nat44-global.ts';
import { nat44InterfaceModel } from '#models/vpp/nat44-interface.ts';
import { changing, keyedValue, loop, table } from './example-values.ts';
import type { Example } from './suite.ts';

const ANY_TABLE = 0xffff_ffff;

const nat = keyedValue(nat44GlobalModel, { forwarding: true });

const backend = (last: number, probability = 1) => ({
  vrf_id: 1,
  local_ip: `10.1.1.${last}`,
  local_port: 8080,
  probability,
});

const web = { external_ip: '10.96.0.10', external_port: 80, protocol: 'TCP' } as const;

/** Example values of NAT44. */
export const nat44Examples: readonly Example[] = [
  {
    name: 'NAT44',
    essential: true,
    ...changing(nat44GlobalModel, {}, { forwarding: true }, true),
  },
  {
    name: 'NAT44 with other timeouts of its sessions',
    ...changing(
      nat44GlobalModel,
      {
        forwarding: true,
        sessions: { max_sessions: 4096, tcp_established_timeout: 10_800, icmp_timeout: 30 },
      },
      { sessions: { max_sessions: 4096, udp_timeout: 60, tcp_transitory_timeout: 120 } },
      true,
    ),
  },
  {
    name: 'NAT44 with a larger session table',
    ...changing(
      nat44GlobalModel,
      { forwarding: true, sessions: { udp_timeout: 60 } },
      { sessions: { max_sessions: 100_000 } },
      false,
    ),
  },
  {
    name: 'NAT44 with limits of tables',
    setup: [table(1)],
    ...changing(
      nat44GlobalModel,
      {
        sessions: {
          table_limits: [
            { vrf_id: 0, max_sessions: 60_000 },
            { vrf_id: 1, max_sessions: 64_000 },
          ],
        },
      },
      { sessions: { table_limits: [{ vrf_id: 0, max_sessions: 50_000 }] } },
      true,
    ),
  },
  {
    name: 'NAT44 with interfaces and addresses listed in it',
    setup: [loop('nat-1'), loop('nat-2'), table(1)],
    ...changing(
      nat44GlobalModel,
      {
        forwarding: true,
        nat_interfaces: [
          { name: 'nat-1', is_inside: true },
          { name: 'nat-1' },
          { name: 'nat-2', output_feature: true },
        ],
        address_pool: [
          { address: '10.0.0.1', vrf_id: ANY_TABLE },
          { address: '10.0.0.1', vrf_id: ANY_TABLE, twice_nat: true },
        ],
        virtual_reassembly: { drop_fragments: true },
      },
      {
        forwarding: false,
        nat_interfaces: [
          { name: 'nat-1', output_feature: true },
          { name: 'nat-2', is_inside: true },
        ],
        address_pool: [{ address: '10.0.0.1', vrf_id: 1 }],
      },
      true,
    ),
  },
  {
    name: 'NAT44 interface that is on both sides',
    setup: [nat, loop('a', { ip_addresses: ['10.71.5.1/24'] })],
    ...changing(
      nat44InterfaceModel,
      { name: 'a', nat_inside: true, nat_outside: true },
      { nat_outside: false },
      true,
    ),
  },
  {
    name: 'NAT44 interface that classifies, and becomes one on both sides',
    setup: [nat, loop('a', { ip_addresses: ['10.71.5.1/24'] })],
    essential: true,
    ...changing(
      nat44InterfaceModel,
      { name: 'a', nat_inside: true, classify: true },
      { nat_outside: true, classify: false },
      true,
    ),
  },
  {
    name: 'NAT44 interface that begins to classify',
    setup: [nat, loop('a', { ip_addresses: ['10.71.5.1/24'] })],
    ...changing(nat44InterfaceModel, { name: 'a', nat_inside: true }, { classify: true }, true),
  },
  {
    name: 'NAT44 interface that translates packets that leave alone, and then both ways',
    setup: [nat, loop('a', { ip_addresses: ['10.71.5.1/24'] })],
    essential: true,
    ...changing(
      nat44InterfaceModel,
      { name: 'a', output_feature: true, output_only: true },
      { output_only: false },
      true,
    ),
  },
  {
    name: 'NAT44 interface that changes its side',
    setup: [nat, loop('a', { ip_addresses: ['10.71.5.1/24'] })],
    ...changing(
      nat44InterfaceModel,
      { name: 'a', nat_inside: true },
      { nat_inside: false, nat_outside: true },
      true,
    ),
  },
  {
    name: 'NAT44 interface that becomes one of the output feature',
    setup: [nat, loop('a', { ip_addresses: ['10.71.5.1/24'] })],
    essential: true,
    ...changing(
      nat44InterfaceModel,
      { name: 'a', nat_inside: true, nat_outside: true },
      { nat_inside: false, nat_outside: false, output_feature: true },
      true,
    ),
  },
  {
    name: 'NAT44 pool of one address',
    setup: [nat, table(1)],
    ...changing(
      nat44AddressPoolModel,
      { name: 'snat', first_ip: '192.168.16.1', vrf_id: ANY_TABLE },
      { vrf_id: 1 },
      true,
    ),
  },
  {
    name: 'NAT44 pool of a range',
    setup: [nat],
    essential: true,
    ...changing(
      nat44AddressPoolModel,
      { name: 'snat', first_ip: '192.168.15.254', last_ip: '192.168.16.3', vrf_id: ANY_TABLE },
      { first_ip: '192.168.16.1', last_ip: '192.168.16.5' },
      true,
    ),
  },
  {
    name: 'NAT44 pool of twice-NAT under the key of its address',
    setup: [nat],
    value: keyedValue(nat44AddressPoolModel, {
      first_ip: '10.1.255.254',
      vrf_id: ANY_TABLE,
      twice_nat: true,
    }),
  },
  {
    name: 'service with one backend, then several',
    setup: [nat, table(1)],
    essential: true,
    ...changing(
      dnat44Model,
      {
        label: 'default/web',
        st_mappings: [{ ...web, twice_nat: 'SELF', local_ips: [backend(2, 0)] }],
      },
      {
        st_mappings: [{ ...web, twice_nat: 'SELF', local_ips: [backend(2), backend(3)] }],
      },
      true,
    ),
  },
  {
    name: 'service with several backends that come and go',
    setup: [nat, table(1)],
    ...changing(
      dnat44Model,
      {
        label: 'default/web',
        st_mappings: [{ ...web, twice_nat: 'SELF', local_ips: [2, 3, 4].map((n) => backend(n)) }],
      },
      { st_mappings: [{ ...web, twice_nat: 'SELF', local_ips: [3, 5].map((n) => backend(n)) }] },
      true,
    ),
  },
  {
    name: 'service whose backends change their shares',
    setup: [nat, table(1)],
    ...changing(
      dnat44Model,
      { label: 'default/web', st_mappings: [{ ...web, local_ips: [backend(2), backend(3)] }] },
      { st_mappings: [{ ...web, local_ips: [backend(2, 5), backend(3, 1000)] }] },
      true,
    ),
  },
  {
    name: 'service of which one of two backends changes its share',
    setup: [nat, table(1)],
    ...changing(
      dnat44Model,
      {
        label: 'default/web',
        st_mappings: [{ ...web, local_ips: [backend(2), backend(3)] }],
      },
      { st_mappings: [{ ...web, local_ips: [backend(2), backend(3, 4)] }] },
      true,
    ),
  },
  {
    name: 'service with affinity whose backends are replaced',
    setup: [nat, table(1)],
    ...changing(
      dnat44Model,
      {
        label: 'default/web',
        st_mappings: [
          { ...web, session_affinity: 60, local_ips: [2, 3, 4].map((n) => backend(n)) },
        ],
      },
      {
        st_mappings: [
          { ...web, session_affinity: 60, local_ips: [2, 5, 6].map((n) => backend(n)) },
        ],
      },
      true,
    ),
  },
  {
    name: 'service with backends without a share',
    setup: [nat, table(1)],
    value: keyedValue(dnat44Model, {
      label: 'default/web',
      st_mappings: [{ ...web, local_ips: [backend(2, 0), backend(3, 0)] }],
    }),
  },
  {
    name: 'service with affinity',
    setup: [nat, table(1)],
    ...changing(
      dnat44Model,
      {
        label: 'default/web',
        st_mappings: [
          { ...web, session_affinity: 10_800, local_ips: [2, 3, 4].map((n) => backend(n)) },
        ],
      },
      {
        st_mappings: [
          { ...web, session_affinity: 10_800, local_ips: [2, 3].map((n) => backend(n)) },
        ],
      },
      true,
    ),
  },
  {
    name: 'service that gets affinity',
    setup: [nat, table(1)],
    ...changing(
      dnat44Model,
      { label: 'default/web', st_mappings: [{ ...web, local_ips: [backend(2), backend(3)] }] },
      {
        st_mappings: [{ ...web, session_affinity: 60, local_ips: [backend(2), backend(3)] }],
      },
      true,
    ),
  },
  {
    name: 'service with one backend and affinity, which VPP does not keep',
    setup: [nat, table(1)],
    value: keyedValue(dnat44Model, {
      label: 'default/web',
      st_mappings: [{ ...web, session_affinity: 60, local_ips: [backend(2)] }],
    }),
  },
  {
    name: 'service with several ports, external addresses and protocols',
    setup: [nat, table(1)],
    ...changing(
      dnat44Model,
      {
        label: 'kube-system/kube-dns',
        st_mappings: [
          { ...web, local_ips: [backend(2)] },
          { ...web, protocol: 'UDP', local_ips: [backend(2), backend(3)] },
          { ...web, external_port: 81, twice_nat: 'ENABLED', local_ips: [backend(2)] },
          { ...web, external_ip: '10.96.0.11', protocol: 'ICMP', local_ips: [backend(2)] },
        ],
      },
      {
        st_mappings: [
          { ...web, local_ips: [{ ...backend(2), vrf_id: 0 }] },
          { ...web, external_port: 82, twice_nat: 'ENABLED', local_ips: [backend(2)] },
          { ...web, external_ip: '10.96.0.11', protocol: 'ICMP', local_ips: [backend(4)] },
        ],
      },
      true,
    ),
  },
  {
    name: 'service with a label that is longer than a tag',
    setup: [nat, table(1)],
    ...changing(
      dnat44Model,
      {
        label: `${'n'.repeat(63)}/${'s'.repeat(63)}`,
        st_mappings: [{ ...web, session_affinity: 60, local_ips: [backend(2), backend(3)] }],
        id_mappings: [{ ip_address: '192.168.16.1', port: 4789, protocol: 'UDP' }],
      },
      { st_mappings: [{ ...web, local_ips: [backend(2)] }] },
      true,
    ),
  },
  {
    name: 'mapping of a whole address',
    setup: [nat, table(1)],
    ...changing(
      dnat44Model,
      {
        label: 'whole',
        st_mappings: [
          {
            external_ip: '10.96.0.10',
            protocol: 'UDP',
            local_ips: [{ vrf_id: 1, local_ip: '10.1.1.2' }],
          },
        ],
      },
      { st_mappings: [{ ...web, local_ips: [backend(2)] }] },
      true,
    ),
  },
  {
    name: 'mapping with an address of the twice-NAT pool',
    setup: [
      nat,
      table(1),
      keyedValue(nat44AddressPoolModel, {
        name: 'twice',
        first_ip: '10.2.0.1',
        last_ip: '10.2.0.4',
        vrf_id: ANY_TABLE,
        twice_nat: true,
      }),
    ],
    ...changing(
      dnat44Model,
      {
        label: 'default/web',
        st_mappings: [
          {
            ...web,
            twice_nat: 'ENABLED',
            twice_nat_pool_ip: '10.2.0.2',
            local_ips: [backend(2)],
          },
        ],
      },
      {
        st_mappings: [
          {
            ...web,
            twice_nat: 'ENABLED',
            twice_nat_pool_ip: '10.2.0.3',
            local_ips: [backend(2)],
          },
        ],
      },
      true,
    ),
  },
  {
    name: 'mapping of the address that an interface has',
    setup: [nat, loop('a', { enabled: true, ip_addresses: ['192.168.17.1/24'] })],
    ...changing(
      dnat44Model,
      {
        label: 'bound',
        st_mappings: [
          {
            external_interface: 'a',
            external_port: 80,
            twice_nat: 'SELF',
            local_ips: [{ local_ip: '10.1.1.2', local_port: 8080 }],
          },
        ],
        id_mappings: [{ interface: 'a', port: 4789, protocol: 'UDP' }],
      },
      {
        st_mappings: [
          {
            external_interface: 'a',
            external_port: 81,
            local_ips: [{ local_ip: '10.1.1.2', local_port: 8080 }],
          },
        ],
        id_mappings: [],
      },
      true,
    ),
  },
  {
    name: 'identities of one address in two tables, without a port',
    setup: [nat, table(1)],
    essential: true,
    ...changing(
      dnat44Model,
      {
        label: 'DNAT-identities',
        id_mappings: [
          { ip_address: '192.168.16.1', port: 4789, protocol: 'UDP' },
          { ip_address: '192.168.16.1', protocol: 'UDP' },
          { ip_address: '192.168.16.1', protocol: 'UDP', vrf_id: 1 },
        ],
      },
      { id_mappings: [{ ip_address: '192.168.16.1', protocol: 'UDP', vrf_id: 1 }] },
      true,
    ),
  },
  {
    name: 'identity of an address of a pool',
    setup: [
      nat,
      table(1),
      keyedValue(nat44AddressPoolModel, { first_ip: '10.2.0.1', vrf_id: ANY_TABLE }),
    ],
    ...changing(
      dnat44Model,
      {
        label: 'DNAT-identities/10.2.0.1',
        id_mappings: [{ ip_address: '10.2.0.1', requires_pool: true }],
      },
      {
        id_mappings: [
          { ip_address: '10.2.0.1', requires_pool: true },
          { ip_address: '10.2.0.1', vrf_id: 1, requires_pool: true },
        ],
      },
      true,
    ),
  },
  {
    name: 'no identities',
    setup: [nat],
    ...changing(
      dnat44Model,
      { label: 'DNAT-identities' },
      { id_mappings: [{ ip_address: '192.168.16.1' }] },
      true,
    ),
  },
];
