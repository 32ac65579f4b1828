/** The condition of ClusterNetworkPolicies that contiv-ksr writes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { clusterPolicyStatus, StubApiServer } from './support/cluster-policy-api.ts';
import { EnforcingCluster } from './support/enforcing-cluster.ts';

function started(version = 'v1beta1') {
  const clock = new ManualClock();
  const api = new StubApiServer(version);
  const writer = clusterPolicyStatus({ api, clock, cluster: new EnforcingCluster() });
  writer.start();
  return { clock, api, writer };
}

test('a policy is accepted, once for each of its contents', async () => {
  const { clock, api, writer } = started();
  api.put('whole', { namespaces: {} });
  await clock.advance(10_000);
  const [{ lastTransitionTime, ...condition } = {}] = api.conditions('whole');
  assert.deepEqual(condition, {
    type: 'Accepted',
    status: 'True',
    reason: 'AllRulesSupported',
    message: 'all rules are carried to the nodes',
    observedGeneration: 1,
  });
  assert.match(String(lastTransitionTime), /^\d{4}-.*:\d\dZ$/);
  assert.deepEqual(api.patches, ['whole']);
  api.put('whole', { networks: ['10.0.0.0/8'] });
  await clock.advance(10_000);
  const [second] = api.conditions('whole');
  assert.equal(second?.['observedGeneration'], 2);
  assert.equal(second?.['lastTransitionTime'], lastTransitionTime);
  assert.deepEqual(api.patches, ['whole', 'whole']);
  await writer.close();
});

test('rules that fail closed are named; conditions of others stay', async () => {
  const { clock, api, writer } = started('v1alpha2');
  const other = { type: 'Other', status: 'True', reason: 'R', message: '' };
  const status = { conditions: [other] };
  api.put('names', { domainNames: ['example.org'] }, { status });
  await clock.advance(2_000);
  const [first, second] = api.conditions('names');
  assert.deepEqual(first, other);
  assert.deepEqual([second?.['status'], second?.['reason']], ['False', 'RulesFailClosed']);
  assert.match(String(second?.['message']), /spec\.egress\[0\]\.to\[0\] has domainNames/);
  assert.deepEqual(api.patches, ['names']);
  await writer.close();
});
