import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closedPolicies } from '#kubernetes/models/closed-policy.ts';
import type { Policy } from '#kubernetes/models/policy.ts';
import type { DeepInput } from '#models/model.ts';
import { policySpec } from '#plugins/policy/configurator/policy-spec.ts';
import { block, policy, selector } from '../policy-objects.ts';

const specOf = (input: DeepInput<Policy>) => policySpec('web', 'shop', policy(input));

for (const [type, egress, expected] of [
  ['DEFAULT', 0, { ingress: true, egress: false }],
  ['DEFAULT', 1, { ingress: true, egress: true }],
  ['INGRESS', 1, { ingress: true, egress: false }],
  ['EGRESS', 0, { ingress: false, egress: true }],
  ['INGRESS_AND_EGRESS', 0, { ingress: true, egress: true }],
] as const) {
  test(`type ${type} with ${egress} egress rules isolates ${JSON.stringify(expected)}`, () => {
    const spec = specOf({ policy_type: type, egress_rule: egress === 0 ? [] : [{}] });
    assert.deepEqual(spec.isolates, expected);
    assert.equal(spec.egress.length, expected.egress ? egress : 0);
  });
}

test('rules of a direction that the policy does not isolate are left out', () => {
  const spec = specOf({ policy_type: 'EGRESS', ingress_rule: [{}] });
  assert.deepEqual(spec.ingress, []);
});

test('a policy with an invalid selector of pods isolates its namespace and permits nothing', () => {
  const spec = specOf({
    pods: { match_expression: [{ key: 'app', operator: 'IN' }] },
    ingress_rule: [{}],
  });
  assert.equal(spec.pods.matches([]), true);
  assert.deepEqual(spec.ingress, []);
  assert.deepEqual(spec.problems, [
    'its selector of pods is invalid: the expression for "app" has the operator IN without values; ' +
      'it isolates all pods of its namespace',
  ]);
});

test('a policy without a selector of pods selects all of its namespace', () => {
  const { pods: _, ...record } = policy();
  const spec = policySpec('web', 'shop', record);
  assert.equal(spec.pods.matches([]), true);
  assert.deepEqual(spec.problems, []);
});

const app = selector({ app: 'web' });

for (const [name, peer, problem] of [
  ['nothing', {}, 'it selects nothing'],
  ['pods and namespaces', { pods: app, namespaces: {} }, 'it has several kinds of peers'],
  ['pods and a block', { pods: app, ...block('::/0') }, 'it has several kinds of peers'],
  ['one selector of both', { pods_in_namespaces: { pods: app } }, 'it lacks a selector'],
  ['an address as a block', block('10.1.1.1'), '"10.1.1.1" is not a CIDR'],
  ['an empty block', { ip_block: {} }, '"" is not a CIDR'],
  ['an invalid exception', block('10.0.0.0/8', '10.1.0.0/40'), '"10.1.0.0/40" is not a CIDR'],
  [
    'an expression without a key',
    { pods: { match_expression: [{ operator: 'EXISTS' }] } },
    'an expression has no key',
  ],
  [
    'a needless value',
    { namespaces: { match_expression: [{ key: 'a', operator: 'DOES_NOT_EXIST', value: ['b'] }] } },
    'the expression for "a" has the operator DOES_NOT_EXIST with values',
  ],
] as const) {
  test(`a peer with ${name} permits nothing and is reported`, () => {
    const spec = specOf({ ingress_rule: [{}, { from: [peer] }] });
    const { peers } = spec.ingress[1]!;
    assert.equal(peers.isEveryone, false);
    assert.deepEqual(peers.selectors, []);
    assert.ok(peers.blocks.isEmpty);
    assert.deepEqual(spec.problems, [`ingress rule 1: peer 0 permits nothing: ${problem}`]);
  });
}

for (const [port, problem] of [
  [{ port: { number: 0 } }, '0 is not a port'],
  [{ port: { number: 65_536 } }, '65536 is not a port'],
  [{ port: { number: 80 }, end_port: 70_000 }, '70000 is not a port'],
  [{ port: { number: 80 }, end_port: 79 }, 'the range ends at 79, before it begins at 80'],
  [{ end_port: 80 }, 'the range to 80 has no start'],
  [{ port: { type: 'NAME' } }, 'its name is empty'],
  [
    { port: { type: 'NAME', name: 'http' }, end_port: 80 },
    'the range that begins at "http" needs a number',
  ],
] as const) {
  test(`port ${JSON.stringify(port)} permits nothing and is reported`, () => {
    const spec = specOf({ ingress_rule: [{ port: [port] }] });
    const { ports } = spec.ingress[0]!;
    assert.ok(ports.numbers.isEmpty);
    assert.deepEqual(ports.names, []);
    assert.deepEqual(spec.problems, [`ingress rule 0: port 0 permits nothing: ${problem}`]);
  });
}

test('a name of a port beside a block is reported in egress rules, where no pod has it', () => {
  const rule = { port: [{ port: { type: 'NAME' as const, name: 'http' } }] };
  const spec = specOf({
    ingress_rule: [{ from: [block('10.0.0.0/8')], ...rule }],
    egress_rule: [{ to: [block('10.0.0.0/8')], ...rule }],
  });
  assert.deepEqual(spec.problems, [
    'egress rule 0: peer 0: a name of a port has no meaning for an IP block',
  ]);
});

test('equal selectors have one text, whatever the order and form of their requirements', () => {
  const texts = [
    {
      match_label: [{ key: 'app', value: 'web' }],
      match_expression: [{ key: 'tier', operator: 'IN' as const, value: ['b', 'a', 'b'] }],
    },
    {
      match_expression: [
        { key: 'tier', operator: 'IN' as const, value: ['a', 'b'] },
        { key: 'app', operator: 'IN' as const, value: ['web'] },
      ],
    },
  ].map((pods) => specOf({ pods }).pods.text);
  assert.equal(texts[0], texts[1]);
});

test('reasons of the reflector are reported', () => {
  const record = closedPolicies.value({ name: 'web', namespace: 'shop' }, 'it is no object');
  const spec = policySpec('web', 'shop', record);
  assert.deepEqual(spec.isolates, { ingress: true, egress: true });
  assert.equal(spec.pods.matches([]), true);
  assert.deepEqual(spec.problems, ['it cannot be read as a whole: it is no object']);
});
