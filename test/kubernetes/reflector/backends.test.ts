import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpointsOf, selectsPod, selectsPods } from '#kubernetes/reflector/backends.ts';
import type { KubePod } from '#kubernetes/reflector/objects/pod.ts';
import type { KubeService } from '#kubernetes/reflector/objects/service.ts';

function service(spec: Partial<KubeService['spec']> = {}): KubeService {
  return {
    kind: 'Service',
    metadata: { name: 'web', namespace: 'shop' },
    spec: {
      selector: { app: 'web' },
      clusterIP: '10.96.0.9',
      ports: [{ name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' }],
      ...spec,
    },
  };
}

function pod(name: string, podIP: string, more: Partial<KubePod> = {}): KubePod {
  return {
    kind: 'Pod',
    metadata: { name, namespace: 'shop', uid: `uid-${name}`, labels: { app: 'web' } },
    spec: {
      nodeName: 'node-a',
      containers: [{ ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }] }],
    },
    status: { podIP },
    ...more,
  };
}

const ips = (from: KubeService, ...pods: KubePod[]): unknown =>
  endpointsOf(from, pods).endpoint_subsets.map(({ addresses, not_ready_addresses, ports }) => ({
    ready: addresses.map(({ ip }) => ip),
    notReady: not_ready_addresses.map(({ ip }) => ip),
    ports: ports.map(({ name, port, protocol }) => `${name}=${protocol}/${port}`),
  }));

test('named ports are resolved per pod; pods with other numbers are in another subset', () => {
  const other = pod('b', '10.1.1.3', {
    spec: { containers: [{ ports: [{ name: 'http', containerPort: 9090 }] }] },
  });
  const none = pod('c', '10.1.1.4', { spec: { containers: [] } });
  assert.deepEqual(ips(service(), pod('a', '10.1.1.2'), other, none), [
    { ready: ['10.1.1.2'], notReady: [], ports: ['http=TCP/8080'] },
    { ready: ['10.1.1.3'], notReady: [], ports: ['http=TCP/9090'] },
  ]);
});

test('a port name is resolved for its protocol only', () => {
  const udp = service({ ports: [{ port: 53, targetPort: 'http', protocol: 'UDP' }] });
  assert.deepEqual(ips(udp, pod('a', '10.1.1.2')), []);
});

test('a pod serves only those ports of a service that it has', () => {
  const two = service({
    ports: [
      { name: 'http', port: 80, targetPort: 'http' },
      { name: 'admin', port: 90, targetPort: 'admin' },
    ],
  });
  assert.deepEqual(ips(two, pod('a', '10.1.1.2')), [
    { ready: ['10.1.1.2'], notReady: [], ports: ['http=TCP/8080'] },
  ]);
});

test('addresses contain node, pod and host name', () => {
  const stateful = pod('web-0', '10.1.1.2');
  stateful.spec = { ...stateful.spec, hostname: 'web-0', subdomain: 'web' };
  assert.deepEqual(endpointsOf(service(), [stateful]).endpoint_subsets[0]?.addresses[0], {
    ip: '10.1.1.2',
    host_name: 'web-0',
    node_name: 'node-a',
    target_ref: {
      kind: 'Pod',
      namespace: 'shop',
      name: 'web-0',
      uid: 'uid-web-0',
      api_version: '',
      resource_version: '',
    },
    serving_while_terminating: false,
    for_zones: [],
    for_nodes: [],
  });
});

test('pods without address, of other namespaces, not selected or terminated are omitted', () => {
  const pods = [
    pod('no-address', ''),
    pod('elsewhere', '10.1.1.2', {
      metadata: { name: 'elsewhere', namespace: 'bank', labels: { app: 'web' } },
    }),
    pod('other', '10.1.1.3', { metadata: { name: 'other', namespace: 'shop' } }),
    pod('done', '10.1.1.4', { status: { podIP: '10.1.1.4', phase: 'Succeeded' } }),
    pod('failed', '10.1.1.5', { status: { podIP: '10.1.1.5', phase: 'Failed' } }),
  ];
  const { name, namespace, endpoint_subsets } = endpointsOf(service(), pods);
  assert.deepEqual([name, namespace, endpoint_subsets], ['web', 'shop', []]);
});

