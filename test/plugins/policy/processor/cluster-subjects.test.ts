/** Whether a policy of the cluster selects a pod, while the records of its namespace come and go. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resources } from '#kubernetes/resources/resources.ts';
import type { PolicyProcessor } from '#plugins/policy/processor/policy-processor.ts';
import {
  attached,
  clusterPolicy,
  namespace,
  plainRules,
  pod,
  processed,
  selector,
  testSlices,
} from '../policy-objects.ts';

const networks = { networks: { cidr: ['10.0.0.0/8'] } };
const ALL = 'Admin Deny admin#undefined: any with 0.0.0.0/0 ::/0';
const OWN = 'Admin Deny admin#0: any with 10.0.0.0/8';

const egressOf = (processor: PolicyProcessor) => plainRules(processor.policies().get('db')!.egress);
const denied = (rule: string) => ({ policies: ['admin'], rules: [rule] });
const open = { policies: [], rules: [] };

const clusterWith = (namespaces: ReturnType<typeof selector>, action: 'ACCEPT' | 'DENY' = 'DENY') =>
  processed({
    pods: [pod({ name: 'db', ips: ['10.1.1.2'] })],
    clusterPolicies: [
      clusterPolicy({
        subject: { namespaces, pods: {} },
        egress: [{ action, peer: [networks] }],
      }),
    ],
    attachments: attached(['db', '10.1.1.2']),
  });

test('a pod whose namespace has no record yet is denied what policies might deny', async () => {
  const processor = await clusterWith(selector({ team: 'a' }));
  const egress = () => egressOf(processor);
  const set = (labels?: Record<string, string>) =>
    processor.change(
      {
        resource: 'namespace',
        key: resources.namespace.key('shop', ''),
        current: labels && namespace('shop', labels),
      },
      testSlices(),
    );
  assert.deepEqual(egress(), denied(ALL));
  await set({ team: 'a' });
  assert.deepEqual(egress(), denied(OWN));
  await set({ team: 'b' });
  assert.deepEqual(egress(), open);
  await set();
  assert.deepEqual(egress(), denied(ALL));
});

test('the name of a namespace is known without its record', async () => {
  const byName = (name: string) => selector({ 'kubernetes.io/metadata.name': name });
  const own = await clusterWith(byName('shop'));
  assert.deepEqual(egressOf(own), denied(OWN));
  const other = await clusterWith(byName('other'));
  assert.deepEqual(egressOf(other), open);
});

test('a policy that only accepts denies nothing to a pod whose namespace has no record', async () => {
  const processor = await clusterWith(selector({ team: 'a' }), 'ACCEPT');
  assert.deepEqual(egressOf(processor), open);
});
