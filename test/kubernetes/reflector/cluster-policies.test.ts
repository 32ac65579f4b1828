/** ClusterNetworkPolicies as records: what cannot be read, or is not supported, fails closed as the API says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ClusterNetworkPolicy,
  clusterNetworkPolicyModel,
} from '#kubernetes/models/cluster-network-policy.ts';
import { readObject } from '#kubernetes/reflector/objects/object.ts';
import { type ReflectedObject, reflect } from '#kubernetes/reflector/reflect.ts';

const versions = ['v1beta1', 'v1alpha2'];

function recordOf(spec: unknown, version = 'v1beta1'): ClusterNetworkPolicy {
  const { object, rejection } = readObject({
    apiVersion: `policy.networking.k8s.io/${version}`,
    kind: 'ClusterNetworkPolicy',
    metadata: { name: 'admin' },
    spec,
  });
  assert.ok(object, rejection?.reason);
  const { reflected } = reflect(object as ReflectedObject, 'own');
  assert.equal(reflected?.key, 'k8s/clusternetworkpolicy/admin');
  // what an agent reads
  const value = reflected.value as ClusterNetworkPolicy;
  return clusterNetworkPolicyModel.parse(
    JSON.parse(JSON.stringify(clusterNetworkPolicyModel.toJson(value))),
  );
}

const base = { tier: 'Admin', priority: 5, subject: { namespaces: {} } };
const everything = { match_label: [], match_expression: [] };
const rule = (fields: object) => ({ action: 'Deny', to: [{ namespaces: {} }], ...fields });
const egressOf = (fields: object) => recordOf({ ...base, egress: [rule(fields)] });

test('both versions give the same record', () => {
  const spec = {
    tier: 'Baseline',
    priority: 1000,
    subject: {
      pods: {
        namespaceSelector: { matchLabels: { team: 'a' } },
        podSelector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] },
      },
    },
    ingress: [
      {
        name: 'web',
        action: 'Accept',
        from: [{ namespaces: { matchLabels: { team: 'b' } } }],
        protocols: [
          { tcp: { destinationPort: { number: 80 } } },
          { udp: { destinationPort: { range: { start: 53, end: 54 } } } },
          { sctp: {} },
          { destinationNamedPort: 'http' },
        ],
      },
    ],
    egress: [{ action: 'Pass', to: [{ nodes: {} }, { networks: ['10.0.0.0/8', 'fd00::/8'] }] }],
  };
  const [beta, alpha] = versions.map((version) => recordOf(spec, version));
  assert.deepEqual(beta, alpha);
  assert.deepEqual([beta!.tier, beta!.priority, beta!.unreadable], ['BASELINE', 1000, '']);
  assert.deepEqual(beta!.subject, {
    namespaces: { match_label: [{ key: 'team', value: 'a' }], match_expression: [] },
    pods: { match_label: [], match_expression: [{ key: 'app', operator: 'EXISTS', value: [] }] },
  });
  assert.deepEqual(
    beta!.ingress[0]?.port.map(({ protocol, first, last, name }) => [protocol, first, last, name]),
    [
      ['TCP', 80, 80, ''],
      ['UDP', 53, 54, ''],
      ['SCTP', 0, 0, ''],
      ['TCP', 0, 0, 'http'],
    ],
  );
  assert.deepEqual(
    [...beta!.egress[0]!.peer],
    [{ nodes: everything }, { networks: { cidr: ['10.0.0.0/8', 'fd00::/8'] } }],
  );
});

test('a rule with a part that is unknown, invalid or not supported is closed, and named', () => {
  const cases: [fields: object, reason: RegExp][] = [
    [{ to: [{ domainNames: ['example.org'] }] }, /egress\[0\]\.to\[0\] has domainNames, which/],
    [{ to: [{ namespaces: {} }, {}] }, /to\[1\] has no field that is known/],
    [{ to: [{ serviceAccounts: {} }] }, /to\[0\]/],
    [{ to: [{ networks: ['10.0.0.0/33'] }] }, /"10\.0\.0\.0\/33", must be a CIDR/],
    [{ to: [{ namespaces: {}, nodes: {} }] }, /has several of/],
    [{ to: [] }, /spec\.egress\[0\]\.to/],
    [{ protocols: [] }, /protocols/],
    [{ protocols: [{ icmp: {} }] }, /protocols\[0\]/],
    [{ protocols: [{}] }, /protocols\[0\] has no field that is known/],
    [{ protocols: [{ tcp: { destinationPort: { number: 0 } } }] }, /protocols\[0\]/],
    [
      { protocols: [{ tcp: { destinationPort: { range: { start: 9, end: 8 } } } }] },
      /ends before it starts/,
    ],
    [{ to: [{ nodes: {} }], protocols: [{ destinationNamedPort: 'http' }] }, /no named ports/],
    [{ schedule: 'weekends' }, /egress\[0\]/],
  ];
  for (const [fields, reason] of cases) {
    for (const [action, expected] of [
      ['Accept', 'ACCEPT'],
      ['Deny', 'DENY'],
      ['Pass', 'PASS'],
    ] as const) {
      const { egress, unreadable } = egressOf({ action, ...fields });
      assert.match(unreadable, reason);
      assert.deepEqual(
        egress.map((one) => [one.action, one.closed, one.peer]),
        [[expected, true, []]],
        JSON.stringify(fields),
      );
    }
  }
});

test('a rule of an unknown action denies all', () => {
  const { egress } = egressOf({ action: 'Log' });
  assert.deepEqual([egress[0]?.action, egress[0]?.closed], ['DENY', true]);
});

test('without a readable subject the rules are closed for all pods', () => {
  for (const subject of [{}, undefined, { namespaces: {}, pods: {} }, { services: {} }]) {
    const record = recordOf({ ...base, subject, egress: [rule({}), rule({ action: 'Accept' })] });
    assert.equal(record.subject, undefined);
    assert.deepEqual(
      record.egress.map(({ action, closed }) => [action, closed]),
      [
        ['DENY', true],
        ['ACCEPT', true],
      ],
    );
    assert.match(record.unreadable, /spec\.subject/);
  }
});

test('without a readable tier or priority the pods of the subject are denied all', () => {
  for (const spec of [
    { ...base, tier: 'Other' },
    { ...base, priority: 1001 },
    { ...base, mode: 'audit' },
  ]) {
    const record = recordOf(spec);
    assert.deepEqual(record.subject, { namespaces: everything, pods: everything });
    assert.deepEqual([record.tier, record.priority], ['ADMIN', 0]);
    for (const rules of [record.ingress, record.egress])
      assert.deepEqual(
        rules.map(({ action, closed }) => [action, closed]),
        [['DENY', true]],
      );
  }
  assert.equal(recordOf('none').subject, undefined);
});
