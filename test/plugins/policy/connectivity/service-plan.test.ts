import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { reflectedObject } from '#cmd/agent/reflected-object.ts';
import { systemClock } from '#infra/clock/system.ts';
import { type Pod, podModel } from '#kubernetes/models/pod.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { DeepInput } from '#models/model.ts';
import { connectivityRoutes } from '#plugins/policy/connectivity/routes.ts';
import { FakeHost } from '../../fake-ports.ts';
import { startedNode } from '../../ipv4net/wired-node.ts';
import { addressOf, type KubeValue, type TestNode } from '../../test-node.ts';
import { ask } from '../asked-route.ts';

interface Planned {
  problems: { text: string }[];
  operations: { operation: string; key: string }[];
  services: {
    service: string;
    before: Served[] | null;
    after: Served[] | null;
  }[];
}
interface Served {
  kind: string;
  address: string;
  port: number;
  backends: string[];
  carriers: { carrier: string; backends?: string[] }[];
  sourceRanges?: string[];
}

function podRecord(name: string, address: string, labels: Record<string, string>): KubeValue {
  const input: DeepInput<Pod> = {
    name,
    namespace: 'default',
    ip_address: address,
    host_ip_address: '172.16.0.5',
    label: Object.entries(labels).map(([key, value]) => ({ key, value })),
    labels,
    container: [{ name: 'main', port: [{ name: 'http', container_port: 8080 }] }],
  };
  const key = resources.pod.key(name, 'default');
  return { resource: 'pod', key, value: podModel.canonical(input) };
}

/** Attached pods web and db. */
async function startedCluster(): Promise<{ node: TestNode; web: string; db: string }> {
  const node = await startedNode();
  const [web, db] = [addressOf(await node.add('web', 'c1')), addressOf(await node.add('db', 'c2'))];
  await node.put(podRecord('web', web, { app: 'web' }));
  await node.put(podRecord('db', db, { app: 'db' }));
  return { node, web, db };
}

async function plan(node: TestNode, body: object): Promise<Planned> {
  const routes = connectivityRoutes({
    policies: node.policies,
    services: node.services,
    serviceSubnet: () => node.ipam.serviceSubnet(),
    kubeState: () => node.kubeState,
    reflectObject: reflectedObject,
    clock: systemClock,
  });
  const { status, body: reply } = await ask(routes, 'POST /contiv/v1/policy/plan', { body });
  assert.equal(status, 200, JSON.stringify(reply));
  return reply as Planned;
}

const service = (name: string, spec: object): object => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec,
});

const web = service('web', {
  clusterIP: '10.96.0.20',
  selector: { app: 'web' },
  ports: [{ port: 80, targetPort: 'http' }],
});

async function put(node: TestNode, object: object): Promise<void> {
  const { keyword, key, value } = reflectedObject(object) as {
    keyword: KubeValue['resource'];
    key: string;
    value: object;
  };
  await node.put({ resource: keyword, key, value } as KubeValue);
}

const slice = (name: string, address: string): object => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name, labels: { 'kubernetes.io/service-name': 'web' } },
  addressType: 'IPv4',
  ports: [{ port: 8080, protocol: 'TCP' }],
  endpoints: [{ addresses: [address] }],
});

const MAPPING = 'config/vpp/nat/v2/dnat44/default/web';

