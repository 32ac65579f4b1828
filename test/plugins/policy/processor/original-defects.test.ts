/** The defects of the original's policies, several of which let traffic through that a policy forbids. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resources } from '#kubernetes/resources/resources.ts';
import {
  attached,
  block,
  namespace,
  namespaces,
  permitsOf,
  pod,
  pods,
  policy,
  processed,
  selector,
  testSlices,
} from '../policy-objects.ts';

const db = pod({ name: 'db', labels: { app: 'db' }, ips: ['10.1.1.2'], ports: ['sql TCP 5432'] });
const web = pod({ name: 'web', labels: { app: 'web' }, ips: ['10.1.2.2'], ports: ['http TCP 80'] });
const attachments = attached(['db', '10.1.1.2']);

const tcp80 = [{ port: { number: 80 } }];

test('a peer with both selectors is the pods of the namespaces, not those of the own one', async () => {
  const peer = {
    pods_in_namespaces: { pods: selector({ app: 'web' }), namespaces: selector({ team: 'a' }) },
  };
  const processor = await processed({
    pods: [
      db,
      web,
      pod({ name: 'web', namespace: 'other', labels: { app: 'web' }, ips: ['10.1.2.3'] }),
      pod({ name: 'db', namespace: 'other', labels: { app: 'db' }, ips: ['10.1.2.4'] }),
    ],
    namespaces: [namespace('shop'), namespace('other', { team: 'a' })],
    policies: [policy({ ingress_rule: [{ from: [peer], port: tcp80 }] })],
    attachments,
  });
  assert.deepEqual(permitsOf(processor, 'db', 'ingress'), ['TCP 80 with 10.1.2.3/32']);
});

test('a port without a number is every port of its protocol', async () => {
  const processor = await processed({
    pods: [db, web],
    policies: [policy({ ingress_rule: [{ from: [pods()], port: [{ protocol: 'UDP' }] }] })],
    attachments,
  });
  assert.deepEqual(permitsOf(processor, 'db', 'ingress'), [
    'UDP 1-65535 with 10.1.1.2/32 10.1.2.2/32',
  ]);
});

test('a port of SCTP is not one of TCP', async () => {
  const processor = await processed({
    pods: [db],
    policies: [policy({ ingress_rule: [{ port: [{ protocol: 'SCTP', port: { number: 80 } }] }] })],
    attachments,
  });
  assert.deepEqual(permitsOf(processor, 'db', 'ingress'), ['SCTP 80 with 0.0.0.0/0 ::/0']);
});

test('a range of ports is one, not only its first port', async () => {
  const processor = await processed({
    pods: [db],
    policies: [policy({ egress_rule: [{ port: [{ port: { number: 80 }, end_port: 90 }] }] })],
    attachments,
  });
  assert.deepEqual(permitsOf(processor, 'db', 'egress'), ['TCP 80-90 with 0.0.0.0/0 ::/0']);
});

test('a policy without types with egress rules isolates both directions', async () => {
  const processor = await processed({
    pods: [db, web],
    policies: [policy({ egress_rule: [{ to: [pods({ app: 'web' })] }] })],
    attachments,
  });
  assert.deepEqual(permitsOf(processor, 'db', 'ingress'), []);
  assert.deepEqual(permitsOf(processor, 'db', 'egress'), ['any with 10.1.2.2/32']);
});

test('a name of a port that the pod lacks permits nothing, not all ports', async () => {
  const http = { port: { type: 'NAME', name: 'http' } } as const;
  const processor = await processed({
    pods: [db, web],
    policies: [policy({ ingress_rule: [{ from: [pods()], port: [http] }] })],
    attachments,
  });
  assert.deepEqual(permitsOf(processor, 'db', 'ingress'), []);
  assert.deepEqual(processor.problems().get('shop/web'), [
    'ingress rule 0: no selected pod of this node has a container port "http" (TCP)',
  ]);
});

test('an egress rule with only names permits the named ports of each peer, not all ports', async () => {
  const names = ['http', 'dns'].map((name) => ({ port: { type: 'NAME' as const, name } }));
  const processor = await processed({
    pods: [
      db,
      web,
      pod({ name: 'web-2', labels: { app: 'web' }, ips: ['10.1.2.3'], ports: ['http TCP 8080'] }),
      pod({ name: 'web-3', labels: { app: 'web' }, ips: ['10.1.2.4'], ports: ['http UDP 80'] }),
    ],
    policies: [policy({ egress_rule: [{ to: [pods({ app: 'web' })], port: names }] })],
    attachments,
  });
  assert.deepEqual(permitsOf(processor, 'db', 'egress'), [
    'TCP 80 with 10.1.2.2/32',
    'TCP 8080 with 10.1.2.3/32',
  ]);
  // one of the names is enough
  assert.equal(processor.problems().get('shop/web'), undefined);
});

test('a named port of an ingress rule is resolved for each pod of the policy', async () => {
  const http = { port: { type: 'NAME', name: 'http' } } as const;
  const processor = await processed({
    pods: [
      pod({ name: 'a', ips: ['10.1.1.2'], ports: ['http TCP 80'] }),
      pod({ name: 'b', ips: ['10.1.1.3'], ports: ['http TCP 8080'] }),
    ],
    policies: [policy({ ingress_rule: [{ from: [block('0.0.0.0/0')], port: [http] }] })],
    attachments: attached(['a', '10.1.1.2'], ['b', '10.1.1.3']),
  });
  assert.deepEqual(permitsOf(processor, 'a', 'ingress'), ['TCP 80 with 0.0.0.0/0']);
  assert.deepEqual(permitsOf(processor, 'b', 'ingress'), ['TCP 8080 with 0.0.0.0/0']);
});

for (const [form, peer] of [
  ['labels', pods({ app: 'web' })],
  [
    'an expression',
    { pods: { match_expression: [{ key: 'app', operator: 'IN', value: ['web', 'x'] }] } },
  ],
  [
    'a negative expression',
    { pods: { match_expression: [{ key: 'app', operator: 'NOT_IN', value: ['db', 'cache'] }] } },
  ],
] as const) {
  test(`a policy whose peers have ${form} learns at once that a pod becomes and ceases to be one`, async () => {
    const cache = (app: string) => pod({ name: 'cache', labels: { app }, ips: ['10.1.2.9'] });
    const processor = await processed({
      pods: [db, cache('cache')],
      policies: [policy({ ingress_rule: [{ from: [peer] }] })],
      attachments,
    });
    const change = (app: string) =>
      processor.change(
        { resource: 'pod', key: resources.pod.key('cache', 'shop'), current: cache(app) },
        testSlices(),
      );
    assert.deepEqual(permitsOf(processor, 'db', 'ingress'), []);
    assert.deepEqual([...(await change('web')).pods.keys()], ['db']);
    assert.deepEqual(permitsOf(processor, 'db', 'ingress'), ['any with 10.1.2.9/32']);
    assert.deepEqual([...(await change('cache')).pods.keys()], ['db']);
    assert.deepEqual(permitsOf(processor, 'db', 'ingress'), []);
  });
}

test('a label that is set on a pod makes policies select it at once, whatever its address', async () => {
  const processor = await processed({
    pods: [db],
    policies: [policy({ pods: selector({ isolated: 'yes' }) })],
    attachments,
  });
  assert.equal(permitsOf(processor, 'db', 'ingress'), 'open');
  const current = pod({ name: 'db', labels: { isolated: 'yes' }, ips: ['10.1.1.2'] });
  const key = resources.pod.key('db', 'shop');
  await processor.change({ resource: 'pod', key, current }, testSlices());
  assert.deepEqual(permitsOf(processor, 'db', 'ingress'), []);
});

test('an empty selector of namespaces selects kube-system, too', async () => {
  const processor = await processed({
    pods: [db, pod({ name: 'dns', namespace: 'kube-system', ips: ['10.1.2.5'] })],
    policies: [policy({ ingress_rule: [{ from: [namespaces()] }] })],
    attachments,
  });
  assert.deepEqual(permitsOf(processor, 'db', 'ingress'), ['any with 10.1.1.2/32 10.1.2.5/32']);
});

test('a policy without ingress rules denies all; a pod that changes elsewhere does not concern it', async () => {
  const processor = await processed({
    pods: [db, web],
    policies: [policy({ policy_type: 'INGRESS' })],
    attachments,
  });
  assert.deepEqual(permitsOf(processor, 'db', 'ingress'), []);
  assert.equal(permitsOf(processor, 'db', 'egress'), 'open');
  const key = resources.pod.key('web', 'shop');
  const change = await processor.change({ resource: 'pod', key, current: undefined }, testSlices());
  assert.equal(change.pods.size, 0);
});

test('an invalid policy permits nothing and is reported; the others are not affected', async () => {
  const invalid = policy({
    name: 'invalid',
    ingress_rule: [
      { from: [block('10.0.0.0/33'), block('10.0.0.0/8', '10.1.1.300/32'), pods({ app: 'web' })] },
    ],
  });
  const processor = await processed({
    pods: [db, web],
    policies: [invalid, policy({ ingress_rule: [{ from: [block('10.2.0.0/16')] }] })],
    attachments,
  });
  assert.deepEqual(permitsOf(processor, 'db', 'ingress'), [
    'any with 10.1.2.2/32',
    'any with 10.2.0.0/16',
  ]);
  assert.deepEqual(
    [...processor.problems()],
    [
      [
        'shop/invalid',
        [
          'ingress rule 0: peer 0 permits nothing: "10.0.0.0/33" is not a CIDR',
          'ingress rule 0: peer 1 permits nothing: "10.1.1.300/32" is not a CIDR',
        ],
      ],
    ],
  );
});

test('a pod in the network of the host is neither isolated nor selected as a peer', async () => {
  const host = { hostIp: '172.16.0.1' };
  const processor = await processed({
    pods: [
      db,
      pod({ name: 'proxy', labels: { app: 'web' }, ips: ['172.16.0.1'], ...host }),
      pod({ name: 'dual', labels: { app: 'web' }, ips: ['172.16.0.1', 'fd00:16::1'], ...host }),
    ],
    policies: [policy({ ingress_rule: [{ from: [pods({ app: 'web' })] }] })],
    attachments,
  });
  assert.deepEqual([...processor.policies().keys()], ['db']);
  assert.deepEqual(permitsOf(processor, 'db', 'ingress'), []);
});

test('a pod with an address of IPv6, or outside of the subnet of this node, is isolated', async () => {
  const processor = await processed({
    pods: [db, web],
    policies: [policy({ policy_type: 'INGRESS' })],
    attachments: attached(['db', 'fd00:1::2'], ['web', '192.0.2.5']),
  });
  assert.deepEqual(permitsOf(processor, 'db', 'ingress'), []);
  assert.deepEqual(permitsOf(processor, 'web', 'ingress'), []);
});
