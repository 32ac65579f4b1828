/**
 * Random objects with fields as few write them: leading zeros, other spellings, empty and missing fields, unknown words,
 * newer fields, long names. An object has few of them, so that the API server accepts some; which, only it says.
 */
import fc from 'fast-check';

type Json = fc.Arbitrary<unknown>;
type Fields = Record<string, Json>;

/** Collection of a kind, and an arbitrary of its objects. */
export interface OddKind {
  readonly path: string;
  readonly objects: fc.Arbitrary<object>;
}

const mostly = <T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 20, arbitrary: usual }, odd);
const optional = (fields: Fields, required: readonly string[] = []) =>
  fc.record(fields, { requiredKeys: required as never[] });
const some = (one: Json, max = 2) => fc.array(one, { maxLength: max });
const words = (...all: string[]) => mostly(fc.constantFrom(...all), fc.constantFrom('', 'Unheard'));

const plainIp = fc.constantFrom('10.1.2.3', '192.168.7.9', '203.0.113.4', '010.001.2.3');
const byte = fc.oneof(
  { weight: 12, arbitrary: fc.nat(255).map(String) },
  { weight: 6, arbitrary: fc.nat(255).map((one) => String(one).padStart(3, '0')) },
  fc.constantFrom('00', '256', '0x1f', ' 1', ''),
);
const ipv4 = fc.tuple(byte, byte, byte, byte).map((parts) => parts.join('.'));
const ipv6 = fc.constantFrom(
  'fd00::1',
  'FD00:0:0:0:0:0:0:2',
  '0fd0::0003',
  '::ffff:10.0.0.1',
  '::ffff:0a00:0002',
  '64:ff9b::10.0.0.1',
  'fe80::1',
  'fe80::1%eth0',
  'fd00::g',
);
const oddIp = fc.oneof(ipv4, ipv6);
const ip = fc.oneof({ weight: 4, arbitrary: plainIp }, oddIp);
const bits = mostly(
  fc.constantFrom('8', '16', '24', '32', '08', '024', '0'),
  fc.constantFrom('33', '64', '104', '112', '129', '-1', '', '+8'),
);
const networks = fc.constantFrom('10.0.0.0/8', '010.0.0.0/08', '0.0.0.0/0', '::/0', 'fd00::/8');
const cidr = fc.oneof(
  { weight: 3, arbitrary: networks },
  { weight: 6, arbitrary: fc.tuple(plainIp, bits).map((parts) => parts.join('/')) },
  fc.tuple(ip, bits).map((parts) => parts.join('/')),
);

const label = mostly(
  fc.constantFrom('a', 'b', 'x.y/z', 'kubernetes.io/metadata.name', 'a'.repeat(63)),
  fc.constantFrom('', '-', 'Ä'),
);
const labelValue = mostly(
  fc.constantFrom('', '1', '2', 'a'.repeat(63)),
  fc.constantFrom('_', 'v 1', 'a'.repeat(64)),
);
const labels = fc.dictionary(label, labelValue, { maxKeys: 2 });
const values = fc.array(labelValue, { minLength: 1, maxLength: 2 });
const expression: Json = fc.oneof(
  fc.record({ key: label, operator: fc.constantFrom('In', 'NotIn'), values }),
  fc.record({ key: label, operator: fc.constantFrom('Exists', 'DoesNotExist') }),
  fc.record({ key: label, operator: words('In', 'Exists', 'Gt'), values: some(labelValue) }),
);
const selector: Json = fc.oneof(
  optional({ matchLabels: labels, matchExpressions: some(expression) }),
  fc.constant({}),
);
const newer = { unheardOf: fc.constantFrom(1, 'x', true, [], {}) };

const protocol = mostly(fc.constantFrom('TCP', 'UDP', 'SCTP'), fc.constantFrom('tcp', 'ICMP', ''));
const number = mostly(fc.constantFrom(1, 80, 8080, 65_535), fc.constantFrom(0, 65_536, -1));
const portName = mostly(
  fc.constantFrom('http', 'a', 'a'.repeat(15), '8-0a'),
  fc.constantFrom('80', 'a'.repeat(16), 'A', ''),
);
const port: Json = fc.oneof(number, portName);

