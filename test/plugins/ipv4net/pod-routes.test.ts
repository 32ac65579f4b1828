import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Value from 'typebox/value';
import type { PodDocument, PodList, PodSummary } from '#documents/pods.ts';
import { systemClock } from '#infra/clock/system.ts';
import { policyModel } from '#kubernetes/models/policy.ts';
import { podRoutes } from '#plugins/ipv4net/pod-routes.ts';
import { ask } from '../policy/asked-route.ts';
import { recordOf } from '../policy/policy-records.ts';
import { endpointsValue, localPod, remotePod, serviceValue } from '../service/service-values.ts';
import { valueStatesWith } from '../state-of-values.ts';
import { podValue, type TestNode } from '../test-node.ts';
import { startedNode } from './wired-node.ts';

const LIST = 'GET /contiv/v1/pods';
const ONE = 'GET /contiv/v1/pods/:namespace/:name';

function routesOf(node: TestNode, values = valueStatesWith()) {
  const { pods, ipam, net, services, policies } = node;
  return podRoutes({
    pods,
    ipam,
    net,
    services,
    policies,
    values,
    swIfIndexOf: (name) => (name === 'vpp-tap-c1' ? 7 : undefined),
    clock: systemClock,
  });
}

/** The reply, which has the form that the route declares. */
async function get<T>(
  node: TestNode,
  route: string,
  request: { query?: Record<string, string>; params?: Record<string, string> } = {},
  values = valueStatesWith(),
): Promise<T> {
  const routes = routesOf(node, values);
  const query = Object.fromEntries(
    Object.entries(request.query ?? {}).map(([name, text]) => [name, [text]]),
  );
  const { status, body } = await ask(routes, route, { query, params: request.params ?? {} });
  assert.equal(status, 200, JSON.stringify(body));
  const { reply } = routes.find(({ method, path }) => `${method} ${path}` === route)!;
  assert.deepEqual([...Value.Errors(reply!, body)], []);
  return body as T;
}

async function withPods(): Promise<TestNode> {
  const node = await startedNode();
  await node.add('web', 'c1');
  await node.add('db', 'c2');
  return node;
}

describe(LIST, () => {
  it('shows the pods by name, with addresses, interfaces and the state of their values', async () => {
    const node = await withPods();
    const { total, matching, pods } = await get<PodList>(node, LIST);
    assert.deepEqual([total, matching, pods.map(({ name }) => name)], [2, 2, ['db', 'web']]);
    const { attachedAt, ...web } = pods[1]!;
    assert.match(attachedAt!, /^\d{4}-\d\d-\d\dT.*Z$/);
    assert.deepEqual(web, {
      namespace: 'default',
      name: 'web',
      containerId: 'c1',
      networkNamespace: '/run/netns/c1',
      addresses: ['10.1.1.2'],
      interfaces: {
        vpp: { name: 'vpp-tap-c1', swIfIndex: 7 },
        linux: { name: 'linux-tap-c1', hostName: 'eth0' },
      },
      isAdopted: false,
      isDisplaced: false,
      serviceTranslation: 'packets',
      bandwidth: null,
      values: {
        state: 'CONFIGURED',
        total: node.net.podKeys('c1/eth0').length,
        faults: [],
      },
    });
    assert.equal(pods[0]!.interfaces!.vpp.swIfIndex, null);
  });

  it('shows the limits of bandwidth, and what of them is not applied', async () => {
    const node = await withPods();
    const web = podValue('web', '10.1.1.2');
    const annotations = {
      'kubernetes.io/ingress-bandwidth': '10M',
      'kubernetes.io/egress-bandwidth': 'much',
    };
    await node.put({ ...web, value: { ...web.value, annotations } });
    const { pods } = await get<PodList>(node, LIST, { query: { search: 'web' } });
    assert.deepEqual(pods[0]!.bandwidth, {
      ingress: 10_000_000,
      egress: null,
      problems: ['kubernetes.io/egress-bandwidth: "much" is no quantity, such as 10M'],
    });
  });

  it('keeps the time of an attachment across a restart, and when the runtime repeats its request', async () => {
    const node = await withPods();
    const times = async (of: TestNode) =>
      (await get<PodList>(of, LIST)).pods.map(({ attachedAt }) => attachedAt);
    const before = await times(node);
    await node.add('web', 'c1');
    assert.deepEqual(await times(node), before);
    const again = node.restart();
    await again.resync(node.state());
    assert.deepEqual(await times(again), before);
  });

  it('finds pods by name, address, container, namespace and interface', async () => {
    const node = await withPods();
    for (const [search, names] of [
      ['default/W', ['web']],
      ['10.1.1.3', ['db']],
      ['c2', ['db']],
      ['/run/netns/c1', ['web']],
      ['linux-tap-c2', ['db']],
      ['default', ['db', 'web']],
      ['nothing', []],
    ] as const) {
      const { total, pods } = await get<PodList>(node, LIST, { query: { search } });
      assert.deepEqual([total, pods.map(({ name }) => name)], [2, names], search);
    }
  });

  it('shows as many as it is asked for, and how many there are', async () => {
    const node = await withPods();
    const { matching, pods } = await get<PodList>(node, LIST, { query: { limit: '1' } });
    assert.deepEqual([matching, pods.length], [2, 1]);
    const { status, body } = await ask(routesOf(node), LIST, { query: { limit: ['201'] } });
    assert.equal(status, 400);
    assert.match(JSON.stringify(body), /must be between 1 and 200/);
  });

  it('shows values with faults', async () => {
    const node = await withPods();
    const key = 'config/vpp/v2/interfaces/vpp-tap-c1';
    const fault = { state: 'FAILED', error: 'no memory' };
    const { pods } = await get<PodList>(node, LIST, {}, valueStatesWith({ [key]: fault }));
    assert.equal(pods[0]!.values.state, 'CONFIGURED');
    assert.deepEqual(pods[1]!.values.state, 'FAILED');
    assert.deepEqual(pods[1]!.values.faults, [{ key, ...fault }]);
  });

  it('shows an attachment of which nothing is configured', async () => {
    const node = await withPods();
    // the path leads to another namespace now
    node.host.namespaces.set('/run/netns/c1', 99);
    await node.heal();
    const { pods } = await get<PodList>(node, LIST, { query: { search: 'web' } });
    const [{ interfaces, isDisplaced, values }] = pods as [PodSummary];
    assert.deepEqual(
      [interfaces, isDisplaced, values],
      [null, true, { state: null, total: 0, faults: [] }],
    );
  });

  it('does not show a deleted pod', async () => {
    const node = await withPods();
    await node.del('web', 'c1');
    assert.deepEqual(
      (await get<PodList>(node, LIST)).pods.map(({ name }) => name),
      ['db'],
    );
    const { status } = await ask(routesOf(node), ONE, {
      params: { namespace: 'default', name: 'web' },
    });
    assert.equal(status, 404);
  });
});

