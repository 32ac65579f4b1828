/** Policies of the API server that cannot be read, or whose records are too large, are records that isolate. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Logger, silentLogger } from '#infra/log/log.ts';
import { closedPolicies } from '#kubernetes/models/closed-policy.ts';
import { type Policy, policyModel } from '#kubernetes/models/policy.ts';
import { policy } from './support/objects.ts';
import { PREFIX, ReflectedCluster, type TestObject } from './support/reflected-cluster.ts';

const key = `${PREFIX}k8s/policy/web/namespace/default`;
const app = { match_label: [{ key: 'app', value: 'a' }], match_expression: [] };
const everything = { match_label: [], match_expression: [] };

function closedCluster() {
  const errors: string[] = [];
  const error = (fields: { name?: string }) => errors.push(fields.name ?? '');
  const cluster = new ReflectedCluster({ ...silentLogger, error } as unknown as Logger);
  const record = async (): Promise<Policy> => {
    await cluster.settle();
    return policyModel.parse(JSON.parse((await cluster.records()).get(key) ?? 'null'));
  };
  const table = () =>
    cluster.instance.reflector.records.find(({ name }) => name === 'NetworkPolicy')!.table;
  return { cluster, errors, record, table };
}

const withPeers = (peers: readonly object[]): TestObject => {
  const one = policy('web');
  return { ...one, spec: { ...(one['spec'] as object), ingress: [{ from: peers }] } };
};

describe('a policy that cannot be read', () => {
  it('has a record without the part, is named once and counted, until it can be read', async () => {
    const { cluster, errors, record, table } = closedCluster();
    const broken = withPeers([{ ipBlock: { cidr: 'anywhere' } }]);
    for (let lists = 0; lists < 3; lists++) {
      cluster.put(broken);
      cluster.list('NetworkPolicy');
      const { pods, ingress_rule, label } = await record();
      assert.deepEqual(pods, app);
      assert.deepEqual(JSON.parse(JSON.stringify(ingress_rule)), [{ port: [], from: [{}] }]);
      assert.match(label[0]?.value ?? '', /cidr "anywhere", must be a CIDR/);
      assert.deepEqual([errors, table().unreadable, table().size], [['default/web'], 1, 1]);
    }
    cluster.put(withPeers([{ ipBlock: { cidr: '10.0.0.0/8' } }]));
    assert.deepEqual((await record()).label, []);
    assert.equal(table().unreadable, 0);
  });

  it('isolates its namespace if its object is of another shape', async () => {
    const { cluster, errors, record, table } = closedCluster();
    cluster.put({
      ...policy('web'),
      metadata: { name: 'web', namespace: 'default', labels: 'none' as never },
    });
    const { pods, policy_type, ingress_rule } = await record();
    assert.deepEqual([pods, policy_type, ingress_rule], [everything, 'INGRESS_AND_EGRESS', []]);
    assert.deepEqual([errors, table().unreadable], [['default/web'], 1]);
  });

  it('isolates the pods that it selects if its record is too large for etcd', async () => {
    const { cluster, record, errors } = closedCluster();
    cluster.put(withPeers([{ ipBlock: { cidr: '10.0.0.0/8' } }]));
    await record();
    const blocks = Array.from({ length: 60_000 }, (_, at) => ({
      ipBlock: { cidr: `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}/32` },
    }));
    cluster.put(withPeers(blocks));
    const large = await record();
    assert.deepEqual([large.pods, large.ingress_rule], [app, []]);
    assert.match(closedPolicies.unreadableParts(large) ?? '', /etcd takes 1560000/);
    assert.deepEqual(errors, ['default/web']);
  });
});
