/** Lists of rules without the policies that would exceed the limit of a table. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AddressSet } from '#plugins/policy/address-set.ts';
import { type PolicyRule, type RuleList, withoutPolicies } from '#plugins/policy/pod-policy.ts';
import { PortSet } from '#plugins/policy/port-set.ts';

const names = Array.from({ length: 40 }, (_, at) => `policy-${at}`);
const rules = names.map((policy): PolicyRule => {
  const peers = AddressSet.of(['10.0.0.0/8']);
  return { tier: 'Admin', action: 'Accept', peers, ports: PortSet.any, policy, rule: 0 };
});
const list: RuleList = { policies: names, rules };
const without = (...policies: string[]) => withoutPolicies(list, new Set(policies));

test('the last lists without policies are kept, and not more', () => {
  const first = without('policy-0');
  const others = names.slice(1, 16).map((name) => without(name));
  assert.equal(without('policy-0'), first);
  const one = without('policy-39');
  assert.equal(without('policy-0'), first, 'it was used after the others');
  assert.notEqual(without('policy-1'), others[0], 'it was used before all others');
  assert.deepEqual(without('policy-1'), others[0]);
  assert.equal(without('policy-39'), one);
  assert.equal(without('of another pod'), list);
});
