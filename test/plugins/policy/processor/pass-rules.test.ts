/** A Pass of a policy of the cluster, while it is unknown whether its peers are among those that it passes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resources } from '#kubernetes/resources/resources.ts';
import type { PolicyProcessor } from '#plugins/policy/processor/policy-processor.ts';
import {
  attached,
  clusterPolicy,
  namespace,
  node,
  plainRules,
  pod,
  processed,
  selector,
  testSlices,
} from '../policy-objects.ts';

type Peer = NonNullable<NonNullable<Parameters<typeof clusterPolicy>[0]>['egress']>[number]['peer'];
type Port = NonNullable<NonNullable<Parameters<typeof clusterPolicy>[0]>['egress']>[number]['port'];

const ACCEPT = 'Admin Accept admin#1: any with 0.0.0.0/0';

/** Passes the peers, and accepts all else. */
const clusterWith = (peer: Peer, port: Port = []) =>
  processed({
    pods: [
      pod({ name: 'db', ips: ['10.1.1.2'] }),
      pod({ name: 'web', namespace: 'front', ips: ['10.1.2.2'], ports: ['http TCP 8080'] }),
    ],
    namespaces: [namespace('shop', {})],
    nodes: [node('edge', ['10.20.0.5'])],
    clusterPolicies: [
      clusterPolicy({
        subject: {
          namespaces: selector({ 'kubernetes.io/metadata.name': 'shop' }),
          pods: {},
        },
        egress: [
          { action: 'PASS', peer, port },
          { action: 'ACCEPT', peer: [{ networks: { cidr: ['0.0.0.0/0'] } }] },
        ],
      }),
    ],
    attachments: attached(['db', '10.1.1.2'], ['new', '10.1.1.3']),
  });

const rulesOf = (processor: PolicyProcessor): readonly string[] => {
  const { rules } = plainRules(processor.policies().get('db')!.egress) as { rules: string[] };
  return rules;
};

const put = (processor: PolicyProcessor, name: string, labels: Record<string, string>) =>
  processor.change(
    {
      resource: 'namespace',
      key: resources.namespace.key(name, ''),
      current: namespace(name, labels),
    },
    testSlices(),
  );

test('pods of a namespace without a record are denied until it is known', async () => {
  const peer = [{ pods: { namespaces: selector({ team: 'a' }), pods: {} } }];
  const processor = await clusterWith(peer);
  // and the attached pod without an object
  const denied = 'Admin Deny admin#0: any with 10.1.1.3/32 10.1.2.2/32';
  assert.deepEqual(rulesOf(processor), [denied, ACCEPT]);
  await put(processor, 'front', { team: 'a' });
  assert.deepEqual(rulesOf(processor), [
    'Admin Pass admin#0: any with 10.1.2.2/32',
    denied,
    ACCEPT,
  ]);
  await put(processor, 'front', { team: 'b' });
  assert.deepEqual(rulesOf(processor), [denied.replace(' 10.1.2.2/32', ''), ACCEPT]);
  await processor.setAttachment('new', undefined, testSlices());
  assert.deepEqual(rulesOf(processor), [ACCEPT]);
});

test('a named port of an unknown pod may be any of its ports', async () => {
  const peer = [{ pods: { namespaces: {}, pods: {} } }];
  const processor = await clusterWith(peer, [{ name: 'http' }]);
  await put(processor, 'front', {});
  const pass = 'Admin Pass admin#0: TCP 8080 with 10.1.2.2/32';
  const rules = rulesOf(processor);
  assert.equal(rules[0], pass);
  assert.equal(rules.at(-1), ACCEPT);
  assert.ok(
    rules.includes('Admin Deny admin#0: TCP 1-65535 with 10.1.1.3/32'),
    `denied: ${rules.join('; ')}`,
  );
  await processor.setAttachment('new', undefined, testSlices());
  assert.deepEqual(rulesOf(processor), [pass, ACCEPT]);
});

test('nodes whose labels are unknown are denied', async () => {
  const processor = await clusterWith([{ nodes: selector({ role: 'edge' }) }]);
  assert.deepEqual(rulesOf(processor), ['Admin Deny admin#0: any with 10.20.0.5/32', ACCEPT]);
  const known = (role: string) =>
    processor.change(
      {
        resource: 'node',
        key: resources.node.key('edge', ''),
        current: node('edge', ['10.20.0.5'], { role }),
      },
      testSlices(),
    );
  await known('edge');
  assert.deepEqual(rulesOf(processor), ['Admin Pass admin#0: any with 10.20.0.5/32', ACCEPT]);
  await known('inner');
  assert.deepEqual(rulesOf(processor), [ACCEPT]);
});
