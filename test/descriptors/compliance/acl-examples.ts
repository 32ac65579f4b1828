import type { DeepInput } from '#models/model.ts';
import { type AclRule, aclModel } from '#models/vpp/acl.ts';
import { changing, keyedValue, loop } from './example-values.ts';
import type { Example } from './suite.ts';

const ports = (lower_port: number, upper_port = lower_port) => ({ lower_port, upper_port });

const web: DeepInput<AclRule> = {
  action: 'PERMIT',
  ip_rule: {
    ip: { source_network: '10.1.1.0/24', destination_network: '10.1.2.3/32' },
    tcp: { destination_port_range: ports(80), source_port_range: ports(0, 65_535) },
  },
};

const anyV4: DeepInput<AclRule> = {
  action: 'REFLECT',
  ip_rule: { ip: { source_network: '0.0.0.0/0', destination_network: '0.0.0.0/0' } },
};

const anyV6: DeepInput<AclRule> = {
  action: 'REFLECT',
  ip_rule: { ip: { source_network: '::/0', destination_network: '::/0' } },
};

const denyAll: DeepInput<AclRule> = { action: 'DENY', ip_rule: {} };

/** Rules of every kind, as they may be written. */
const allKinds: readonly DeepInput<AclRule>[] = [
  web,
  { action: 'DENY', ip_rule: { ip: { source_network: '10.1.1.7' }, udp: {} } },
  {
    action: 'PERMIT',
    ip_rule: { ip: { destination_network: 'fd00::/64' }, icmp: { icmpv6: true } },
  },
  {
    action: 'PERMIT',
    ip_rule: {
      icmp: { icmp_type_range: { first: 8, last: 8 }, icmp_code_range: { first: 0, last: 3 } },
    },
  },
  { action: 'PERMIT', ip_rule: { tcp: { tcp_flags_mask: 20, tcp_flags_value: 10 } } },
  { action: 'DENY', ip_rule: { ip: { protocol: 132 } } },
  anyV4,
  anyV6,
  denyAll,
];

const egress = (...names: string[]) => ({ interfaces: { egress: names } });

/** Example values of ACLs. */
export const aclExamples: readonly Example[] = [
  {
    name: 'ACL that is not bound',
    essential: true,
    ...changing(aclModel, { name: 'acl', rules: [web, denyAll] }, { rules: [denyAll] }, true),
  },
  {
    name: 'ACL with rules of every kind',
    ...changing(
      aclModel,
      { name: 'acl', rules: allKinds },
      { rules: [...allKinds].reverse() },
      true,
    ),
  },
  {
    name: 'ACL that is bound to other interfaces and in other directions',
    setup: [loop('a'), loop('b'), loop('c')],
    essential: true,
    ...changing(
      aclModel,
      { name: 'acl', rules: [web], interfaces: { ingress: ['a', 'b'], egress: ['b', 'c'] } },
      { rules: [web], interfaces: { ingress: ['c', 'b'], egress: ['a'] } },
      true,
    ),
  },
  {
    name: 'ACL between two others on one interface',
    setup: [
      loop('a'),
      keyedValue(aclModel, { name: 'acl-1', rules: [web], ...egress('a') }),
      keyedValue(aclModel, { name: 'acl-3', rules: [denyAll], ...egress('a') }),
    ],
    ...changing(
      aclModel,
      { name: 'acl-2', rules: [anyV4, anyV6], ...egress('a') },
      { rules: [anyV4], interfaces: { ingress: ['a'], egress: ['a'] } },
      true,
    ),
  },
  {
    name: 'ACL with a name that is longer than a tag',
    setup: [loop('a')],
    ...changing(
      aclModel,
      { name: `contiv-policy-${'x'.repeat(60)}`, rules: [web], ...egress('a') },
      { rules: [denyAll], interfaces: {} },
      true,
    ),
  },
  {
    name: 'ACL of a thousand rules',
    setup: [loop('a')],
    ...changing(
      aclModel,
      {
        name: 'long',
        rules: Array.from({ length: 1000 }, (_, n) => ({
          action: 'PERMIT' as const,
          ip_rule: { ip: { source_network: `10.${n >> 8}.${n & 255}.0/24` }, udp: {} },
        })),
        ...egress('a'),
      },
      { rules: [denyAll] },
      true,
    ),
  },
];
