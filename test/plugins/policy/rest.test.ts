import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PolicyPodDocument } from '#documents/policies.ts';
import { systemClock } from '#infra/clock/system.ts';
import type { Policy } from '#kubernetes/models/policy.ts';
import { policyModel } from '#kubernetes/models/policy.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { DeepInput } from '#models/model.ts';
import { policyRoutes } from '#plugins/policy/rest.ts';
import { startedNode } from '../ipv4net/wired-node.ts';
import { addressOf, type KubeValue, podValue, type TestNode } from '../test-node.ts';
import { ask } from './asked-route.ts';

function policyValue(name: string, more: DeepInput<Policy>): KubeValue {
  const value = policyModel.canonical({ name, namespace: 'default', pods: {}, ...more });
  return { resource: 'policy', key: resources.policy.key(name, 'default'), value };
}

async function nodeWithPods(): Promise<TestNode> {
  const node = await startedNode();
  const web = addressOf(await node.add('web', 'c1'));
  await node.put(podValue('web', web));
  const db = addressOf(await node.add('db', 'c2'));
  await node.put(podValue('db', db));
  await node.put(
    policyValue('closed', {
      policy_type: 'INGRESS',
      ingress_rule: [
        { from: [{ ip_block: { cidr: '192.0.2.0/24' } }], port: [{ port: { number: 80 } }] },
        { port: [{ port: { type: 'NAME', name: 'absent' } }] },
      ],
    }),
  );
  return node;
}

function routesOf(node: TestNode, actual: ReadonlyMap<string, object> = new Map()) {
  return policyRoutes({
    policies: node.policies,
    clock: systemClock,
    stateOf: (key) =>
      actual.has(key) ? { state: 'CONFIGURED' } : { state: 'FAILED', error: 'no memory' },
    readActual: async (keys) => new Map([...actual].filter(([key]) => keys.has(key))),
  });
}

const ONE = '/contiv/v1/policy/pods/:namespace/:name';

describe('GET /contiv/v1/policy/pods', () => {
  it('lists the pods of this node with the policies that isolate them, and the state of their ACLs', async () => {
    const node = await nodeWithPods();
    const { status, body } = await ask(routesOf(node), 'GET /contiv/v1/policy/pods');
    assert.equal(status, 200);
    const [db, web] = body as { name: string; values: { key: string }[] }[];
    assert.deepEqual([db!.name, web!.name], ['default/db', 'default/web']);
    const { values, ...rest } = web!;
    assert.deepEqual(rest, {
      name: 'default/web',
      attachment: 'c1/eth0',
      addresses: node.ipam.podAddresses('c1/eth0'),
      ingress: ['default/closed'],
      egress: [],
      notAsDefined: ['default/closed'],
    });
    assert.deepEqual(values, [
      ...[...node.policies.valuesOf('c1/eth0').keys()].map((key) => ({
        key,
        state: 'FAILED',
        error: 'no memory',
      })),
    ]);
    assert.ok(values.length >= 1);
  });
});

describe('GET /contiv/v1/policy/pods/<namespace>/<name>', () => {
  const one = async (node: TestNode, name: string, actual?: ReadonlyMap<string, object>) =>
    ask(routesOf(node, actual), `GET ${ONE}`, { params: { namespace: 'default', name } });

  it('shows what each rule permits, and the ACLs as desired and as in VPP', async () => {
    const node = await nodeWithPods();
    const desired = node.policies.valuesOf('c1/eth0');
    const [key] = [...desired.keys()];
    const { status, body } = await one(node, 'web', new Map([[key!, { name: 'read' }]]));
    assert.equal(status, 200);
    const { attachments, renderer } = body as PolicyPodDocument;
    assert.equal(renderer, 'acl');
    assert.equal(attachments.length, 1);
    const closed = { tier: 'NetworkPolicy', policy: 'default/closed' };
    assert.deepEqual(attachments[0]!.ingress, {
      policies: ['default/closed'],
      rules: [
        {
          ...closed,
          action: 'Accept',
          rule: 0,
          text: 'accepted by default/closed, spec.ingress[0]',
          peers: ['192.0.2.0/24'],
          ports: 'TCP 80',
        },
        {
          ...closed,
          action: 'Deny',
          rule: null,
          text: 'denied by default/closed, whose rules do not permit it',
          peers: ['0.0.0.0/0', '::/0'],
          ports: 'any',
        },
      ],
    });
    assert.deepEqual(attachments[0]!.egress, { policies: [], rules: [] });
    const [first, ...others] = attachments[0]!.values;
    assert.deepEqual(first, {
      key,
      state: 'CONFIGURED',
      desired: JSON.parse(JSON.stringify(desired.get(key!))),
      actual: { name: 'read' },
    });
    for (const { state, actual } of others) assert.deepEqual([state, actual], ['FAILED', null]);
    assert.deepEqual(
      node.at(key!),
      desired.get(key!),
      'the desired value is the one of the configuration',
    );
  });

  it('shows the problems of the policies that isolate the pod', async () => {
    const { body } = await one(await nodeWithPods(), 'web');
    const { problems, limits } = body as PolicyPodDocument;
    assert.deepEqual(Object.keys(problems), ['default/closed']);
    assert.match(problems['default/closed']!.join(), /"absent"/);
    assert.deepEqual(limits, {});
  });

  it('answers 404 for an unknown pod and for one of another node', async () => {
    const node = await nodeWithPods();
    await node.put(podValue('remote', '10.1.2.2', '172.16.0.6'));
    for (const name of ['unknown', 'remote'])
      assert.deepEqual(await one(node, name), {
        status: 404,
        body: { Error: `pod default/${name} is not attached to the network of this node` },
      });
  });
});
