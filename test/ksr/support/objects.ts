import type { TestObject } from './reflected-cluster.ts';

export function pod(name: string, label = 'a', extra: object = {}): TestObject {
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name, namespace: 'default', labels: { app: label } },
    spec: { nodeName: 'node1', containers: [{ name: 'main' }] },
    status: { phase: 'Running', podIP: '10.1.1.2', hostIP: '192.168.0.1' },
    ...extra,
  };
}

export function policy(name: string, label = 'a'): TestObject {
  return {
    kind: 'NetworkPolicy',
    apiVersion: 'networking.k8s.io/v1',
    metadata: { name, namespace: 'default' },
    spec: { podSelector: { matchLabels: { app: label } }, policyTypes: ['Ingress'] },
  };
}

export function node(name: string): TestObject {
  return { kind: 'Node', apiVersion: 'v1', metadata: { name }, spec: { podCIDR: '10.1.0.0/24' } };
}

export function endpoints(name: string, ip = '10.1.1.2'): TestObject {
  return {
    kind: 'Endpoints',
    apiVersion: 'v1',
    metadata: { name, namespace: 'default' },
    subsets: [{ addresses: [{ ip }], ports: [{ name: 'http', port: 80, protocol: 'TCP' }] }],
  };
}

export function slice(name: string, service: string, ip = '10.1.1.2'): TestObject {
  return {
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    metadata: { name, namespace: 'default', labels: { 'kubernetes.io/service-name': service } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [ip], conditions: { ready: true }, nodeName: 'node1' }],
    ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
  };
}
