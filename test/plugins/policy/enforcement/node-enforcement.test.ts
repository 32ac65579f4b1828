/** The record of a node whose agent could not apply the policies that it knows. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { NodeEnforcementReader } from '#plugins/policy/enforcement/node-enforcement.ts';

it('a node that could not apply a change says so, and has applied nothing', () => {
  let failure: Error | undefined;
  const none = () => new Map<never, never>();
  const reader = new NodeEnforcementReader({
    policies: { unresolved: none, limits: none, policies: none, valuesOf: none },
    kubeState: none,
    isSynced: () => true,
    isSettled: () => true,
    unapplied: () => failure,
    failedValues: () => [],
  });
  const settled = reader.read();
  assert.equal(settled?.problem, '');
  failure = new Error('policy: a defect');
  assert.deepEqual(reader.read(), {
    policies: 0,
    applied: '',
    problem: 'the last change was not applied: policy: a defect',
    notEnforced: [],
  });
  failure = undefined;
  assert.deepEqual(reader.read(), settled);
});
