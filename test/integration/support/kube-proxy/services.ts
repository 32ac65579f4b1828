/** The services of the comparison, as objects of Kubernetes: each is one case, with endpoints on both nodes. */

/** Pods of both nodes, their hosts, and the ports at which each of them answers, over TCP and UDP. */
export const machines = {
  a1: { address: '10.1.1.2', node: 'node-a', ports: [8080, 8081] },
  a2: { address: '10.1.1.3', node: 'node-a', ports: [8080, 8081] },
  b1: { address: '10.1.2.2', node: 'node-b', ports: [8080, 8081] },
  b2: { address: '10.1.2.3', node: 'node-b', ports: [8080, 8081] },
  'node-a': { address: '172.16.0.1', node: 'node-a', ports: [9100] },
  'node-b': { address: '172.16.0.2', node: 'node-b', ports: [9100] },
} as const;

export type MachineName = keyof typeof machines;

/** Zones of the nodes. */
export const zones = { 'node-a': 'north', 'node-b': 'south' } as const;

interface Port {
  readonly name: string;
  readonly protocol: 'TCP' | 'UDP';
  readonly port: number;
  readonly nodePort?: number;
}

interface Endpoint {
  readonly of: MachineName;
  readonly conditions: { ready: boolean; serving: boolean; terminating: boolean };
  readonly zone?: string;
}

/** Endpoints with the same ports. */
interface Slice {
  readonly endpoints: readonly Endpoint[];
  /** By the name of the port of the service. */
  readonly ports: Readonly<Record<string, number>>;
}

interface ServiceCase {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec: object;
  /** Addresses of the load balancer. */
  readonly ingress?: readonly { readonly ip: string; readonly ipMode?: 'VIP' | 'Proxy' }[];
  readonly ports: readonly Port[];
  readonly slices: readonly Slice[];
}

const ready = (of: MachineName, zone?: string): Endpoint => ({
  of,
  conditions: { ready: true, serving: true, terminating: false },
  ...(zone !== undefined && { zone }),
});
const terminating = (of: MachineName): Endpoint => ({
  of,
  conditions: { ready: false, serving: true, terminating: true },
});
const notReady = (of: MachineName): Endpoint => ({
  of,
  conditions: { ready: false, serving: false, terminating: false },
});

const web: Port = { name: 'web', protocol: 'TCP', port: 80 };
const slice = (...endpoints: readonly Endpoint[]): Slice => ({ endpoints, ports: { web: 8080 } });
const onBoth = slice(ready('a2'), ready('b1'));
const onOther = slice(ready('b1'), ready('b2'));
const local = { externalTrafficPolicy: 'Local' } as const;

let lastNodePort = 30_000;
const nodePort = (): Port => ({ ...web, nodePort: ++lastNodePort });

/** A service with addresses of each kind. */
const everywhere = (
  name: string,
  at: number,
  spec: object,
  ...slices: readonly Slice[]
): ServiceCase => ({
  name,
  spec: { type: 'LoadBalancer', externalIPs: [`203.0.113.${at}`], ...spec },
  ingress: [{ ip: `198.51.100.${at}` }],
  ports: [nodePort()],
  slices,
});