const shortName = fc.constantFrom('web', 'n1', 'x'.repeat(63));
const longName = `${'n'.repeat(60)}.`.repeat(4) + 'n'.repeat(9);
const name = mostly(shortName, fc.constantFrom('a.b', longName, '0', 'A', 'a_b', 'n'.repeat(253)));
const metadata = optional({ name, labels }, ['name']);

const except = fc.constantFrom('10.1.0.0/16', '010.1.2.0/024', '10.1.2.3/32', '::1/128');
const peer: Json = fc.oneof(
  { weight: 4, arbitrary: fc.record({ podSelector: selector, namespaceSelector: selector }) },
  { weight: 4, arbitrary: fc.record({ podSelector: selector }) },
  { weight: 4, arbitrary: fc.record({ ipBlock: fc.record({ cidr }) }) },
  {
    weight: 4,
    arbitrary: fc.record({ ipBlock: fc.record({ cidr: networks, except: some(except, 1) }) }),
  },
  optional({ podSelector: selector, ipBlock: optional({ cidr }), ...newer }),
);
const policyPort: Json = fc.oneof(
  { weight: 8, arbitrary: optional({ protocol, port }) },
  {
    weight: 3,
    arbitrary: fc.record({ protocol, port: fc.constantFrom(1, 80), endPort: number }),
  },
  optional({ protocol, port, endPort: number }),
);
const policy = {
  apiVersion: fc.constant('networking.k8s.io/v1'),
  kind: fc.constant('NetworkPolicy'),
  metadata,
  spec: optional({
    podSelector: selector,
    policyTypes: some(words('Ingress', 'Egress')),
    ingress: some(optional({ ports: some(policyPort, 1), from: some(peer) }), 1),
    egress: some(optional({ ports: some(policyPort, 1), to: some(peer) }), 1),
  }),
};

const servicePort = fc.record(
  { name: portName, protocol, port: number, targetPort: port },
  { requiredKeys: ['name', 'port'] },
);
const ports = fc.uniqueArray(servicePort, {
  minLength: 1,
  maxLength: 2,
  selector: (one) => one.name,
});
const clusterIP = mostly(fc.constantFrom('10.96.002.004', '10.96.3.7', '010.96.0.9', ''), oddIp);
const anyService = {
  ports,
  selector: labels,
  externalIPs: some(mostly(plainIp, oddIp), 1),
  publishNotReadyAddresses: fc.boolean(),
  internalTrafficPolicy: words('Cluster', 'Local'),
  trafficDistribution: words('PreferClose', 'PreferSameNode', 'PreferSameZone'),
  ipFamilies: some(words('IPv4'), 1),
  ipFamilyPolicy: words('SingleStack', 'PreferDualStack'),
  ...newer,
};
const outside = { ...anyService, externalTrafficPolicy: words('Cluster', 'Local') };
const ofType = (type: string, fields: Fields) =>
  optional({ type: fc.constant(type), ...fields }, ['type', 'ports']);
const service = {
  apiVersion: fc.constant('v1'),
  kind: fc.constant('Service'),
  metadata: fc.record({ name: mostly(shortName, name), labels }),
  spec: fc.oneof(
    ofType('ClusterIP', { ...anyService, clusterIP }),
    ofType('ClusterIP', { ...anyService, clusterIP: fc.constant('None') }),
    ofType('NodePort', { ...outside, clusterIP }),
    ofType('LoadBalancer', {
      ...outside,
      loadBalancerIP: ip,
      loadBalancerSourceRanges: some(cidr, 1),
      allocateLoadBalancerNodePorts: fc.boolean(),
    }),
    ofType('ExternalName', { ports, externalName: words('example.com', '10.1.1.1') }),
    ofType('ClusterIP', {
      ports,
      sessionAffinity: words('None', 'ClientIP'),
      sessionAffinityConfig: optional({ clientIP: optional({ timeoutSeconds: number }) }),
      healthCheckNodePort: number,
    }),
  ),
};

