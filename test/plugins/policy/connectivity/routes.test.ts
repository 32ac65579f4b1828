import assert from 'node:assert/strict';
import type { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { reflectedObject } from '#cmd/agent/reflected-object.ts';
import { systemClock } from '#infra/clock/system.ts';
import type { Route } from '#infra/http/route.ts';
import { type Pod, podModel } from '#kubernetes/models/pod.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { DeepInput } from '#models/model.ts';
import { connectivityRoutes } from '#plugins/policy/connectivity/routes.ts';
import { startedNode } from '../../ipv4net/wired-node.ts';
import { addressOf, type KubeValue, TestNode } from '../../test-node.ts';
import { ask } from '../asked-route.ts';
import { clusterPolicy } from '../policy-objects.ts';

function record(name: string, address: string, more: DeepInput<Pod> = {}): KubeValue {
  const labels = { app: name.split('-')[0]!, ...more.labels };
  const value = podModel.canonical({
    name,
    namespace: 'default',
    ip_address: address,
    host_ip_address: '172.16.0.5',
    label: Object.entries(labels).map(([key, text]) => ({ key, value: text })),
    ...more,
    labels,
  });
  return { resource: 'pod', key: resources.pod.key(name, 'default'), value };
}

async function cluster(): Promise<TestNode> {
  const node = await startedNode();
  for (const [name, id] of [
    ['web', 'c1'],
    ['db', 'c2'],
  ] as const)
    await node.put(record(name, addressOf(await node.add(name, id))));
  await node.put(record('far', '10.1.2.2'));
  return node;
}

function routesOf(node: TestNode): Route[] {
  return connectivityRoutes({
    policies: node.policies,
    services: node.services,
    serviceSubnet: () => node.ipam.serviceSubnet(),
    kubeState: () => node.kubeState,
    reflectObject: reflectedObject,
    clock: systemClock,
  });
}

const policy = (name: string, spec: object): object => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name },
  spec,
});

const dbFromWeb = policy('db', {
  podSelector: { matchLabels: { app: 'db' } },
  ingress: [{ from: [{ podSelector: { matchLabels: { app: 'web' } } }], ports: [{ port: 80 }] }],
});

interface Listed {
  endpoints: { name: string; pods?: string[] }[];
  connections: { from: string; to: string; ports: string }[];
  unlisted: { pod: string; reason: string }[];
}

interface Planned extends Listed {
  problems: { text: string }[];
  operations: { operation: string; key: string; before: object | null; after: object | null }[];
  changes: { from: string; to: string; before: string; after: string }[];
}

const LIST = 'GET /contiv/v1/policy/connectivity';
const PLAN = 'POST /contiv/v1/policy/plan';

async function list(node: TestNode): Promise<Listed> {
  const { status, body } = await ask(routesOf(node), LIST);
  assert.equal(status, 200);
  return body as Listed;
}

async function plan(node: TestNode, body: object): Promise<Planned> {
  const reply = await ask(routesOf(node), PLAN, { body });
  assert.equal(reply.status, 200, JSON.stringify(reply.body));
  return reply.body as Planned;
}

/** The change that `plan` asks about, as an event. */
function reflected(object: object): KubeValue {
  const { reason, ...found } = reflectedObject(object) as { reason?: string } & Record<
    string,
    unknown
  >;
  assert.equal(reason, undefined);
  return { resource: found['keyword'], key: found['key'], value: found['value'] } as KubeValue;
}

