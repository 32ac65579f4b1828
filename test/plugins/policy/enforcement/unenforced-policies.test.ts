/** Which policies of the cluster a node does not enforce. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { aclKey } from '#models/vpp/acl.ts';
import { aclBindingKey } from '#models/vpp/derived.ts';
import { unenforcedPolicies } from '#plugins/policy/enforcement/unenforced-policies.ts';
import { noRules, type PodPolicy } from '#plugins/policy/pod-policy.ts';

const podWith = (pod: string, ...policies: string[]): PodPolicy => ({
  pod,
  addresses: [],
  ingress: { ...noRules, policies },
  egress: noRules,
});
const table = (name: string): string => aclKey.build({ name });

const node = {
  limits: () =>
    new Map([
      ['large', ['too many rules']],
      ['shop/own', ['too many rules']],
    ]),
  unresolved: () => new Map([['nodes', ['no labels']]]),
  policies: () =>
    new Map([
      ['1', podWith('shop/web', 'all', 'shop/own')],
      ['2', podWith('shop/db', 'all', 'large')],
    ]),
  valuesOf: (id: string) => new Map([[table(id === '1' ? 'web' : 'db'), {}]]),
};

it('names policies of the cluster with a code and the reason, sorted', () => {
  assert.deepEqual(unenforcedPolicies(node, []), [
    { policy: 'large', code: 'NotCarried', reason: 'too many rules' },
    { policy: 'nodes', code: 'NotResolved', reason: 'no labels' },
  ]);
});

it('names all policies of a pod of which VPP has rejected a table, or its binding', () => {
  const rejected = (key: string) => [
    { key, error: new Error('no memory') },
    { key: 'config/vpp/other', error: new Error('not of a policy') },
  ];
  const reason = 'a table of pod shop/web is not configured: no memory';
  const binding = aclBindingKey.build({ acl: 'web', direction: 'egress', iface: 'tap1' });
  for (const key of [table('web'), binding])
    assert.deepEqual(unenforcedPolicies(node, rejected(key))[0], {
      policy: 'all',
      code: 'NotConfigured',
      reason,
    });
  assert.deepEqual(
    unenforcedPolicies(node, rejected(table('db'))).map(({ policy, code }) => [policy, code]),
    [
      ['all', 'NotConfigured'],
      ['large', 'NotCarried'],
      ['large', 'NotConfigured'],
      ['nodes', 'NotResolved'],
    ],
  );
});
