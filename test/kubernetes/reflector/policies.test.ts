/** NetworkPolicies that cannot be read, as a whole or in parts: none is more open than its object. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { closedPolicies } from '#kubernetes/models/closed-policy.ts';
import { type Policy, policyModel } from '#kubernetes/models/policy.ts';
import { readObject } from '#kubernetes/reflector/objects/object.ts';
import { type ReflectedObject, reflect } from '#kubernetes/reflector/reflect.ts';

const metadata = { name: 'web', namespace: 'shop' };

function recordOf(spec: unknown): Policy {
  const raw = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata };
  const { object, rejection } = readObject(spec === undefined ? raw : { ...raw, spec });
  assert.ok(object, rejection?.reason);
  const { reflected } = reflect(object as ReflectedObject, 'mixed');
  assert.ok(reflected);
  // what an agent reads
  return policyModel.parse(
    JSON.parse(JSON.stringify(policyModel.toJson(reflected.value as Policy))),
  );
}

const closedRule = policyModel.canonical({ ingress_rule: [{ from: [{}] }] }).ingress_rule[0];
const podSelector = { matchLabels: { app: 'web' } };
const web = { match_label: [{ key: 'app', value: 'web' }], match_expression: [] };
const ingress = (rule: unknown) => ({ podSelector, policyTypes: ['Ingress'], ingress: [rule] });

test('leading zeros are decimals, as for the API server', () => {
  const { ingress_rule, label } = recordOf(
    ingress({
      from: [
        { ipBlock: { cidr: '192.168.010.0/24' } },
        { ipBlock: { cidr: '10.0.0.0/08', except: ['010.1.0.0/16'] } },
        { ipBlock: { cidr: '::ffff:10.2.0.0/112' } },
      ],
    }),
  );
  assert.deepEqual(
    ingress_rule[0]?.from.map(({ ip_block }) => ip_block),
    [
      { cidr: '192.168.10.0/24', except: [] },
      { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] },
      { cidr: '10.2.0.0/16', except: [] },
    ],
  );
  assert.deepEqual(label, []);
});

test('a policy without a specification isolates all pods of its namespace', () => {
  for (const spec of [undefined, null, {}]) {
    const { pods, policy_type, ingress_rule, egress_rule } = recordOf(spec);
    assert.deepEqual([pods, policy_type], [{ match_label: [], match_expression: [] }, 'DEFAULT']);
    assert.deepEqual([ingress_rule, egress_rule], [[], []]);
  }
});

test('what cannot be read of a rule permits nothing; the rest counts', () => {
  const good = { podSelector };
  const cases: [rule: unknown, from: unknown, reason: RegExp][] = [
    [{ from: [{}, good] }, [{}, { pods: web }], /from\[0\] has none of podSelector/],
    [{ from: [{ ipBlock: { cidr: '10.0.0.0' } }] }, [{}], /cidr "10\.0\.0\.0", must be a CIDR/],
    [{ from: [{ ipBlock: { cidr: '10.0.0.0/8' }, ...good }] }, [{}], /ipBlock together with/],
    [
      { from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['11.0.0.0/16'] } }] },
      [{}],
      /except\[0\] "11\.0\.0\.0\/16", must lie within 10\.0\.0\.0\/8/,
    ],
    [
      { from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.0.0.0/8'] } }] },
      [{}],
      /must lie within/,
    ],
    [{ from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['::/96'] } }] }, [{}], /must lie within/],
    [
      { from: [{ podSelector, serviceAccounts: ['a'] }] },
      [{}],
      /serviceAccounts is \["a"\], an unknown field/,
    ],
    [
      { from: [{ podSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } }] },
      [{}],
      /operator In must have values/,
    ],
    [
      {
        from: [
          { podSelector: { matchExpressions: [{ key: 'a', operator: 'Gt', values: ['1'] }] } },
        ],
      },
      [{}],
      /must be one of In, NotIn/,
    ],
    [{ from: 'all' }, [{}], /ingress\[0\]\.from is "all"/],
    [{ from: [good], when: 'daytime' }, [{}], /ingress\[0\]\.when is "daytime", an unknown field/],
    ['all', [{}], /ingress\[0\] is "all"/],
    [{ ports: [{ port: 'http', endPort: 90 }] }, [{}], /has endPort without a numeric port/],
    [{ ports: [{ port: 100, endPort: 90 }] }, [{}], /has endPort 90 below port 100/],
    [{ ports: [{ port: '80' }] }, [{}], /ports\[0\] names the port "80"/],
    [{ ports: [{ protocol: 'QUIC', port: 80 }], from: [good] }, [{}], /must be one of TCP/],
    [{ ports: [{ port: 70_000 }], from: [good] }, [{}], /ports\[0\]\.port is 70000/],
  ];
  for (const [rule, from, reason] of cases) {
    const record = recordOf(ingress(rule));
    const read = record.ingress_rule[0];
    assert.deepEqual(JSON.parse(JSON.stringify(read?.from)), from, String(reason));
    assert.match(closedPolicies.unreadableParts(record) ?? 'nothing', reason);
    assert.deepEqual([record.pods, record.policy_type], [web, 'INGRESS']);
  }
  const { ingress_rule } = recordOf(ingress({ ports: [{ port: 80 }, { port: -1 }] }));
  assert.deepEqual(
    ingress_rule[0]?.port.map(({ port }) => port?.number),
    [80],
  );
});

test('what cannot be read of the selector or the directions isolates more', () => {
  const rule = { from: [{ podSelector }] };
  const everything = { match_label: [], match_expression: [] };
  const cases: [spec: object, pods: object, type: string][] = [
    [{ podSelector: { matchFields: {} }, ingress: [rule] }, everything, 'DEFAULT'],
    [{ podSelector, policyTypes: ['Inbound'], ingress: [rule] }, web, 'INGRESS_AND_EGRESS'],
    [{ podSelector, tier: 'admin', ingress: [rule] }, web, 'INGRESS_AND_EGRESS'],
    [{ podSelector, policyTypes: ['Ingress'], ingress: 'all' }, web, 'INGRESS'],
  ];
  for (const [spec, pods, type] of cases) {
    const record = recordOf(spec);
    assert.deepEqual([record.pods, record.policy_type], [pods, type]);
    assert.ok(closedPolicies.unreadableParts(record));
  }
  const [first] = recordOf({ podSelector: 1, ingress: [rule] }).ingress_rule;
  assert.deepEqual(first, closedRule);
});

/** A tree of which one part, anywhere, is replaced. */
interface Corruption {
  readonly at: number;
  readonly by: unknown;
}

