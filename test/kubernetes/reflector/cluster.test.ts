import assert from 'node:assert/strict';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Endpoints } from '#kubernetes/models/endpoints.ts';
import type { Namespace } from '#kubernetes/models/namespace.ts';
import type { Pod } from '#kubernetes/models/pod.ts';
import type { Policy } from '#kubernetes/models/policy.ts';
import type { Service } from '#kubernetes/models/service.ts';
import { endpointsOf } from '#kubernetes/reflector/backends.ts';
import { type Cluster, type ClusterOptions, clusterOf } from '#kubernetes/reflector/cluster.ts';
import { problemText } from '#kubernetes/reflector/manifest-problem.ts';
import { type ManifestObject, readManifests } from '#kubernetes/reflector/manifests.ts';
import { isPodOf } from '#kubernetes/reflector/pod-set.ts';
import { parseResourceKey, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import { withoutShared } from '#test/support/requirements.ts';

const options: ClusterOptions = {
  node: { name: 'node-a', address: '192.168.16.1', podCidr: '10.1.1.0/24' },
  serviceCidr: '10.96.0.0/12',
  readers: 'mixed',
};

function objectsOf(...texts: string[]): ManifestObject[] {
  return texts.flatMap((text, n) => {
    const { objects, problems } = readManifests(text, `${n}.yaml`);
    assert.deepEqual(problems, []);
    return [...objects];
  });
}

function cluster(text: string, more: Partial<ClusterOptions> = {}): Cluster {
  return clusterOf(objectsOf(text), { ...options, ...more });
}

const value = <T>({ state }: Cluster, keyword: string, key: string): T =>
  state[keyword]?.[key] as T;

const pod = (name: string, more = ''): string =>
  `{apiVersion: v1, kind: Pod, metadata: {name: ${name}, namespace: shop, labels: {app: web}}, spec: {containers: [{name: c, ports: [{name: http, containerPort: 8080}]}]${more}}}`;

const service = (name: string, spec: string): string =>
  `{apiVersion: v1, kind: Service, metadata: {name: ${name}, namespace: shop}, spec: ${spec}}`;

test('without manifests, the cluster has one node', () => {
  const { state, problems, pods } = clusterOf([], options);
  assert.deepEqual([problems, pods], [[], []]);
  assert.deepEqual(Object.keys(state).sort(), Object.keys(resources).sort());
  assert.equal(
    valueText(resources.node, state['node']?.['k8s/node/node-a'] as never),
    '{"name":"node-a","pod_CIDR":"10.1.1.0/24","addresses":[{"type":"NodeInternalIP","address":"192.168.16.1"},{"type":"NodeHostName","address":"node-a"}],"node_info":{}}',
  );
});

test('a Node object in the manifests is used for this node', () => {
  const text = `{apiVersion: v1, kind: Node, metadata: {name: node-a}, status: {addresses: [{type: InternalIP, address: 10.0.0.9}]}}\n---\n${pod('a')}`;
  const made = cluster(text);
  assert.equal(Object.keys(made.state['node'] ?? {}).length, 1);
  const { host_ip_address } = value<Pod>(made, 'pod', 'k8s/pod/a/namespace/shop');
  assert.equal(host_ip_address, '10.0.0.9');
});

test('namespaces are the given ones and those of objects, with their name as a label', () => {
  const text = `{apiVersion: v1, kind: Namespace, metadata: {name: bank, labels: {team: money}}}\n---\n${pod('a')}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: b}}`;
  const made = cluster(text);
  const labels = Object.values(made.state['namespace'] ?? {}).map((namespace) =>
    (namespace as Namespace).label.map(({ key, value }) => `${key}=${value}`).join(),
  );
  assert.deepEqual(labels, [
    'kubernetes.io/metadata.name=bank,team=money',
    'kubernetes.io/metadata.name=default',
    'kubernetes.io/metadata.name=shop',
  ]);
});

test('the address of a service does not change when others are added', () => {
  const plain = '{ports: [{port: 80}]}';
  const first = cluster(service('web', plain));
  const { cluster_ip } = value<Service>(first, 'service', 'k8s/service/web/namespace/shop');
  assert.match(cluster_ip, /^10\.(9[6-9]|10\d|11[01])\./);
  const many = Array.from({ length: 200 }, (_, n) => service(`s${n}`, plain));
  const made = cluster([...many, service('web', plain)].join('\n---\n'));
  const addresses = Object.values(made.state['service'] ?? {}).map(
    (one) => (one as Service).cluster_ip,
  );
  assert.equal(new Set(addresses).size, 201);
  assert.ok(addresses.includes(cluster_ip));
});

test('requested addresses of services are kept, and not allocated to others', () => {
  const one = '{clusterIP: 10.96.0.2, ports: [{port: 1}]}';
  const text = [service('a', '{}'), service('b', '{}'), service('fixed', one)].join('\n---\n');
  const { state, problems } = cluster(text, { serviceCidr: '10.96.0.0/29' });
  const addresses = Object.values(state['service'] ?? {}).map(
    (each) => (each as Service).cluster_ip,
  );
  assert.deepEqual(problems, []);
  assert.equal(addresses[2], '10.96.0.2');
  assert.equal(new Set(addresses).size, 3);
  for (const address of addresses) assert.match(address, /^10\.96\.0\.[2-6]$/);
});

test('an exhausted service CIDR is a problem of the service that gets no address', () => {
  const text = Array.from({ length: 6 }, (_, n) => service(`s${n}`, '{}')).join('\n---\n');
  const { state, problems } = cluster(text, { serviceCidr: '10.96.0.0/29' });
  assert.deepEqual(problems.map(problemText), [
    '0.yaml:11 (document 6): Service shop/s5: no free address in the service CIDR',
  ]);
  assert.equal(Object.keys(state['service'] ?? {}).length, 6);
});

test('IPv6 services, headless services and external names', () => {
  const text = [
    service('six', '{}'),
    service('headless', '{clusterIP: None}'),
    service('elsewhere', '{type: ExternalName, externalName: a.example}'),
  ].join('\n---\n');
  const { state } = cluster(text, { serviceCidr: 'fd00:96::/112' });
  const addresses = Object.fromEntries(
    Object.values(state['service'] ?? {}).map((one) => {
      const { name, cluster_ip } = one as Service;
      return [name, cluster_ip];
    }),
  );
  assert.match(addresses['six'] ?? '', /^fd00:96::[0-9a-f]{1,4}$/);
  assert.equal(addresses['headless'], 'None');
  assert.equal(addresses['elsewhere'], '');
});

test('a load balancer has node ports unless its service declines them', () => {
  const nodePort = (more: string) => {
    const made = cluster(service('web', `{type: LoadBalancer, ports: [{port: 80}]${more}}`));
    return value<Service>(made, 'service', 'k8s/service/web/namespace/shop').port[0]?.node_port;
  };
  assert.ok(nodePort('')! >= 30_000);
  assert.equal(nodePort(', allocateLoadBalancerNodePorts: false'), 0);
});

test('the API server fills in what a manifest leaves out', () => {
  const text = [
    service('web', '{type: NodePort, ports: [{port: 80}, {port: 81, name: b, nodePort: 30001}]}'),
    '{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: p}, spec: {podSelector: {}, egress: [{}]}}',
    '{apiVersion: v1, kind: Pod, metadata: {name: host}, spec: {hostNetwork: true, containers: [{ports: [{containerPort: 9100}]}]}}',
  ].join('\n---\n');
  const made = cluster(text);
  const web = value<Service>(made, 'service', 'k8s/service/web/namespace/shop');
  assert.deepEqual(
    [web.service_type, web.session_affinity, web.external_traffic_policy],
    ['NodePort', 'None', 'Cluster'],
  );
  assert.equal(web.port[0]?.protocol, 'TCP');
  assert.equal(web.port[0]?.target_port?.int_val, 80);
  const [first = 0, second] = web.port.map(({ node_port }) => node_port);
  assert.ok(first >= 30_000 && first <= 32_767 && first !== second);
  assert.equal(second, 30_001);
  const policy = value<Policy>(made, 'policy', 'k8s/policy/p/namespace/default');
  assert.equal(policy.policy_type, 'INGRESS_AND_EGRESS');
  const host = value<Pod>(made, 'pod', 'k8s/pod/host/namespace/default');
  assert.deepEqual([host.ip_address, host.host_ip_address], ['192.168.16.1', '192.168.16.1']);
  assert.equal(host.container[0]?.port[0]?.host_port, 9100);
});

test('the node starts its own pods, not those in the host network, of other nodes, or terminated', () => {
  const text = [
    pod('mine'),
    pod('host', ', hostNetwork: true'),
    pod('away', ', nodeName: node-b'),
    '{apiVersion: v1, kind: Pod, metadata: {name: done}, status: {phase: Succeeded}}',
  ].join('\n---\n');
  const { pods, state } = cluster(text);
  assert.deepEqual(
    pods.filter((one) => isPodOf(options.node.name, one)).map(({ metadata }) => metadata.name),
    ['mine'],
  );
  assert.equal(pods.length, 4);
  assert.equal(Object.keys(state['pod'] ?? {}).length, 4);
});

test('an export of a cluster contains the pods together with their owners', () => {
  const owned = (kind: string, name: string, owner: string, spec: string): string =>
    `{apiVersion: ${kind === 'Pod' ? 'v1' : 'apps/v1'}, kind: ${kind}, metadata: {name: ${name}, ownerReferences: [{${owner}}]}, spec: ${spec}}`;
  const template = '{replicas: 2, template: {spec: {containers: []}}}';
  const deployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: ${template}}`;
  const set = owned('ReplicaSet', 'web-1', 'kind: Deployment, name: web', template);
  const one = owned('Pod', 'web-1-x', 'kind: ReplicaSet, name: web-1', '{}');
  const names = (...objects: string[]): string[] =>
    cluster(objects.join('\n---\n')).pods.map(({ metadata }) => metadata.name);
  assert.equal(names(deployment).length, 2);
  assert.deepEqual(names(deployment, set), ['web-1-0', 'web-1-1']);
  assert.deepEqual(names(deployment, set, one), ['web-1-x']);
});

test('endpoints are computed from the pods with an address, and recomputed in the same way', () => {
  const selecting = service('web', '{selector: {app: web}, ports: [{port: 80, targetPort: http}]}');
  const made = cluster(
    [selecting, service('manual', '{ports: [{port: 1}]}'), pod('a')].join('\n---\n'),
  );
  const key = 'k8s/endpoints/web/namespace/shop';
  assert.deepEqual(Object.keys(made.state['endpoints'] ?? {}), [key]);
  assert.deepEqual(value<Endpoints>(made, 'endpoints', key).endpoint_subsets, []);
  assert.deepEqual(
    made.services.map(({ metadata }) => metadata.name),
    ['web'],
  );

  const running = made.pods.map((one) => ({
    ...one,
    status: { ...one.status, podIP: '10.1.1.7' },
  }));
  const recomputed = endpointsOf(made.services[0]!, running);
  assert.equal(resources.endpoints.model.key(recomputed), key);
  assert.equal(recomputed.endpoint_subsets[0]?.addresses[0]?.ip, '10.1.1.7');
  assert.equal(recomputed.endpoint_subsets[0]?.ports[0]?.port, 8080);
});

test('given endpoints override computed ones, and slices override the object', () => {
  const head = (name: string): string => `metadata: {name: ${name}, namespace: shop`;
  const object = `{apiVersion: v1, kind: Endpoints, ${head('web')}}, subsets: [{addresses: [{ip: 192.0.2.1}], ports: [{port: 80}]}]}`;
  const slice = (name: string, ip: string): string =>
    `{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, ${head(name)}, labels: {kubernetes.io/service-name: web}}, addressType: IPv4, ports: [{port: 80}], endpoints: [{addresses: [${ip}]}]}`;
  const selecting = service('web', '{selector: {app: web}, ports: [{port: 80}]}');
  const ips = (...objects: string[]): string[] | undefined => {
    const made = cluster([selecting, pod('a'), ...objects].join('\n---\n'));
    assert.deepEqual([made.problems, made.services], [[], []]);
    const { endpoint_subsets } = value<Endpoints>(
      made,
      'endpoints',
      'k8s/endpoints/web/namespace/shop',
    );
    return endpoint_subsets[0]?.addresses.map(({ ip }) => ip);
  };
  assert.deepEqual(ips(object), ['192.0.2.1']);
  const slices = [slice('web-2', '192.0.2.3'), slice('web-1', '192.0.2.2')];
  assert.deepEqual(ips(object, ...slices), ['192.0.2.2', '192.0.2.3']);
});

test('the last of several definitions is used, and the others are reported', () => {
  const text = (port: number): string =>
    service('web', `{clusterIP: 10.96.0.9, ports: [{port: ${port}}]}`);
  const { state, problems } = clusterOf(objectsOf(text(80), text(81)), options);
  const web = state['service']?.['k8s/service/web/namespace/shop'] as Service;
  assert.equal(web.port[0]?.port, 81);
  assert.deepEqual(problems.map(problemText), [
    '0.yaml:1 (document 1): Service shop/web: overridden by the definition at 1.yaml:1',
  ]);
});

test('a port without a number is ignored and reported; the pod is used', () => {
  const made = cluster(
    '{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{ports: [{containerport: 80}]}]}}',
  );
  assert.deepEqual(
    made.problems.map(({ reason }) => reason),
    ['spec.containers[0].ports[0] is ignored: it has no containerPort'],
  );
  assert.equal(made.pods.length, 1);
});

/** All manifests in a folder and its subfolders. */
function manifestsIn(folder: string): ManifestObject[] {
  const files = globSync('**/*.{yaml,yml,json}', { cwd: folder }).sort();
  assert.ok(files.length > 0, folder);
  return files.flatMap((file) => {
    const { objects, problems } = readManifests(readFileSync(join(folder, file), 'utf8'), file);
    assert.deepEqual(problems, [], file);
    return [...objects];
  });
}

/** Every object is in the state, or creates pods that are, or is reported as ignored. */
function assertAllAccounted(objects: readonly ManifestObject[], made: Cluster): void {
  const present = new Set(Object.values(made.state).flatMap((values) => Object.keys(values)));
  const named = new Set(made.problems.map(({ file, line }) => `${file}:${line}`));
  for (const { object, source } of objects) {
    if (named.has(`${source.file}:${source.line}`)) continue;
    const { kind, metadata } = object as {
      kind: string;
      metadata: { name: string; namespace?: string };
    };
    const found = [...present].some(
      (key) => key.includes(`/${metadata.name}`) && parseResourceKey(key) !== undefined,
    );
    assert.ok(found || kind === 'EndpointSlice', `${source.file}:${source.line} ${metadata.name}`);
  }
}

/** Each value is read back from its JSON unchanged, with its own key. */
function assertReadable({ state }: Cluster): void {
  for (const { keyword, model } of Object.values(resources)) {
    for (const [key, each] of Object.entries(state[keyword] ?? {})) {
      assert.equal(model.key(each as never), key);
      assert.deepEqual(model.parse(model.toJson(each as never), key), each);
    }
  }
}

const shop = new URL('../../../examples/shop', import.meta.url).pathname;

test('the example shop is read without problems', () => {
  const objects = manifestsIn(shop);
  const made = clusterOf(objects, options);
  assert.deepEqual(made.problems.map(problemText), []);
  assertAllAccounted(objects, made);
  assertReadable(made);
  const count = (keyword: string): number => Object.keys(made.state[keyword] ?? {}).length;
  assert.deepEqual(
    ['namespace', 'pod', 'policy', 'service', 'endpoints'].map(count),
    [2, 24, 24, 13, 13],
  );
  assert.equal(made.pods.length, 24);
  assert.deepEqual(clusterOf(objects.toReversed(), options).state, made.state);
});

test('the pods of the example shop are spread over several nodes', () => {
  const otherNodes = ['node-b', 'node-c'].map((name) => ({ name, address: '' }));
  const objects = manifestsIn(shop);
  const made = clusterOf(objects, { ...options, otherNodes });
  assert.equal(Object.keys(made.state['node'] ?? {}).length, 3);
  const byNode = Map.groupBy(made.pods, ({ spec }) => spec?.nodeName);
  assert.deepEqual(
    [...byNode.values()].map(({ length }) => length),
    [8, 8, 10],
  );
  const reversed = clusterOf(objects.toReversed(), { ...options, otherNodes });
  assert.deepEqual(reversed.state, made.state);
});

test('every service of the example shop has backends once its pods run', () => {
  const made = clusterOf(manifestsIn(shop), options);
  const running = made.pods.map((each, n) => ({
    ...each,
    status: { ...each.status, podIP: `10.1.1.${n + 2}` },
  }));
  for (const each of made.services) {
    const [subset] = endpointsOf(each, running).endpoint_subsets;
    const { name, namespace } = each.metadata;
    assert.ok((subset?.addresses.length ?? 0) > 0, `${namespace}/${name}`);
    assert.equal(subset?.ports.length, each.spec.ports?.length, `${namespace}/${name}`);
  }
});

const vectors = new URL('../../../../shared/vectors/netpol', import.meta.url).pathname;

test('external manifests: each object is used or reported', {
  skip: withoutShared('vectors/netpol'),
}, () => {
  for (const name of readdirSync(vectors)) {
    const objects = manifestsIn(join(vectors, name, 'manifests'));
    const made = clusterOf(objects, options);
    assertAllAccounted(objects, made);
    assertReadable(made);
    const policies = objects.filter(
      ({ object }) => (object as { kind?: string }).kind === 'NetworkPolicy',
    );
    assert.equal(Object.keys(made.state['policy'] ?? {}).length, policies.length, name);
  }
});
