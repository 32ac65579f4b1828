/** Seen connections beside policies: what a change refuses, which permissions are used, and policies from what was seen. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { flowPolicyRoutes } from '#cmd/agent/flow-policies/routes.ts';
import { reflectedObject } from '#cmd/agent/reflected-object.ts';
import type { FlowPlan, SeenPolicies } from '#documents/flow-policies.ts';
import type { Flow, FlowEnd } from '#documents/flows.ts';
import { ManualClock } from '#infra/clock/manual.ts';
import { rfc3339 } from '#infra/clock/rfc3339.ts';
import { suggestPolicies, unusedPermissions } from '#netctl/suggestions/suggested-policies.ts';
import { ask } from '../../plugins/policy/asked-route.ts';
import {
  attached,
  type Cluster,
  emptyCluster,
  kubeState,
  namespace,
  pod,
  pods as podsPeer,
  policy,
  selector,
} from '../../plugins/policy/policy-objects.ts';

const addresses = {
  'shop/web': '10.1.1.2',
  'shop/db': '10.1.1.3',
  'shop/cache': '10.1.1.4',
  'ops/probe': '10.1.2.2',
};
type Name = keyof typeof addresses;
const clock = new ManualClock();

function end(name: Name | 'outside' | 'service', port: number): FlowEnd {
  if (name === 'outside')
    return { address: '198.51.100.7', port, kind: 'outside', name: '', workload: '' };
  if (name === 'service')
    return { address: '10.96.0.10', port, kind: 'service', name: 'shop/web', workload: 'shop/web' };
  return { address: addresses[name], port, kind: 'pod', name, workload: name };
}

function flow(
  client: Parameters<typeof end>[0],
  server: Parameters<typeof end>[0],
  port: number,
  more: Partial<Flow> = {},
): Flow {
  return {
    id: '1',
    node: 'node1',
    side: 'client',
    time: rfc3339(clock.now()),
    protocol: 'TCP',
    verdict: 'open',
    reason: '',
    client: end(client, 40_000),
    server: end(server, port),
    clientBytes: 0,
    serverBytes: 0,
    rttUs: 0,
    retransmissions: 0,
    stalledMs: 0,
    ...more,
  };
}

const objects: Cluster = {
  ...emptyCluster,
  namespaces: ['shop', 'ops'].map((name) =>
    namespace(name, { 'kubernetes.io/metadata.name': name }),
  ),
  pods: Object.entries(addresses).map(([full, ip]) => {
    const [space = '', name = ''] = full.split('/');
    return pod({
      name,
      namespace: space,
      labels: { app: name, 'pod-template-hash': 'x' },
      ips: [ip],
    });
  }),
  attachments: attached(
    ['web', addresses['shop/web']],
    ['db', addresses['shop/db']],
    ['cache', addresses['shop/cache']],
  ),
};

function routesOf(flows: readonly Flow[], cluster = objects) {
  return flowPolicyRoutes({
    label: 'node1',
    policies: {
      ownAddresses: () => new Map(),
      attachedPods: () =>
        new Map([...cluster.attachments].map(([id, one]) => [id, { pod: one, interface: id }])),
    },
    kubeState: () => kubeState(cluster),
    reflectObject: reflectedObject,
    serviceSubnet: () => '10.96.0.0/12',
    flows: () => flows,
    clock,
  });
}

async function plan(flows: readonly Flow[], ...added: readonly object[]): Promise<FlowPlan> {
  const reply = await ask(routesOf(flows), 'POST /contiv/v1/flows/plan', { body: { added } });
  assert.equal(reply.status, 200, JSON.stringify(reply.body));
  return reply.body as FlowPlan;
}

async function seen(flows: readonly Flow[], cluster = objects): Promise<SeenPolicies> {
  const query = { namespace: ['shop'] };
  const { body } = await ask(routesOf(flows, cluster), 'GET /contiv/v1/flows/policies', { query });
  return body as SeenPolicies;
}

const closed = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'db', namespace: 'shop' },
  spec: {
    podSelector: { matchLabels: { app: 'db' } },
    ingress: [
      { from: [{ podSelector: { matchLabels: { app: 'web' } } }], ports: [{ port: 5432 }] },
    ],
  },
};

describe('a plan', () => {
  it('names the seen connections that it would refuse, each once', async () => {
    const old = { time: rfc3339(clock.now() - 7_300_000), ended: rfc3339(clock.now() - 7_200_000) };
    const { refused, connections, unknown } = await plan(
      [
        flow('shop/web', 'shop/db', 5_432),
        flow('shop/cache', 'shop/db', 5_432),
        flow('shop/cache', 'shop/db', 5_432),
        // the other end of the same
        flow('shop/cache', 'shop/db', 5_432, { side: 'server' }),
        flow('outside', 'shop/db', 5_432, { side: 'server' }),
        flow('shop/web', 'shop/db', 80),
        flow('shop/web', 'shop/db', 81, { verdict: 'denied' }),
        flow('shop/cache', 'shop/db', 82, old),
        flow('shop/web', 'service', 80),
      ],
      closed,
    );
    assert.deepEqual(
      refused.map(({ client, server, port, connections: count }) => [client, server, port, count]),
      [
        ['shop/cache', 'shop/db', 5_432, 2],
        ['198.51.100.7', 'shop/db', 5_432, 1],
        ['shop/web', 'shop/db', 80, 1],
      ],
    );
    assert.equal(
      refused[0]?.reason,
      'shop/db is isolated for ingress by shop/db: no rule permits TCP port 5432 from shop/cache',
    );
    assert.deepEqual([connections, unknown], [6, 1]);
  });

  it('names none that is refused already', async () => {
    const cluster = { ...objects, policies: [policy({ name: 'all', policy_type: 'INGRESS' })] };
    const body = { added: [closed] };
    const { body: reply } = await ask(
      routesOf([flow('shop/cache', 'shop/db', 5_432)], cluster),
      'POST /contiv/v1/flows/plan',
      { body },
    );
    assert.deepEqual((reply as FlowPlan).refused, []);
  });
});

describe('seen connections', () => {
  const flows = [
    flow('shop/web', 'shop/db', 5_432),
    flow('shop/web', 'shop/db', 5_432),
    flow('ops/probe', 'shop/web', 80),
    flow('shop/web', 'outside', 443),
    flow('outside', 'shop/web', 80, { side: 'server' }),
  ];

  it('tell which permissions are used', async () => {
    const from = (app: string) => ({ from: [podsPeer({ app })], port: [] });
    const own = policy({
      name: 'db',
      pods: selector({ app: 'db' }),
      policy_type: 'INGRESS',
      ingress_rule: [from('web'), from('cache')],
    });
    const found = await seen(flows, { ...objects, policies: [own] });
    assert.deepEqual(
      found.permissions.map(({ rule, connections }) => [rule, connections]),
      [
        [0, 2],
        [1, 0],
      ],
    );
    assert.deepEqual(
      unusedPermissions([found, found]).map(({ policy: name, rule }) => [name, rule]),
      [['shop/db', 1]],
    );
  });

  it('become policies that permit them and nothing else', async () => {
    const found = await seen(flows);
    const { policies, notes } = suggestPolicies('shop', [found]);
    assert.deepEqual(notes, []);
    assert.deepEqual(
      policies.map(({ metadata }) => metadata.name),
      ['seen-db', 'seen-web'],
    );
    const ends = ['shop/web', 'shop/db', 'ops/probe', 'outside'] as const;
    const isSeen = (a: string, b: string, port: number) =>
      flows.some(
        ({ client, server }) =>
          nameOf(client) === a && nameOf(server) === b && server.port === port,
      );
    // without connections of the other namespace, and of two ends outside, which are none of its policies
    const all: Flow[] = [];
    for (const client of ends)
      for (const server of ends)
        for (const port of [80, 443, 5_432])
          if (client !== server && [client, server].some((name) => name.startsWith('shop/')))
            all.push(flow(client, server, port, client === 'outside' ? { side: 'server' } : {}));
    const { refused } = await plan(all, ...policies);
    const isRefused = (one: Flow) =>
      refused.some(
        ({ client, server, port }) =>
          client === policyName(one.client) &&
          server === policyName(one.server) &&
          port === one.server.port,
      );
    for (const one of all) {
      const [a, b, port] = [nameOf(one.client), nameOf(one.server), one.server.port!];
      assert.equal(isRefused(one), !isSeen(a, b, port), `${a} ${b} ${port}`);
    }
  });
});

const nameOf = ({ kind, name }: FlowEnd): string => (kind === 'outside' ? 'outside' : name);
const policyName = ({ kind, name, address }: FlowEnd): string => (kind === 'pod' ? name : address);