function corrupted(tree: unknown, { at, by }: Corruption): unknown {
  let count = 0;
  const visit = (node: unknown): unknown => {
    if (count++ === at) return by;
    if (Array.isArray(node)) return node.map(visit);
    if (typeof node !== 'object' || node === null) return node;
    return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, visit(value)]));
  };
  return visit(tree);
}

test('whatever is in a part of a policy: it isolates the same pods, and permits no more', () => {
  const peers = [
    { podSelector },
    {
      namespaceSelector: podSelector,
      podSelector: { matchExpressions: [{ key: 'a', operator: 'Exists' }] },
    },
    { ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } },
  ];
  const ports = [{ protocol: 'UDP', port: 53 }, { port: 'http' }, { port: 1000, endPort: 2000 }];
  const spec = {
    podSelector,
    policyTypes: ['Ingress', 'Egress'],
    ingress: [{ ports, from: peers }],
    egress: [{ ports, to: peers }],
  };
  const junk = fc.oneof(
    // what means everything in its place is no junk
    fc.anything({ withNullPrototype: false }).filter((one) => one !== null && one !== undefined),
    fc.constantFrom('', '\ud800', '__proto__', -1, 1e99, [[]], [{}], { podSelectors: {} }),
  );
  const meansEverything = (by: unknown): boolean => {
    if (by === null || by === undefined) return true;
    if (Array.isArray(by)) return by.length === 0 || by.some(meansEverything);
    return typeof by === 'object' && Object.values(by).every((one) => (one ?? null) === null);
  };
  fc.assert(
    fc.property(fc.nat(70), junk, (at, by) => {
      fc.pre(!meansEverything(by));
      const record = recordOf({ corrupted: corrupted(spec, { at: at + 1, by }) }.corrupted);
      if (record.pods?.match_label.length === 0)
        assert.equal(record.pods.match_expression.length, 0, 'all pods');
      for (const [rules, field] of [
        [record.ingress_rule, 'from'],
        [record.egress_rule, 'to'],
      ] as const)
        for (const rule of rules) {
          const named = (rule as unknown as Record<string, readonly object[]>)[field] ?? [];
          assert.ok(named.length > 0, `${field} everyone: ${JSON.stringify(record)}`);
          const isNobody = named.every((peer) => Object.keys(peer).length === 0);
          assert.ok(rule.port.length > 0 || isNobody, `every port: ${JSON.stringify(record)}`);
        }
    }),
    { numRuns: 2000 },
  );
});