describe(LIST, () => {
  it('lists the connections of all pods of the cluster, and of addresses outside', async () => {
    const node = await cluster();
    await node.put(reflected(dbFromWeb));
    const { connections } = await list(node);
    assert.deepEqual(
      connections.filter(({ to }) => to === 'default/db[Pod]'),
      [{ from: 'default/web[Pod]', to: 'default/db[Pod]', ports: 'TCP 80' }],
    );
    assert.ok(
      connections.some(({ from, to }) => from.endsWith('[External]') && to === 'default/far[Pod]'),
    );
  });

  it('takes policies of the cluster into account', async () => {
    const node = await cluster();
    const value = clusterPolicy({
      name: 'closed',
      ingress: [{ action: 'DENY', peer: [{ pods: {} }] }],
    });
    const key = resources.clusternetworkpolicy.key('closed', '');
    await node.put({ resource: 'clusternetworkpolicy', key, value });
    const { connections } = await list(node);
    assert.deepEqual(
      connections.filter(({ from, to }) => from === 'default/web[Pod]' && to === 'default/db[Pod]'),
      [],
    );
  });

  it('joins the pods of a workload, which labels of the controllers tell', async () => {
    const node = await cluster();
    const of = (name: string, address: string, labels: Record<string, string>) =>
      node.put(record(name, address, { labels }));
    await of('shop-5d4f7-abcde', '10.1.2.3', { 'pod-template-hash': '5d4f7' });
    await of('shop-5d4f7-fghij', '10.1.2.4', { 'pod-template-hash': '5d4f7' });
    await of('set-0', '10.1.2.5', { 'statefulset.kubernetes.io/pod-name': 'set-0' });
    await of('log-x2x4z', '10.1.2.6', { 'controller-revision-hash': '7' });
    await of('task-x2x4z', '10.1.2.7', { 'job-name': 'task' });
    const { endpoints } = await list(node);
    assert.deepEqual(
      endpoints.filter(({ name }) => !/External|\[Pod\]/.test(name)),
      [
        { name: 'default/log[DaemonSet]', pods: ['default/log-x2x4z'] },
        { name: 'default/set[StatefulSet]', pods: ['default/set-0'] },
        {
          name: 'default/shop[Deployment]',
          pods: ['default/shop-5d4f7-abcde', 'default/shop-5d4f7-fghij'],
        },
        { name: 'default/task[Job]', pods: ['default/task-x2x4z'] },
      ],
    );
  });

  it('says why a pod is in no list', async () => {
    const node = await cluster();
    const [attached] = node.ipam.podAddresses('c1/eth0');
    await node.put(record('finished', attached!));
    await node.put(record('starting', ''));
    await node.put(record('host', '172.16.0.5'));
    const { unlisted } = await list(node);
    assert.deepEqual(unlisted, [
      { pod: 'default/finished', reason: `default/web has its address ${attached}, too` },
      { pod: 'default/starting', reason: 'it has no address yet' },
      { pod: 'default/host', reason: 'it is in the network of its host, where no policy applies' },
    ]);
  });

  it('lists an attached pod without record as the node carries it: isolated where a policy isolates', async () => {
    const node = await startedNode();
    await node.add('new', 'c9');
    const closed = policy('closed', { podSelector: { matchLabels: { app: 'db' } } });
    const into = async () =>
      (await list(node)).connections.some(({ to }) => to === 'default/new[Pod]');
    assert.equal(await into(), true);
    await node.put(reflected(closed));
    assert.equal(await into(), false);
  });

  it('explains one pair, and answers 404 for an unknown pod', async () => {
    const node = await cluster();
    await node.put(reflected(dbFromWeb));
    const pair = (from: string, to: string, port?: string) =>
      ask(routesOf(node), LIST, {
        query: { from: [from], to: [to], ...(port !== undefined && { port: [port] }) },
      });
    assert.deepEqual((await pair('default/far', 'default/db', 'tcp/80')).body, {
      from: 'default/far',
      to: 'default/db',
      port: 'TCP/80',
      verdict: 'denied',
      ports: 'No Connections',
      otherFamilies: null,
      egress: { policies: [], rules: [], undecided: 'TCP 80' },
      ingress: {
        policies: ['default/db'],
        rules: [
          {
            tier: 'NetworkPolicy',
            action: 'Deny',
            policy: 'default/db',
            rule: null,
            text: 'denied by default/db, whose rules do not permit it',
            ports: 'TCP 80',
          },
        ],
        undecided: 'No Connections',
      },
    });
    const { status, body } = await pair('default/far', 'default/none');
    assert.equal(status, 404);
    assert.match(JSON.stringify(body), /default\/none/);
  });

  it('rejects invalid arguments', async () => {
    const routes = routesOf(await cluster());
    for (const query of [
      { from: ['default/web'] },
      { port: ['80'] },
      { from: ['default/web'], to: ['default/db'], port: ['x/80'] },
      { from: ['default/web'], to: ['default/db'], port: ['70000'] },
    ])
      assert.equal((await ask(routes, LIST, { query })).status, 400);
  });

  it('keeps no more than two replies in memory, until they are read or given up', async () => {
    const routes = routesOf(await cluster());
    const route = routes.find(({ path }) => LIST.endsWith(path))!;
    const request = { query: {}, params: {}, body: undefined };
    const open = [await route.handle(request), await route.handle(request)];
    assert.equal((await ask(routes, LIST)).status, 503);
    assert.equal((await ask(routes, PLAN, { body: {} })).status, 503);
    for (const { body } of open) {
      (body as Readable).destroy();
      await new Promise((resolve) => (body as Readable).once('close', resolve));
    }
    assert.equal((await ask(routes, LIST)).status, 200);
    for (let n = 0; n < 2; n++)
      assert.equal((await ask(routes, LIST, { query: { port: ['80'] } })).status, 400);
    assert.equal((await ask(routes, LIST)).status, 200);
  });
});

