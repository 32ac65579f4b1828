/** Random services and endpoints that often share addresses, ports and pods. */
import fc from 'fast-check';
import type {
  KubeEndpointSlice,
  KubeSliceEndpoint,
} from '#kubernetes/reflector/objects/endpoints.ts';
import type { KubeService } from '#kubernetes/reflector/objects/service.ts';
import { endpoint, slice } from './service-objects.ts';

const names = ['a', 'b', 'c'];
const portNames = ['http', ''];

function mostly<T>(usual: fc.Arbitrary<T>, other: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 6, arbitrary: usual }, { weight: 1, arbitrary: other });
}

export const someName = fc.constantFrom(...names);
const somePolicy = fc.constantFrom<('Cluster' | 'Local')[]>('Cluster', 'Local');

const somePorts = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom(...portNames),
    protocol: mostly<'TCP' | 'UDP' | 'SCTP'>(fc.constantFrom('TCP', 'UDP'), fc.constant('SCTP')),
    port: fc.constantFrom(80, 30_080),
    nodePort: fc.constantFrom(0, 30_080, 30_081),
  }),
  { minLength: 1, maxLength: 2, selector: ({ name }) => name },
);

const someIps = fc.uniqueArray(
  fc.constantFrom(
    '198.51.100.7',
    '198.51.100.8',
    '10.96.0.1',
    '10.1.1.3',
    '192.168.16.1',
    'fd00::7',
  ),
  { maxLength: 3 },
);

export const someService = fc.record({
  type: fc.constantFrom<NonNullable<KubeService['spec']['type']>[]>(
    'ClusterIP',
    'NodePort',
    'LoadBalancer',
    'ExternalName',
  ),
  clusterIPs: mostly(
    fc.constantFrom<string[][]>(['10.96.0.1'], ['10.96.0.2'], ['fd00:96::1', '10.96.0.3']),
    fc.constantFrom<string[][]>(['fd00:96::2'], ['None'], ['']),
  ),
  ports: somePorts,
  externalIPs: someIps,
  ingress: fc.array(
    fc.record({
      ip: fc.constantFrom('198.51.100.7', '203.0.113.9', ''),
      ipMode: fc.constantFrom('VIP', 'Proxy'),
    }),
    { maxLength: 2 },
  ),
  loadBalancerSourceRanges: mostly(
    fc.constant<string[]>([]),
    fc.subarray(['192.168.16.200/32', '10.1.0.0/16', '10.1.1.2/31', 'fd00::/8', '10.1.0.0/33']),
  ),
  externalTrafficPolicy: somePolicy,
  internalTrafficPolicy: somePolicy,
  sessionAffinity: fc.constantFrom<('ClientIP' | 'None')[]>('ClientIP', 'None'),
  created: fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', '2026-01-03T00:00:00Z'),
  labels: mostly(
    fc.constant<Record<string, string>>({}),
    fc.constantFrom<Record<string, string>[]>(
      { 'service.kubernetes.io/service-proxy-name': 'mesh' },
      { 'service.kubernetes.io/headless': '' },
    ),
  ),
});

export type ServiceObject = typeof someService extends fc.Arbitrary<infer T> ? T : never;

/** Hints count only if all endpoints have one. */
function someHint(...places: string[]): fc.Arbitrary<string[]> {
  return mostly(fc.subarray(places, { minLength: 1 }), fc.constant<string[]>([]));
}

const someConditions = fc.constantFrom<NonNullable<KubeSliceEndpoint['conditions']>[]>(
  {},
  {},
  { ready: true },
  { ready: false },
  { ready: false, serving: true, terminating: true },
  { ready: false, serving: false, terminating: true },
);

/** The slices of a service: the first endpoints have other target ports than the others. */
export interface EndpointsInput {
  readonly ports: readonly { name: string; protocol: 'TCP' | 'UDP'; port: number }[];
  readonly first: readonly KubeSliceEndpoint[];
  readonly second: readonly KubeSliceEndpoint[];
}

/** Endpoints of a service at some of the addresses. */
export function someEndpoints(...addresses: string[]): fc.Arbitrary<EndpointsInput> {
  const someEndpoint = fc.record({
    address: fc.constantFrom(...addresses),
    conditions: someConditions,
    zones: someHint('north', 'south'),
    nodes: someHint('node-a', 'node-b'),
  });
  const someTargetPort = fc.record({
    name: fc.constantFrom(...portNames),
    protocol: fc.constantFrom('TCP' as const, 'UDP' as const),
    port: fc.constantFrom(8080, 9090),
  });
  return fc
    .tuple(
      fc.uniqueArray(someEndpoint, {
        selector: ({ address }) => address,
        minLength: 1,
        maxLength: 5,
      }),
      fc.uniqueArray(someTargetPort, {
        minLength: 2,
        selector: ({ name, protocol }) => `${name} ${protocol}`,
      }),
      fc.nat(4),
      fc.subarray(['zones', 'nodes']),
    )
    .map(([all, ports, cut, hinted]) => {
      const hints = (places: readonly string[], kind: string) =>
        hinted.includes(kind) ? places.map((name) => ({ name })) : [];
      const endpoints = all.map(({ address, conditions, zones, nodes }) =>
        endpoint(address, {
          conditions,
          hints: { forZones: hints(zones, 'zones'), forNodes: hints(nodes, 'nodes') },
        }),
      );
      return { ports, first: endpoints.slice(0, cut), second: endpoints.slice(cut) };
    });
}

export function slicesOf(name: string, input: EndpointsInput): KubeEndpointSlice[] {
  const otherPorts = input.ports.map((one) => ({ ...one, port: one.port + 1 }));
  return [
    slice(input.first, { of: name, name: `${name}-1`, ports: [...input.ports] }),
    slice(input.second, { of: name, name: `${name}-2`, ports: otherPorts }),
  ];
}
