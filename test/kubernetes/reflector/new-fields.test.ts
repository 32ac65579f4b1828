/**
 * Objects with requirements for which the original has no field. A reader that ignores the new fields
 * must not allow more traffic than a reader that uses them.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readObject } from '#kubernetes/reflector/objects/object.ts';
import { type ReflectedObject, reflect } from '#kubernetes/reflector/reflect.ts';
import type { Readers } from '#kubernetes/reflector/reflected.ts';

function json(input: object, readers: Readers = 'mixed'): Record<string, unknown> {
  const { object, rejection } = readObject(input);
  assert.equal(rejection, undefined, rejection?.reason);
  const { reflected } = reflect(object as ReflectedObject, readers);
  assert.ok(reflected);
  return reflected.resource.model.toJson(reflected.value) as Record<string, unknown>;
}

function policy(rule: object): unknown {
  const { ingress_rule } = json({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: 'a', namespace: 'shop' },
    spec: { podSelector: {}, policyTypes: ['Ingress'], ingress: [rule] },
  });
  return (ingress_rule as unknown[])[0];
}

function pod(more: { spec?: object; status?: object; metadata?: object }): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', namespace: 'shop', ...more.metadata },
    spec: { containers: [], ...more.spec },
    status: more.status,
  };
}

function service(
  spec: object,
  readers: Readers = 'mixed',
  more: { metadata?: object; status?: object } = {},
): Record<string, unknown> {
  const object = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'a', namespace: 'shop', ...more.metadata },
    spec: { clusterIP: '10.96.0.9', ports: [{ port: 80 }], ...spec },
    status: more.status,
  };
  return json(object, readers);
}

test('a pod that has ended has no address: another pod may have it by now', () => {
  const status = { podIP: '10.1.1.2', podIPs: [{ ip: '10.1.1.2' }, { ip: 'fd00::2' }] };
  const addressesOf = (phase: string) => {
    const { ip_address, ip_addresses } = json(pod({ status: { ...status, phase } }), 'own');
    return [ip_address, ip_addresses];
  };
  assert.deepEqual(addressesOf('Running'), ['10.1.1.2', ['10.1.1.2', 'fd00::2']]);
  for (const phase of ['Succeeded', 'Failed'])
    assert.deepEqual(addressesOf(phase), [undefined, undefined]);
});

test('a pod has the annotations for its bandwidth for the agents of this project alone', () => {
  const asked = {
    'kubernetes.io/ingress-bandwidth': '10M',
    'kubernetes.io/egress-bandwidth': '20M',
  };
  const metadata = { annotations: { ...asked, 'contivpp.io/x': '1', 'kubernetes.io/other': '2' } };
  const annotationsOf = (readers: Readers) => json(pod({ metadata }), readers)['annotations'];
  assert.deepEqual(annotationsOf('own'), { ...asked, 'contivpp.io/x': '1' });
  assert.deepEqual(annotationsOf('mixed'), { 'contivpp.io/x': '1' });
});

test('the UID of a static pod is the one that the runtime passes, not that of its mirror pod', () => {
  const annotations = {
    'kubernetes.io/config.mirror': '5e6f',
    'kubernetes.io/config.hash': '5e6f',
  };
  const uidOf = (metadata: object) =>
    json(pod({ metadata: { uid: '1-2', ...metadata } }), 'own').uid;
  assert.equal(uidOf({ annotations }), '5e6f');
  assert.equal(uidOf({}), '1-2');
  assert.equal(uidOf({ annotations: { 'kubernetes.io/config.hash': '5e6f' } }), '1-2');
});

test('a range of ports: the old fields contain its first port', () => {
  assert.deepEqual(policy({ ports: [{ protocol: 'TCP', port: 8000, endPort: 8999 }] }), {
    port: [{ port: { number: 8000 }, end_port: 8999 }],
  });
  assert.deepEqual(
    policy({ ports: [{ protocol: 'TCP', port: 8000, endPort: 8000 }] }),
    { port: [{ port: { number: 8000 } }] },
    'a range of one port needs no new field',
  );
});

test('pods of namespaces: the old fields contain a peer that selects no pod', () => {
  const peer = {
    podSelector: { matchLabels: { app: 'web' } },
    namespaceSelector: { matchLabels: { team: 'retail' } },
  };
  assert.deepEqual(policy({ from: [peer] }), {
    from: [
      {
        pods_in_namespaces: {
          pods: { match_label: [{ key: 'app', value: 'web' }] },
          namespaces: { match_label: [{ key: 'team', value: 'retail' }] },
        },
      },
    ],
  });
});

test('all pods of namespaces need no new field', () => {
  const namespaceSelector = { matchLabels: { team: 'retail' } };
  assert.deepEqual(policy({ from: [{ podSelector: {}, namespaceSelector }] }), {
    from: [{ namespaces: { match_label: [{ key: 'team', value: 'retail' }] } }],
  });
});

test('SCTP is never converted to TCP', () => {
  assert.deepEqual(policy({ ports: [{ protocol: 'SCTP', port: 5060 }] }), {
    port: [{ protocol: 'SCTP', port: { number: 5060 } }],
  });
  const { container } = json(
    pod({ spec: { containers: [{ ports: [{ containerPort: 5060, protocol: 'SCTP' }] }] } }),
  );
  assert.deepEqual(container, [{ port: [{ container_port: 5060, protocol: 'SCTP' }] }]);
});

test('a pod with two addresses has the main one in the old field', () => {
  const podIPs = [{ ip: '10.1.1.2' }, { ip: 'fd00::2' }];
  const dual = pod({ status: { podIP: '10.1.1.2', podIPs } });
  assert.equal(json(dual)['ip_address'], '10.1.1.2');
  assert.equal('ip_addresses' in json(dual), false);
  assert.deepEqual(json(dual, 'own')['ip_addresses'], ['10.1.1.2', 'fd00::2']);
});

test('the runtime class of a pod is written for own readers only', () => {
  const kata = pod({ spec: { runtimeClassName: 'kata', containers: [] } });
  assert.equal(json(kata, 'own')['runtime_class'], 'kata');
  assert.equal('runtime_class' in json(kata), false);
});

test('ports of sidecar containers are ports of the pod', () => {
  const initContainers = [
    { name: 'proxy', restartPolicy: 'Always', ports: [{ name: 'admin', containerPort: 15000 }] },
    { name: 'migrate', ports: [{ containerPort: 1 }] },
  ];
  const { container } = json(pod({ spec: { containers: [{ name: 'main' }], initContainers } }));
  assert.deepEqual(container, [
    { name: 'main' },
    { name: 'proxy', port: [{ name: 'admin', container_port: 15000 }] },
  ]);
});

test('a service has new fields only for what the original does not assume', () => {
  const written = service({
    internalTrafficPolicy: 'Local',
    clusterIPs: ['10.96.0.9', 'fd00:96::9'],
    ipFamilies: ['IPv4', 'IPv6'],
  });
  assert.equal(written['cluster_ip'], '10.96.0.9');
  assert.equal(written['internal_traffic_policy'], 'Local');
  assert.deepEqual(written['cluster_ips'], ['10.96.0.9', 'fd00:96::9']);
  const ordinary = service({ internalTrafficPolicy: 'Cluster', clusterIPs: ['10.96.0.9'] });
  for (const field of ['internal_traffic_policy', 'cluster_ips']) {
    assert.equal(field in ordinary, false, field);
  }
});

test('a preference is not written for agents of the original, which would reject the service', () => {
  const trafficDistribution = 'PreferSameZone';
  assert.equal('traffic_distribution' in service({ trafficDistribution }), false);
  const { traffic_distribution } = service({ trafficDistribution }, 'own');
  assert.equal(traffic_distribution, trafficDistribution);
});

test('no reader serves an address whose traffic must go through the load balancer', () => {
  const ingress = [
    { ip: '203.0.113.9', ipMode: 'VIP' },
    { ip: '203.0.113.10', ipMode: 'Proxy' },
    { hostname: 'lb.example.com', ipMode: 'Proxy' },
  ];
  const status = { loadBalancer: { ingress } };
  const mixed = service({ type: 'LoadBalancer' }, 'mixed', { status });
  assert.deepEqual(mixed['lb_ingress_ips'], ['203.0.113.9', '', '']);
  assert.equal('lb_proxy_ips' in mixed, false);
  const own = service({ type: 'LoadBalancer' }, 'own', { status });
  assert.deepEqual(own['lb_ingress_ips'], ['203.0.113.9', '', '']);
  assert.deepEqual(own['lb_proxy_ips'], ['203.0.113.10']);
});

test('a service of another proxy, or of none, has a field that the original rejects', () => {
  const labeled = (labels: object) => service({}, 'mixed', { metadata: { labels } });
  const byProxy = labeled({ 'service.kubernetes.io/service-proxy-name': 'mesh' });
  assert.equal(byProxy['proxy_name'], 'mesh');
  const unnamed = labeled({ 'service.kubernetes.io/service-proxy-name': '' });
  assert.equal(unnamed['proxy_name'], 'unnamed', 'Kubernetes looks at the presence of the label');
  assert.equal(labeled({ 'service.kubernetes.io/headless': '' })['headless'], true);
  const ordinary = labeled({ app: 'a' });
  for (const field of ['proxy_name', 'headless']) assert.equal(field in ordinary, false, field);
});

test('the creation time of a service is written for own readers only', () => {
  const metadata = { creationTimestamp: '2026-01-01T00:00:00Z' };
  assert.equal('creation_timestamp' in service({}, 'mixed', { metadata }), false);
  const { creation_timestamp } = service({}, 'own', { metadata });
  assert.equal(creation_timestamp, '2026-01-01T00:00:00Z');
});

test('data of nearly all objects is written only if no agent of the original reads it', () => {
  const withUid = pod({ metadata: { uid: '5c1f' } });
  assert.equal('uid' in json(withUid), false);
  assert.equal(json(withUid, 'own')['uid'], '5c1f');
  const node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n', labels: { 'topology.kubernetes.io/zone': 'north' } },
  };
  assert.equal('zone' in json(node), false);
  assert.equal(json(node, 'own')['zone'], 'north');
});