describe(PLAN, () => {
  it('shows the operations that the change leads to, and the connections that change', async () => {
    const node = await cluster();
    const { operations, changes, problems } = await plan(node, { added: [dbFromWeb] });
    assert.deepEqual(problems, []);
    assert.deepEqual(
      changes.filter(({ from }) => !from.endsWith('[External]')),
      [
        {
          from: 'default/far[Pod]',
          to: 'default/db[Pod]',
          before: 'All Connections',
          after: 'No Connections',
          reasons: ['denied by default/db, whose rules do not permit it'],
        },
        {
          from: 'default/web[Pod]',
          to: 'default/db[Pod]',
          before: 'All Connections',
          after: 'TCP 80',
          reasons: ['denied by default/db, whose rules do not permit it'],
        },
      ],
    );
    const before = new Map(node.config);
    await node.put(reflected(dbFromWeb));
    const changed = [...node.config].filter(([key, value]) => before.get(key) !== value);
    assert.ok(operations.length >= 1);
    assert.deepEqual(
      operations.map(({ operation, key, after }) => [operation, key, after]),
      changed
        .sort()
        .map(([key, value]) => [
          before.has(key) ? 'update' : 'create',
          key,
          JSON.parse(JSON.stringify(value)),
        ]),
    );
    for (const { key, before: old } of operations)
      assert.deepEqual(old, before.has(key) ? JSON.parse(JSON.stringify(before.get(key))) : null);
  });

  it('changes nothing of the agent', async () => {
    const node = await cluster();
    const before = [node.policies.describeInternalData?.(), new Map(node.config)];
    await plan(node, { added: [dbFromWeb], removed: [{ kind: 'Pod', metadata: { name: 'web' } }] });
    assert.deepEqual([node.policies.describeInternalData?.(), new Map(node.config)], before);
    assert.equal(node.kubeState.get('policy')?.size ?? 0, 0);
  });

  it('takes removed policies, and changed labels of running pods without their status', async () => {
    const node = await cluster();
    await node.put(reflected(dbFromWeb));
    const opened = await plan(node, { removed: [dbFromWeb] });
    assert.ok(
      opened.changes.some(
        ({ from, to, after }) =>
          from === 'default/far[Pod]' && to === 'default/db[Pod]' && after === 'All Connections',
      ),
    );
    const far = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'far', labels: { app: 'web' } },
      spec: {},
    };
    const { changes, problems } = await plan(node, { changed: [far] });
    assert.deepEqual(problems, []);
    assert.deepEqual(changes, [
      {
        from: 'default/far[Pod]',
        to: 'default/db[Pod]',
        before: 'No Connections',
        after: 'TCP 80',
        reasons: [
          'accepted by default/db, spec.ingress[0]',
          'before: denied by default/db, whose rules do not permit it',
        ],
      },
    ]);
  });

  it('counts policies of the cluster and nodes, those that there are and those of the change', async () => {
    const node = await cluster();
    const space = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } };
    await node.put(reflected(space));
    const guard = {
      apiVersion: 'policy.networking.k8s.io/v1beta1',
      kind: 'ClusterNetworkPolicy',
      metadata: { name: 'guard' },
      spec: {
        tier: 'Admin',
        priority: 1,
        subject: { namespaces: {} },
        egress: [
          {
            name: 'edge',
            action: 'Deny',
            to: [{ nodes: { matchLabels: { role: 'edge' } } }],
          },
        ],
      },
    };
    await node.put(reflected(guard));
    const edge = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'edge-1', labels: { role: 'edge' } },
      status: { addresses: [{ type: 'InternalIP', address: '198.51.100.9' }] },
    };
    const { changes, problems } = await plan(node, { added: [edge] });
    assert.deepEqual(problems, []);
    assert.deepEqual(
      changes.find(({ from, to }) => from === 'default/web[Pod]' && to.includes('198.51.100.9')),
      {
        from: 'default/web[Pod]',
        to: '198.51.100.9-198.51.100.9[External]',
        before: 'All Connections',
        after: 'No Connections',
        reasons: ['denied by Admin policy guard, spec.egress[0] "edge"'],
      },
    );
    const opened = await plan(node, {
      removed: [{ kind: 'ClusterNetworkPolicy', metadata: { name: 'guard' } }],
    });
    assert.ok(opened.operations.length > 0, 'its tables go with it');
  });

  it('reports objects that are ignored or that the cluster would refuse', async () => {
    const node = await cluster();
    await node.put(reflected(dbFromWeb));
    const { problems } = await plan(node, {
      added: [
        dbFromWeb,
        { kind: 'Pod' },
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 's' } },
      ],
      changed: [policy('new', { podSelector: {} })],
      removed: [
        { kind: 'NetworkPolicy', metadata: { name: 'absent' } },
        { kind: 'ConfigMap', metadata: { name: 's' } },
        17,
      ],
    });
    assert.deepEqual(
      problems.map(({ text }) => text),
      [
        'added[0]: policy/db/namespace/default exists already; it is changed'.replace(
          'policy/db/namespace/default',
          resources.policy.key('db', 'default'),
        ),
        'added[1]: apiVersion is missing',
        'added[2]: objects of kind ConfigMap are not supported',
        `changed[0]: ${resources.policy.key('new', 'default')} does not exist; it is added`,
        `removed[0]: ${resources.policy.key('absent', 'default')} does not exist`,
        'removed[1]: the kind has to be one of NetworkPolicy, ClusterNetworkPolicy, Namespace, Pod, Node, Service, Endpoints',
        'removed[2]: metadata.name is missing',
      ],
    );
  });

  it('rejects bodies of another form and too many objects', async () => {
    const routes = routesOf(await cluster());
    for (const body of [
      undefined,
      [],
      'text',
      { added: {} },
      { created: [] },
      { added: new Array(1_001).fill(dbFromWeb) },
    ])
      assert.equal((await ask(routes, PLAN, { body })).status, 400);
  });

  it('works before the first resync, without operations', async () => {
    const node = new TestNode();
    const { operations, changes } = await plan(node, { added: [dbFromWeb] });
    assert.deepEqual([operations, changes], [[], []]);
  });
});