export const serviceCases: readonly ServiceCase[] = [
  { name: 'cluster-ip', spec: {}, ports: [web], slices: [onBoth] },
  {
    name: 'two-ports',
    spec: {},
    ports: [web, { name: 'admin', protocol: 'TCP', port: 81 }],
    slices: [{ endpoints: [ready('a2'), ready('b1')], ports: { web: 8080, admin: 8081 } }],
  },
  {
    name: 'tcp-and-udp',
    spec: { type: 'NodePort' },
    ports: [
      { name: 'tcp', protocol: 'TCP', port: 53, nodePort: 31_053 },
      { name: 'udp', protocol: 'UDP', port: 53, nodePort: 31_053 },
    ],
    slices: [{ endpoints: [ready('a2'), ready('b1')], ports: { tcp: 8080, udp: 8081 } }],
  },
  {
    name: 'named-target-port',
    spec: {},
    ports: [web],
    slices: [slice(ready('a2')), { endpoints: [ready('b1')], ports: { web: 8081 } }],
  },
  everywhere('cluster', 1, {}, onBoth),
  everywhere('local', 2, local, onBoth),
  everywhere('local-elsewhere', 3, local, onOther),
  everywhere('internal-local', 4, { internalTrafficPolicy: 'Local' }, onBoth),
  everywhere('internal-local-elsewhere', 5, { internalTrafficPolicy: 'Local' }, onOther),
  everywhere('without-endpoints', 6, {}),
  everywhere('local-without-endpoints', 7, local),
  everywhere('terminating', 8, {}, slice(terminating('a2'), terminating('b1'))),
  everywhere('some-terminating', 9, {}, slice(terminating('a2'), ready('b1'))),
  everywhere('local-terminating', 10, local, slice(terminating('a2'), ready('b1'))),
  everywhere('not-ready', 11, {}, slice(notReady('a2'), ready('b1'))),
  everywhere('none-ready', 12, {}, slice(notReady('a2'), notReady('b1'))),
  // the controller of endpoints reports all of them as ready then
  everywhere('published-not-ready', 13, { publishNotReadyAddresses: true }, onBoth),
  everywhere('affinity', 14, { sessionAffinity: 'ClientIP' }, onBoth),
  everywhere('zones', 15, {}, slice(ready('a2', 'north'), ready('b1', 'south'))),
  everywhere('only-other-zone', 16, {}, slice(ready('a2', 'south'), ready('b1', 'south'))),
  everywhere('ranges-of-all', 17, { loadBalancerSourceRanges: ['0.0.0.0/0'] }, onBoth),
  everywhere('ranges-outside', 18, { loadBalancerSourceRanges: ['192.168.16.200/32'] }, onBoth),
  everywhere('ranges-of-pods', 19, { loadBalancerSourceRanges: ['10.1.0.0/16'] }, onBoth),
  everywhere('ranges-of-a-pod', 20, { loadBalancerSourceRanges: ['10.1.1.2/32'] }, onBoth),
  everywhere(
    'local-ranges',
    21,
    { ...local, loadBalancerSourceRanges: ['192.168.16.200/32'] },
    onOther,
  ),
  {
    ...everywhere('proxy-mode', 22, {}, onBoth),
    ingress: [{ ip: '198.51.100.22', ipMode: 'Proxy' }],
  },
  {
    name: 'hosts',
    spec: { type: 'NodePort' },
    ports: [nodePort()],
    slices: [{ endpoints: [ready('node-a'), ready('node-b')], ports: { web: 9100 } }],
  },
  {
    name: 'local-hosts',
    spec: { type: 'NodePort', ...local },
    ports: [nodePort()],
    slices: [{ endpoints: [ready('node-a'), ready('node-b')], ports: { web: 9100 } }],
  },
  { name: 'itself', spec: { type: 'NodePort' }, ports: [nodePort()], slices: [slice(ready('a1'))] },
  {
    name: 'other-proxy',
    labels: { 'service.kubernetes.io/service-proxy-name': 'other' },
    spec: { type: 'NodePort', externalIPs: ['203.0.113.101'] },
    ports: [nodePort()],
    slices: [onBoth],
  },
  { name: 'headless', spec: { clusterIP: 'None' }, ports: [web], slices: [onBoth] },
];

const NAMESPACE = 'shop';

/** Service objects, as they are created. Their status follows. */
export function serviceObjects(): {
  readonly object: { readonly metadata: { readonly name: string } };
  readonly status: object;
}[] {
  return serviceCases.map(({ name, labels = {}, spec, ingress = [], ports }, at) => ({
    object: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace: NAMESPACE, labels },
      spec: { clusterIP: `10.96.0.${at + 100}`, ports, ...spec },
    },
    status: { loadBalancer: { ingress } },
  }));
}

/** EndpointSlice objects. */
export function sliceObjects(): object[] {
  return serviceCases.flatMap(({ name, ports, slices }) =>
    slices.map((one, at) => ({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name: `${name}-${at}`,
        namespace: NAMESPACE,
        labels: { 'kubernetes.io/service-name': name },
      },
      addressType: 'IPv4',
      ports: ports.map((port) => ({
        name: port.name,
        protocol: port.protocol,
        port: one.ports[port.name],
      })),
      endpoints: one.endpoints.map(({ of, conditions, zone }) => ({
        addresses: [machines[of].address],
        nodeName: machines[of].node,
        conditions,
        ...(zone !== undefined && { hints: { forZones: [{ name: zone }] } }),
      })),
    })),
  );
}
