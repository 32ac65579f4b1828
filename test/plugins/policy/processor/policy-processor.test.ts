import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resources } from '#kubernetes/resources/resources.ts';
import {
  attached,
  namespace,
  namespaces,
  plainRules,
  pod,
  pods,
  policy,
  processed,
  testSlices,
} from '../policy-objects.ts';

const key = resources.pod.key('db', 'shop');

const OTHERS = 'NetworkPolicy Deny shop/web#undefined: any with 0.0.0.0/0 ::/0';

test('a pod without policies is not isolated', async () => {
  const processor = await processed({
    pods: [pod({ name: 'db', ips: ['10.1.1.2'] })],
    attachments: attached(['db', '10.1.1.2']),
  });
  const found = processor.policies().get('db');
  assert.deepEqual(found?.ingress, { policies: [], rules: [] });
  assert.deepEqual(found?.egress, { policies: [], rules: [] });
});

test('a label that is set later makes a pod a peer, and one that is removed ends it', async () => {
  const web = (labels: Record<string, string>) =>
    pod({ name: 'web', labels, ips: ['10.1.2.2'], uid: 'b' });
  const processor = await processed({
    namespaces: [namespace('shop', { team: 'a' })],
    pods: [pod({ name: 'db', ips: ['10.1.1.2'] }), web({})],
    policies: [
      policy({
        policy_type: 'INGRESS',
        ingress_rule: [{ from: [pods({ app: 'web' })], port: [{ port: { number: 80 } }] }],
      }),
    ],
    attachments: attached(['db', '10.1.1.2']),
  });
  const ingress = () => plainRules(processor.policies().get('db')!.ingress);
  assert.deepEqual(ingress(), { policies: ['shop/web'], rules: [OTHERS] });
  const webKey = resources.pod.key('web', 'shop');
  const labelled = await processor.change(
    { resource: 'pod', key: webKey, current: web({ app: 'web' }) },
    testSlices(),
  );
  assert.deepEqual([...labelled.pods.keys()], ['db']);
  assert.deepEqual(ingress(), {
    policies: ['shop/web'],
    rules: ['NetworkPolicy Accept shop/web#0: TCP 80 with 10.1.2.2/32', OTHERS],
  });
  await processor.change({ resource: 'pod', key: webKey, current: web({}) }, testSlices());
  assert.deepEqual(ingress(), { policies: ['shop/web'], rules: [OTHERS] });
  const same = await processor.change(
    { resource: 'pod', key: webKey, current: web({}) },
    testSlices(),
  );
  assert.equal(same.pods.size, 0);
});

test('an attachment without a record is isolated where a policy of its namespace isolates', async () => {
  const processor = await processed({
    policies: [policy({ policy_type: 'EGRESS', egress_rule: [{ to: [namespaces()] }] })],
    attachments: attached(['db', '10.1.1.2']),
  });
  const unknown = processor.policies().get('db')!;
  assert.deepEqual(plainRules(unknown.ingress), { policies: [], rules: [] });
  assert.deepEqual(plainRules(unknown.egress), { policies: ['shop/web'], rules: [OTHERS] });
  const record = pod({ name: 'db', ips: [] });
  await processor.change({ resource: 'pod', key, current: record }, testSlices());
  const known = processor.policies().get('db')!;
  assert.deepEqual(plainRules(known.egress), {
    policies: ['shop/web'],
    rules: ['NetworkPolicy Accept shop/web#0: any with 10.1.1.2/32', OTHERS],
  });
});