describe(ONE, () => {
  const params = { namespace: 'default', name: 'local-2' };

  async function served(): Promise<TestNode> {
    const node = await startedNode();
    await node.add('local-2', 'c1');
    await node.put(podValue('local-2', '10.1.1.2'));
    await node.put(serviceValue('web', '10.96.0.10'));
    await node.put(endpointsValue('web', [localPod(2), remotePod(2)]));
    await node.put(serviceValue('other', '10.96.0.11'));
    await node.put(endpointsValue('other', [remotePod(2)]));
    return node;
  }

  it('shows the services that forward to it, by address and target port', async () => {
    const node = await served();
    const { services, servicesTotal } = await get<PodDocument>(node, ONE, { params });
    assert.equal(servicesTotal, 1);
    assert.deepEqual(services, [
      {
        service: 'default/web',
        kind: 'cluster-ip',
        address: '10.96.0.10',
        port: 80,
        protocol: 'TCP',
        portName: 'http',
        podAddress: '10.1.1.2',
        targetPort: 8080,
        whyNotUsed: null,
        carriers: ['NAT44'],
      },
    ]);
    await node.put(endpointsValue('web', [remotePod(2)]));
    assert.deepEqual((await get<PodDocument>(node, ONE, { params })).services, []);
  });

  it('shows the policies that isolate it by direction, and all its values', async () => {
    const node = await served();
    const before = await get<PodDocument>(node, ONE, { params });
    assert.deepEqual(before.attachments[0]!.policies, { ingress: [], egress: [] });
    await node.put(
      recordOf(
        'policy',
        policyModel.canonical({
          name: 'deny',
          namespace: 'default',
          policy_type: 'INGRESS',
          pods: {},
        }),
      ),
    );
    const { attachments } = await get<PodDocument>(node, ONE, { params });
    const [{ policies, valueStates }] = attachments as [PodDocument['attachments'][number]];
    assert.deepEqual(policies, { ingress: ['default/deny'], egress: [] });
    const keys = valueStates.map(({ key }) => key);
    assert.deepEqual(keys.slice(0, node.net.podKeys('c1/eth0').length), [
      ...node.net.podKeys('c1/eth0'),
    ]);
    assert.ok(
      keys.some((key) => key.startsWith('config/vpp/acls/')),
      String(keys),
    );
  });
});