const nodeAddress = fc.record({
  type: words('InternalIP', 'ExternalIP', 'Hostname', 'InternalDNS'),
  address: fc.oneof(ip, fc.string()),
});
const node = {
  apiVersion: fc.constant('v1'),
  kind: fc.constant('Node'),
  metadata,
  spec: optional({ podCIDR: cidr, unschedulable: fc.boolean() }),
  status: optional({
    addresses: fc.uniqueArray(nodeAddress, { maxLength: 3, selector: (one) => one.address }),
  }),
};

const sliceEndpoint = optional(
  {
    addresses: fc.tuple(mostly(plainIp, oddIp)),
    conditions: optional({ ready: fc.boolean(), serving: fc.boolean(), terminating: fc.boolean() }),
    hostname: shortName,
    nodeName: name,
    zone: fc.constantFrom('', 'a'),
    hints: optional({ forZones: some(fc.record({ name: fc.constantFrom('a', 'b') }), 1) }),
    targetRef: optional({ kind: words('Pod'), name, namespace: name }),
  },
  ['addresses'],
);
const slice = {
  apiVersion: fc.constant('discovery.k8s.io/v1'),
  kind: fc.constant('EndpointSlice'),
  metadata: fc.record({
    name,
    labels: mostly(fc.constant({ 'kubernetes.io/service-name': 'web' }), fc.constant({})),
  }),
  addressType: mostly(fc.constant('IPv4'), words('IPv6', 'FQDN')),
  endpoints: some(sliceEndpoint),
  ports: some(optional({ name: portName, protocol, port: number, appProtocol: words('http') }), 1),
};

const endpoints = {
  apiVersion: fc.constant('v1'),
  kind: fc.constant('Endpoints'),
  metadata,
  subsets: some(
    fc.record({
      addresses: fc.tuple(optional({ ip: mostly(plainIp, oddIp), nodeName: name }, ['ip'])),
      notReadyAddresses: some(fc.record({ ip: plainIp }), 1),
      ports: fc.tuple(optional({ name: portName, protocol, port: number }, ['port'])),
    }),
  ),
};

const containerPort = optional(
  { name: portName, protocol, containerPort: number, hostIP: mostly(plainIp, oddIp) },
  ['containerPort'],
);
const container = (called: string, fields: Fields = {}) =>
  optional(
    {
      name: fc.constant(called),
      image: fc.constant('i'),
      ports: some(containerPort, 1),
      ...fields,
    },
    ['name', 'image'],
  );
const pod = {
  apiVersion: fc.constant('v1'),
  kind: fc.constant('Pod'),
  metadata,
  spec: optional(
    {
      containers: fc.tuple(container('a'), container('b')),
      initContainers: fc.tuple(container('s', { restartPolicy: words('Always') })),
      nodeName: name,
      hostname: words('h'),
      subdomain: words('s'),
    },
    ['containers'],
  ),
};

const namespace = { apiVersion: fc.constant('v1'), kind: fc.constant('Namespace'), metadata };

const ofKind = (path: string, fields: Fields): OddKind => ({
  path,
  objects: fc.record(fields) as fc.Arbitrary<object>,
});

export const oddKinds: readonly OddKind[] = [
  ofKind('/apis/networking.k8s.io/v1/namespaces/default/networkpolicies', policy),
  ofKind('/api/v1/namespaces/default/services', service),
  ofKind('/api/v1/nodes', node),
  ofKind('/api/v1/namespaces', namespace),
  ofKind('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', slice),
  ofKind('/api/v1/namespaces/default/endpoints', endpoints),
  ofKind('/api/v1/namespaces/default/pods', pod),
];

/** Changes of the status of an object, which a creation ignores. */
export const oddStatuses: readonly OddKind[] = [
  ofKind('/api/v1/namespaces/default/pods/base/status', {
    status: optional({
      phase: words('Pending', 'Running', 'Succeeded', 'Failed'),
      podIP: ip,
      podIPs: some(optional({ ip })),
      hostIP: ip,
      hostIPs: some(optional({ ip })),
    }),
  }),
  ofKind('/api/v1/namespaces/default/services/base/status', {
    status: fc.record({
      loadBalancer: fc.record({
        ingress: some(optional({ ip, hostname: name, ipMode: words('VIP', 'Proxy') })),
      }),
    }),
  }),
];
