/** Pods that share addresses, and pods whose record is unknown. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closedNamespaces } from '#kubernetes/models/closed-namespace.ts';
import { closedPods } from '#kubernetes/models/closed-pod.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { podIdText, unknownPod } from '#plugins/podmanager/api.ts';
import type { PolicyProcessor } from '#plugins/policy/processor/policy-processor.ts';
import {
  attached,
  block,
  namespace,
  namespaces,
  type PodInput,
  permitsOf,
  pod,
  pods,
  policy,
  processed,
  selector,
  testSlices,
} from '../policy-objects.ts';

const db = pod({ name: 'db', labels: { app: 'db' }, ips: ['10.1.1.2'] });
const attachments = attached(['db', '10.1.1.2']);
const fromWeb = policy({ ingress_rule: [{ from: [pods({ app: 'web' })] }] });

const setPod = (processor: PolicyProcessor, input: PodInput) =>
  processor.change(
    { resource: 'pod', key: resources.pod.key(input.name, 'shop'), current: pod(input) },
    testSlices(),
  );

test('an address in several records is a peer only if all of their pods are selected', async () => {
  const finished = { name: 'job', labels: { app: 'web' }, ips: ['10.1.2.2'] };
  const other = { name: 'other', labels: { app: 'other' }, ips: ['10.1.2.2'] };
  const processor = await processed({
    pods: [db, pod(finished)],
    policies: [fromWeb],
    attachments,
  });
  assert.deepEqual(permitsOf(processor, 'db', 'ingress'), ['any with 10.1.2.2/32']);
  await setPod(processor, other);
  assert.deepEqual(permitsOf(processor, 'db', 'ingress'), []);
  await setPod(processor, { ...other, labels: { app: 'web' } });
  assert.deepEqual(permitsOf(processor, 'db', 'ingress'), ['any with 10.1.2.2/32']);
});

test('an address that an attachment has belongs to its pod, whatever other records contain', async () => {
  const processor = await processed({
    pods: [
      db,
      pod({ name: 'job', labels: { app: 'web' }, ips: ['10.1.1.3'] }),
      pod({ name: 'cache', labels: { app: 'cache' } }),
    ],
    policies: [fromWeb],
    attachments,
  });
  assert.deepEqual(permitsOf(processor, 'db', 'ingress'), ['any with 10.1.1.3/32']);
  const [, cache] = [...attached(['cache', '10.1.1.3'])][0]!;
  const added = await processor.setAttachment('cache', cache, testSlices());
  assert.deepEqual([...added.pods.keys()].sort(), ['cache', 'db']);
  assert.deepEqual(permitsOf(processor, 'db', 'ingress'), []);
  await processor.setAttachment('cache', undefined, testSlices());
  assert.deepEqual(permitsOf(processor, 'db', 'ingress'), ['any with 10.1.1.3/32']);
});

test('an attached pod is a peer before its record contains the address', async () => {
  const processor = await processed({
    pods: [db, pod({ name: 'web', labels: { app: 'web' } })],
    policies: [fromWeb],
    attachments: attached(['db', '10.1.1.2'], ['web', '10.1.1.3']),
  });
  assert.deepEqual(permitsOf(processor, 'db', 'ingress'), ['any with 10.1.1.3/32']);
});

test('a pod on another node is a peer as soon as its record contains an address', async () => {
  const web = { name: 'web', labels: { app: 'web' } };
  const processor = await processed({ pods: [db, pod(web)], policies: [fromWeb], attachments });
  assert.deepEqual(permitsOf(processor, 'db', 'ingress'), []);
  await setPod(processor, { ...web, ips: ['10.1.2.2', 'fd00:2::2'] });
  assert.deepEqual(permitsOf(processor, 'db', 'ingress'), ['any with 10.1.2.2/32 fd00:2::2/128']);
});

test('an address in the record of a pod and in that of a pod in the host network is no peer', async () => {
  const processor = await processed({
    pods: [
      db,
      pod({ name: 'web', labels: { app: 'web' }, ips: ['172.16.0.1'] }),
      pod({ name: 'proxy', labels: { app: 'web' }, ips: ['172.16.0.1'], hostIp: '172.16.0.1' }),
    ],
    policies: [fromWeb],
    attachments,
  });
  assert.deepEqual(permitsOf(processor, 'db', 'ingress'), []);
});

test('a pod without a record is isolated as far as any policy of its namespace isolates', async () => {
  const processor = await processed({
    policies: [
      policy({
        name: 'a',
        pods: { match_label: [{ key: 'app', value: 'x' }] },
        policy_type: 'EGRESS',
        egress_rule: [{}],
      }),
      policy({ name: 'b', namespace: 'other', policy_type: 'INGRESS' }),
    ],
    attachments: attached(['db', '10.1.1.2'], ['third/db', '10.1.1.3']),
  });
  assert.equal(permitsOf(processor, 'db', 'ingress'), 'open');
  assert.deepEqual(permitsOf(processor, 'db', 'egress'), []);
  assert.deepEqual(processor.policies().get('db')?.egress.policies, ['shop/a']);
  assert.equal(permitsOf(processor, 'third/db', 'egress'), 'open');
  const key = resources.policy.key('c', 'shop');
  const current = policy({ name: 'c', policy_type: 'INGRESS', ingress_rule: [{}] });
  await processor.change({ resource: 'policy', key, current }, testSlices());
  assert.deepEqual(permitsOf(processor, 'db', 'ingress'), []);
  await setPod(processor, { name: 'db' });
  assert.deepEqual(permitsOf(processor, 'db', 'ingress'), ['any with 0.0.0.0/0 ::/0']);
  assert.equal(permitsOf(processor, 'db', 'egress'), 'open');
});

test('an adopted attachment whose pod is unknown is isolated by the policies of all namespaces', async () => {
  const unknown = podIdText(unknownPod);
  const processor = await processed({
    policies: [policy({ name: 'a', policy_type: 'INGRESS', ingress_rule: [{}] })],
    attachments: new Map([['c1', { pod: unknown, podUid: undefined, addresses: ['10.1.1.2'] }]]),
  });
  assert.deepEqual(permitsOf(processor, 'c1', 'ingress'), []);
  assert.equal(permitsOf(processor, 'c1', 'egress'), 'open');
  const key = resources.policy.key('b', 'other');
  const current = policy({ name: 'b', namespace: 'other', policy_type: 'EGRESS' });
  await processor.change({ resource: 'policy', key, current }, testSlices());
  assert.deepEqual(permitsOf(processor, 'c1', 'egress'), []);
});

test('the record of a predecessor says nothing about a pod: it is isolated, and no peer', async () => {
  const web = { name: 'web', labels: { app: 'web' }, uid: 'old' };
  const processor = await processed({
    pods: [db, pod(web)],
    policies: [fromWeb],
    attachments: attached(['db', '10.1.1.2'], ['web', '10.1.1.3', 'new']),
  });
  assert.deepEqual(permitsOf(processor, 'db', 'ingress'), []);
  assert.deepEqual(permitsOf(processor, 'web', 'ingress'), []);
  await setPod(processor, { ...web, uid: 'new' });
  assert.deepEqual(permitsOf(processor, 'db', 'ingress'), ['any with 10.1.1.3/32']);
});

test('a record that cannot be read says nothing about a pod: it is isolated, and no peer', async () => {
  const web = { name: 'web', labels: { app: 'web' } };
  const processor = await processed({
    pods: [db, pod(web)],
    policies: [fromWeb, policy({ name: 'other', pods: selector({ app: 'x' }) })],
    attachments: attached(['db', '10.1.1.2'], ['web', '10.1.1.3']),
  });
  assert.deepEqual(permitsOf(processor, 'db', 'ingress'), ['any with 10.1.1.3/32']);
  const key = resources.pod.key('web', 'shop');
  const current = closedPods.value({ name: 'web', namespace: 'shop' }, 'it is no object');
  await processor.change({ resource: 'pod', key, current }, testSlices());
  assert.deepEqual(permitsOf(processor, 'db', 'ingress'), []);
  assert.deepEqual(permitsOf(processor, 'web', 'ingress'), []);
  await setPod(processor, web);
  assert.deepEqual(permitsOf(processor, 'db', 'ingress'), ['any with 10.1.1.3/32']);
});

test('a record without uid, as the original writes it, is that of the pod', async () => {
  const processor = await processed({
    pods: [pod({ name: 'db', ips: ['10.1.1.2'] })],
    policies: [policy({ ingress_rule: [{}] })],
    attachments: attached(['db', '10.1.1.2', 'some']),
  });
  assert.deepEqual(permitsOf(processor, 'db', 'ingress'), ['any with 0.0.0.0/0 ::/0']);
});

test('two attachments of a pod are both peers, until each of them ends', async () => {
  const processor = await processed({
    pods: [db, pod({ name: 'web', labels: { app: 'web' } })],
    policies: [fromWeb],
    attachments,
  });
  const web = (address: string) => ({ pod: 'shop/web', podUid: undefined, addresses: [address] });
  await processor.setAttachment('web-1', web('10.1.1.4'), testSlices());
  await processor.setAttachment('web-2', web('10.1.1.5'), testSlices());
  assert.deepEqual(permitsOf(processor, 'db', 'ingress'), ['any with 10.1.1.4/31']);
  const ended = await processor.setAttachment('web-1', undefined, testSlices());
  assert.deepEqual([...ended.pods.keys()].sort(), ['db', 'web-1', 'web-2']);
  assert.deepEqual(permitsOf(processor, 'db', 'ingress'), ['any with 10.1.1.5/32']);
});

test('an IP block matches the addresses of pods as well, without its exceptions', async () => {
  const processor = await processed({
    pods: [db, pod({ name: 'web', ips: ['10.1.2.2'] })],
    policies: [policy({ ingress_rule: [{ from: [block('10.1.2.7/24', '10.1.2.2/32')] }] })],
    attachments,
  });
  const [permit] = processor.policies().get('db')!.ingress.rules;
  assert.equal(permit!.peers.has(0x0a010201), true);
  assert.equal(permit!.peers.has(0x0a010202), false);
});

test('a namespace has the label of its name, also without a record and against its record', async () => {
  const byName = (name: string) => namespaces({ 'kubernetes.io/metadata.name': name });
  const web = (space: string, address: string) =>
    pod({ name: 'web', namespace: space, ips: [address] });
  const processor = await processed({
    pods: [db, web('a', '10.1.2.2'), web('b', '10.1.2.3')],
    namespaces: [namespace('b', { 'kubernetes.io/metadata.name': 'a' })],
    policies: [policy({ ingress_rule: [{ from: [byName('a')] }, { from: [byName('b')] }] })],
    attachments,
  });
  assert.deepEqual(permitsOf(processor, 'db', 'ingress'), [
    'any with 10.1.2.2/32',
    'any with 10.1.2.3/32',
  ]);
});

test('a namespace that cannot be read is matched only by its name, and by a selector of all', async () => {
  const bySelector = (match_expression: object[]) => ({ namespaces: { match_expression } });
  const name = 'kubernetes.io/metadata.name';
  const peers = {
    env: namespaces({ env: 'test' }),
    'not prod': bySelector([{ key: 'env', operator: 'NOT_IN', value: ['prod'] }]),
    'no tier': bySelector([{ key: 'tier', operator: 'DOES_NOT_EXIST' }]),
    name: namespaces({ [name]: 'a' }),
    all: namespaces(),
  } as const;
  for (const [title, peer] of Object.entries(peers)) {
    const processor = await processed({
      pods: [db, pod({ name: 'web', namespace: 'a', ips: ['10.1.2.2'] })],
      namespaces: [namespace('a', { env: 'test' })],
      policies: [policy({ ingress_rule: [{ from: [peer] }] })],
      attachments,
    });
    const all = (permitsOf(processor, 'db', 'ingress') as string[]).join();
    assert.ok(all.includes('10.1.2.2/32'), title);
    const key = resources.namespace.key('a', '');
    const current = closedNamespaces.value({ name: 'a' }, 'it is no object');
    await processor.change({ resource: 'namespace', key, current }, testSlices());
    const after = permitsOf(processor, 'db', 'ingress') as string[];
    assert.equal(after.join().includes('10.1.2.2/32'), title === 'name' || title === 'all', title);
  }
});

test('a label of a namespace changes the pods of the policies that can see it, and no others', async () => {
  const processor = await processed({
    pods: [db, pod({ name: 'web', namespace: 'a', ips: ['10.1.2.2'] }), pod({ name: 'cache' })],
    policies: [
      policy({
        pods: { match_label: [{ key: 'app', value: 'db' }] },
        ingress_rule: [{ from: [namespaces({ team: 'x' })] }],
      }),
      policy({ name: 'all', ingress_rule: [{ from: [pods()] }] }),
    ],
    attachments: attached(['db', '10.1.1.2'], ['cache', '10.1.1.3']),
  });
  const key = resources.namespace.key('a', '');
  const label = (labels: Record<string, string>) =>
    processor.change({ resource: 'namespace', key, current: namespace('a', labels) }, testSlices());
  assert.deepEqual([...(await label({ team: 'x' })).pods.keys()], ['db']);
  assert.ok(permitsOf(processor, 'db', 'ingress').includes('any with 10.1.2.2/32'));
  assert.equal((await label({ team: 'x', more: 'y' })).pods.size, 0);
  assert.deepEqual([...(await label({})).pods.keys()], ['db']);
});
