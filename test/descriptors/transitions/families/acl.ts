import { aclModel } from '#models/vpp/acl.ts';
import { keyedValue, loop } from '../../compliance/example-values.ts';
import { type Family, family } from '../family.ts';

const permit = {
  action: 'PERMIT',
  ip_rule: { ip: { source_network: '10.80.1.0/24' }, tcp: {} },
} as const;
const reflect = { action: 'REFLECT', ip_rule: { ip: { source_network: '::/0' } } } as const;
const deny = { action: 'DENY' } as const;

export const aclFamilies: readonly Family[] = [
  family('ACL', {
    model: aclModel,
    setup: [
      loop('acl-a'),
      loop('acl-b'),
      keyedValue(aclModel, {
        name: 'aaa',
        rules: [reflect],
        interfaces: { ingress: ['acl-a'], egress: ['acl-b'] },
      }),
    ],
    base: { name: 'bbb', rules: [permit, deny] },
    fields: {
      rules: [[deny], [deny, permit], [permit, reflect, deny]],
      interfaces: [
        { ingress: ['acl-a'] },
        { egress: ['acl-a', 'acl-b'] },
        { ingress: ['acl-b'], egress: ['acl-b'] },
      ],
    },
    dependents: [
      keyedValue(aclModel, {
        name: 'ccc',
        rules: [deny],
        interfaces: { ingress: ['acl-a'], egress: ['acl-b'] },
      }),
    ],
  }),
];