describe('POST /contiv/v1/policy/plan with services', () => {
  it('shows the mapping of a new service, with the pods that it selects', async () => {
    const { node, web: address } = await startedCluster();
    const { operations, services, problems } = await plan(node, { added: [web] });
    assert.deepEqual(
      operations.map((one) => [one.operation, one.key]),
      [['create', MAPPING]],
    );
    assert.deepEqual(services, [
      {
        service: 'default/web',
        before: null,
        after: [
          {
            kind: 'cluster-ip',
            address: '10.96.0.20',
            port: 80,
            protocol: 'TCP',
            backends: [`${address}:8080`],
            carriers: [{ carrier: 'NAT44' }],
          },
        ],
      },
    ]);
    assert.deepEqual(
      problems.map(({ text }) => text),
      [
        'the endpoints of service default/web are the 1 pods that it selects; new ones count as ready',
      ],
    );
  });

  it('names what carries each address, and the backends of a carrier that has others', async () => {
    const host = new FakeHost();
    host.socketServices = true;
    const node = await startedNode({ host, service: { socketServices: '/sys/fs' } });
    const local = addressOf(await node.add('web', 'c1'));
    const ends = [`${local}:8080`, '10.1.2.9:8080'];
    const balanced = {
      ...service('web', {
        type: 'LoadBalancer',
        clusterIP: '10.96.0.20',
        ports: [{ port: 80, targetPort: 8080, nodePort: 30_080 }],
        externalTrafficPolicy: 'Local',
        loadBalancerSourceRanges: ['198.51.100.0/24'],
      }),
      status: { loadBalancer: { ingress: [{ ip: '203.0.113.9' }] } },
    };
    const added = [balanced, slice('web-1', local), slice('web-2', '10.1.2.9')];
    const { services } = await plan(node, { added });
    const served = (services[0]?.after ?? []).map(({ kind, backends, carriers, sourceRanges }) => ({
      kind,
      backends: backends.toSorted(),
      sockets: carriers.find(({ carrier }) => carrier === 'sockets')?.backends?.toSorted(),
      names: carriers.map(({ carrier }) => carrier).join(),
      sourceRanges,
    }));
    const names = 'NAT44,sockets';
    const sourceRanges = ['198.51.100.0/24'];
    const forAll = { names, sourceRanges: undefined };
    const sorted = ends.toSorted();
    assert.deepEqual(
      served.filter(({ kind }, at) => served.findIndex((one) => one.kind === kind) === at),
      [
        { kind: 'cluster-ip', backends: sorted, sockets: undefined, ...forAll },
        { kind: 'node-port', backends: [ends[0]], sockets: sorted, ...forAll },
        { kind: 'load-balancer', backends: [ends[0]], sockets: [], names, sourceRanges },
      ],
    );
  });

  it('is what the events lead to', async () => {
    const { node, web: address } = await startedCluster();
    const { operations } = await plan(node, { added: [web, slice('web-1', address)] });
    await put(node, web);
    await put(node, slice('web-1', address));
    const [planned] = operations as unknown as { after: object }[];
    assert.deepEqual(planned?.after, node.services.valuesOf('default/web').get(MAPPING));
  });

  it('changes nothing of the agent', async () => {
    const { node } = await startedCluster();
    const before = node.services.describeInternalData?.();
    await plan(node, { added: [web] });
    assert.equal(node.services.describeInternalData?.(), before);
    assert.equal(node.services.valuesOf('default/web').size, 0);
  });

  it('chooses addresses and node ports in place of the cluster, and says so', async () => {
    const { node } = await startedCluster();
    const { services, problems } = await plan(node, {
      added: [service('a', { type: 'NodePort', selector: { app: 'web' }, ports: [{ port: 80 }] })],
    });
    const kinds = new Set(services[0]?.after?.map(({ kind }) => kind));
    assert.deepEqual(kinds, new Set(['cluster-ip', 'node-port']));
    const text = problems.map((one) => one.text).join('\n');
    assert.match(text, /chooses the address of service default\/a; 10\.\S+ stands for it/);
    assert.match(text, /chooses a node port of service default\/a; 32767 stands for it/);
  });

  it('keeps the address and the endpoints of a service whose manifest is applied again', async () => {
    const { node, web: address } = await startedCluster();
    await put(node, web);
    await put(node, slice('web-1', address));
    const same = service('web', {
      selector: { app: 'web' },
      ports: [{ port: 80, targetPort: 'http' }],
    });
    const { operations, services } = await plan(node, { changed: [same] });
    assert.deepEqual(operations, []);
    assert.deepEqual(services, []);
  });

  it('follows another selector, another label of a pod, and pods that are removed', async () => {
    const { node, web: address, db } = await startedCluster();
    await put(node, web);
    await put(node, slice('web-1', address));
    const backends = async (body: object): Promise<string[] | undefined> =>
      (await plan(node, body)).services[0]?.after?.[0]?.backends.toSorted();
    const other = service('web', {
      selector: { app: 'db' },
      ports: [{ port: 80, targetPort: 8080 }],
    });
    assert.deepEqual(await backends({ changed: [other] }), [`${db}:8080`]);
    const relabeled = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'db', labels: { app: 'web' } },
      spec: { containers: [{ name: 'main', ports: [{ name: 'http', containerPort: 9090 }] }] },
    };
    assert.deepEqual(await backends({ changed: [relabeled] }), [`${address}:8080`, `${db}:9090`]);
    assert.deepEqual(await backends({ removed: [{ kind: 'Pod', metadata: { name: 'web' } }] }), []);
  });

  it('joins the slices of a service', async () => {
    const { node } = await startedCluster();
    const { services } = await plan(node, {
      added: [web, slice('web-1', '192.0.2.1'), slice('web-2', '192.0.2.2')],
    });
    assert.deepEqual(services[0]?.after?.[0]?.backends.toSorted(), [
      '192.0.2.1:8080',
      '192.0.2.2:8080',
    ]);
  });

  it('removes a service with its endpoints', async () => {
    const { node, web: address } = await startedCluster();
    await put(node, web);
    await put(node, slice('web-1', address));
    const { operations, services } = await plan(node, {
      removed: [{ kind: 'Service', metadata: { name: 'web' } }],
    });
    assert.deepEqual(
      operations.map((one) => [one.operation, one.key]),
      [['delete', MAPPING]],
    );
    assert.equal(services[0]?.after, null);
  });

  it('reports what is not carried', async () => {
    const { node } = await startedCluster();
    const { problems } = await plan(node, {
      added: [
        service('sctp', { clusterIP: '10.96.0.9', ports: [{ port: 9, protocol: 'SCTP' }] }),
        { ...slice('s', '192.0.2.1'), metadata: { name: 's' } },
      ],
      removed: [{ kind: 'EndpointSlice', metadata: { name: 's' } }],
    });
    const text = problems.map((one) => one.text).join('\n');
    assert.match(text, /service default\/sctp: .*SCTP/);
    assert.match(text, /label kubernetes\.io\/service-name is missing/);
    assert.match(text, /removed\[0\]: the kind has to be one of/);
  });
});