test('readiness determines the list, unless the service publishes all pods', () => {
  const conditions = [{ type: 'Ready', status: 'False' }];
  const starting = pod('a', '10.1.1.2', { status: { podIP: '10.1.1.2', conditions } });
  assert.deepEqual(ips(service(), starting), [
    { ready: [], notReady: ['10.1.1.2'], ports: ['http=TCP/8080'] },
  ]);
  assert.deepEqual(ips(service({ publishNotReadyAddresses: true }), starting), [
    { ready: ['10.1.1.2'], notReady: [], ports: ['http=TCP/8080'] },
  ]);
});

test('a terminating pod still serves while it is ready', () => {
  const leaving = pod('a', '10.1.1.2');
  leaving.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
  const { endpoint_subsets } = endpointsOf(service(), [leaving]);
  assert.equal(endpoint_subsets[0]?.not_ready_addresses[0]?.serving_while_terminating, true);
});

test('the families of the service select the addresses of a pod', () => {
  const dual = pod('a', '10.1.1.2', {
    status: { podIP: '10.1.1.2', podIPs: [{ ip: '10.1.1.2' }, { ip: 'fd00::2' }] },
  });
  const port = ['http=TCP/8080'];
  assert.deepEqual(ips(service(), dual), [{ ready: ['10.1.1.2'], notReady: [], ports: port }]);
  assert.deepEqual(ips(service({ clusterIP: 'None', ipFamilies: ['IPv6'] }), dual), [
    { ready: ['fd00::2'], notReady: [], ports: port },
  ]);
  assert.deepEqual(ips(service({ clusterIPs: ['10.96.0.9', 'fd00:96::9'] }), dual), [
    { ready: ['10.1.1.2'], notReady: [], ports: port },
    { ready: ['fd00::2'], notReady: [], ports: port },
  ]);
});

test('a headless service without ports has backends without ports', () => {
  assert.deepEqual(ips(service({ clusterIP: 'None', ports: [] }), pod('a', '10.1.1.2')), [
    { ready: ['10.1.1.2'], notReady: [], ports: [] },
  ]);
});

test('the order of pods does not matter', () => {
  const pods = [pod('a', '10.1.1.12'), pod('b', '10.1.1.3'), pod('c', '10.1.2.1')];
  assert.deepEqual(endpointsOf(service(), pods), endpointsOf(service(), pods.toReversed()));
});

test('endpoints of services without a selector are not computed', () => {
  assert.equal(selectsPods(service()), true);
  assert.equal(selectsPods(service({ selector: {} })), false);
  assert.equal(selectsPods(service({ type: 'ExternalName' })), false);
  assert.equal(selectsPod(service({ selector: {} }), pod('a', '10.1.1.2')), false);
});

test('a preference of the service gives hints to ready endpoints, for own readers', () => {
  const zones = new Map([['node-a', 'north']]);
  const hints = (
    trafficDistribution: string,
    readers: 'own' | 'mixed',
    pods = [pod('a', '10.1.1.2')],
  ) => {
    const { endpoint_subsets } = endpointsOf(
      service({ trafficDistribution }),
      pods,
      readers,
      zones,
    );
    const { addresses = [], not_ready_addresses = [] } = endpoint_subsets[0] ?? {};
    const all = [...addresses, ...not_ready_addresses];
    return all.map(({ for_zones, for_nodes }) => [...for_zones, ...for_nodes].join(' '));
  };
  assert.deepEqual(hints('PreferClose', 'own'), ['north']);
  assert.deepEqual(hints('PreferSameZone', 'own'), ['north']);
  assert.deepEqual(hints('PreferSameNode', 'own'), ['north node-a']);
  assert.deepEqual(hints('PreferSameNode', 'mixed'), ['']);
  assert.deepEqual(hints('example.com/other', 'own'), ['']);
  const leaving = pod('a', '10.1.1.2');
  leaving.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
  assert.deepEqual(hints('PreferSameZone', 'own', [leaving]), ['']);
  const elsewhere = pod('a', '10.1.1.2');
  elsewhere.spec = { ...elsewhere.spec, nodeName: 'node-z' };
  assert.deepEqual(hints('PreferSameZone', 'own', [elsewhere]), [''], 'the zone is unknown');
});
