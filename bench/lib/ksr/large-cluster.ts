/**
 * Objects of a large cluster as an API server sends them, with the fields that kubelet, controllers and
 * kubectl add: a pod has 4 kB, a node 8 kB. Made from their number, so that they need no memory.
 */

export interface LargeObject {
  readonly [field: string]: unknown;
  readonly metadata: {
    readonly [field: string]: unknown;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

export interface LargeKind {
  /** Of the list. */
  readonly path: string;
  readonly kind: string;
  readonly apiVersion: string;
  readonly count: number;
  object(number: number): LargeObject;
}

export const NODES = 5_000;
export const PODS = 150_000;
export const SERVICES = 10_000;
const NAMESPACES = 200;
const POLICIES = 2_000;
/** A slice has up to 100. */
export const PODS_OF_SERVICE = PODS / SERVICES;

const namespaceOf = (service: number) => `team-${service % NAMESPACES}`;
const serviceOf = (pod: number) => Math.floor(pod / PODS_OF_SERVICE);
const podName = (pod: number) =>
  `app-${serviceOf(pod)}-7d9c5b6f4-${pod.toString(36).padStart(5, '0')}`;
const nodeOf = (pod: number) => pod % NODES;
const nodeName = (node: number) => `node-${node}.zone-${node % 3}.example.internal`;
const uid = (kind: number, number: number) =>
  `${number.toString(16).padStart(8, '0')}-7a04-4e8e-9a51-${kind.toString(16).padStart(12, '0')}`;
const nodeIp = (node: number) => `172.16.${node >> 8}.${node & 255}`;
const podIp = (pod: number) =>
  `10.${64 + (nodeOf(pod) >> 8)}.${nodeOf(pod) & 255}.${2 + Math.floor(pod / NODES)}`;
const TIME = '2026-11-02T08:15:30Z';

const metadata = (kind: number, number: number, name: string, more: object) => ({
  name,
  uid: uid(kind, number),
  resourceVersion: String(1_000_000 + number),
  generation: 1,
  creationTimestamp: TIME,
  ...more,
});

/** Which fields each program has set: a third of an object. */
const managedFields = (...managers: readonly string[]) =>
  managers.map((manager) => ({
    manager,
    operation: 'Update',
    apiVersion: 'v1',
    time: TIME,
    fieldsType: 'FieldsV1',
    fieldsV1: {
      'f:metadata': { 'f:labels': { '.': {}, 'f:app': {}, 'f:tier': {}, 'f:version': {} } },
      'f:spec': {
        'f:containers': {
          'k:{"name":"main"}': {
            '.': {},
            'f:image': {},
            'f:imagePullPolicy': {},
            'f:name': {},
            'f:ports': { '.': {}, 'k:{"containerPort":8080,"protocol":"TCP"}': { '.': {} } },
            'f:resources': { '.': {}, 'f:limits': {}, 'f:requests': {} },
          },
        },
        'f:dnsPolicy': {},
        'f:restartPolicy': {},
        'f:schedulerName': {},
      },
    },
  }));

function pod(number: number): LargeObject {
  const service = serviceOf(number);
  const labels = {
    app: `app-${service}`,
    tier: service % 10 === 0 ? 'frontend' : 'backend',
    version: 'v2.14',
    'app.kubernetes.io/part-of': 'shop',
    'pod-template-hash': '7d9c5b6f4',
  };
  const probe = { httpGet: { path: '/healthz', port: 8080, scheme: 'HTTP' }, periodSeconds: 10 };
  const condition = (type: string) => ({
    type,
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: TIME,
  });
  return {
    metadata: metadata(1, number, podName(number), {
      namespace: namespaceOf(service),
      generateName: `app-${service}-7d9c5b6f4-`,
      labels,
      annotations: { 'prometheus.io/scrape': 'true', 'prometheus.io/port': '8080' },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: `app-${service}-7d9c5b6f4`,
          uid: uid(9, service),
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      managedFields: managedFields('kube-controller-manager', 'kubelet'),
    }),
    spec: {
      volumes: [
        {
          name: 'kube-api-access',
          projected: {
            sources: [
              { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
              {
                configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] },
              },
            ],
          },
        },
      ],
      containers: [
        {
          name: 'main',
          image: 'registry.example.com/shop/app:2.14.3',
          ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
          env: Array.from({ length: 8 }, (_, at) => ({
            name: `SETTING_${at}`,
            value: `value ${at}`,
          })),
          resources: { limits: { memory: '512Mi' }, requests: { cpu: '100m', memory: '256Mi' } },
          volumeMounts: [
            { name: 'kube-api-access', readOnly: true, mountPath: '/var/run/secrets' },
          ],
          livenessProbe: probe,
          readinessProbe: probe,
          terminationMessagePath: '/dev/termination-log',
          imagePullPolicy: 'IfNotPresent',
        },
        { name: 'log-shipper', image: 'registry.example.com/infra/log-shipper:1.4.0' },
      ],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      serviceAccountName: 'default',
      nodeName: nodeName(nodeOf(number)),
      schedulerName: 'default-scheduler',
      tolerations: [
        { key: 'node.kubernetes.io/not-ready', operator: 'Exists', tolerationSeconds: 300 },
        { key: 'node.kubernetes.io/unreachable', operator: 'Exists', tolerationSeconds: 300 },
      ],
      priority: 0,
      enableServiceLinks: true,
    },
    status: {
      phase: 'Running',
      conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map(condition),
      hostIP: nodeIp(nodeOf(number)),
      hostIPs: [{ ip: nodeIp(nodeOf(number)) }],
      podIP: podIp(number),
      podIPs: [{ ip: podIp(number) }],
      startTime: TIME,
      containerStatuses: ['main', 'log-shipper'].map((name, at) => ({
        name,
        state: { running: { startedAt: TIME } },
        ready: true,
        restartCount: 0,
        image: `registry.example.com/shop/${name}:2.14.3`,
        imageID: `sha256:${uid(at, number).repeat(2)}`,
        containerID: `containerd://${uid(at, number).repeat(2)}`,
        started: true,
      })),
      qosClass: 'Burstable',
    },
  };
}

function node(number: number): LargeObject {
  const name = nodeName(number);
  return {
    metadata: metadata(2, number, name, {
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'topology.kubernetes.io/zone': `zone-${number % 3}`,
      },
      managedFields: managedFields('kubelet', 'kube-controller-manager'),
    }),
    spec: { podCIDR: `10.${64 + (number >> 8)}.${number & 255}.0/24` },
    status: {
      capacity: { cpu: '64', memory: '263856244Ki', pods: '110' },
      conditions: ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'].map((type) => ({
        type,
        status: type === 'Ready' ? 'True' : 'False',
        lastHeartbeatTime: TIME,
        lastTransitionTime: TIME,
        reason: `Kubelet${type}`,
        message: `kubelet reports ${type}`,
      })),
      addresses: [
        { type: 'InternalIP', address: nodeIp(number) },
        { type: 'Hostname', address: name },
      ],
      nodeInfo: {
        machineID: uid(3, number),
        kernelVersion: '6.12.48',
        osImage: 'Debian GNU/Linux 13',
        containerRuntimeVersion: 'containerd://2.1.4',
        kubeletVersion: 'v1.34.1',
        operatingSystem: 'linux',
        architecture: 'amd64',
      },
      images: Array.from({ length: 40 }, (_, at) => ({
        names: [`registry.example.com/shop/image-${at}@sha256:${uid(at, at).repeat(2)}`],
        sizeBytes: 100_000_000 + at,
      })),
    },
  };
}

function slice(number: number): LargeObject {
  const first = number * PODS_OF_SERVICE;
  return {
    metadata: metadata(4, number, `app-${number}-x7k2p`, {
      namespace: namespaceOf(number),
      labels: {
        'kubernetes.io/service-name': `app-${number}`,
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      },
      managedFields: managedFields('kube-controller-manager'),
    }),
    addressType: 'IPv4',
    endpoints: Array.from({ length: PODS_OF_SERVICE }, (_, at) => ({
      addresses: [podIp(first + at)],
      conditions: { ready: true, serving: true, terminating: false },
      targetRef: {
        kind: 'Pod',
        namespace: namespaceOf(number),
        name: podName(first + at),
        uid: uid(1, first + at),
      },
      nodeName: nodeName(nodeOf(first + at)),
      zone: `zone-${nodeOf(first + at) % 3}`,
    })),
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
  };
}

function service(number: number): LargeObject {
  const ip = `10.96.${number >> 8}.${number & 255}`;
  return {
    metadata: metadata(5, number, `app-${number}`, {
      namespace: namespaceOf(number),
      managedFields: managedFields('kubectl'),
    }),
    spec: {
      type: 'ClusterIP',
      clusterIP: ip,
      clusterIPs: [ip],
      ipFamilies: ['IPv4'],
      selector: { app: `app-${number}` },
      sessionAffinity: 'None',
      internalTrafficPolicy: 'Cluster',
      ports: [{ name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' }],
    },
  };
}

function policy(number: number): LargeObject {
  return {
    metadata: metadata(6, number, `policy-${number}`, {
      namespace: namespaceOf(number),
      managedFields: managedFields('kubectl'),
    }),
    spec: {
      podSelector: { matchLabels: { app: `app-${number}` } },
      policyTypes: ['Ingress'],
      ingress: [
        {
          from: [{ podSelector: { matchLabels: { tier: 'frontend' } } }],
          ports: [{ port: 8080, protocol: 'TCP' }],
        },
      ],
    },
  };
}

const namespace = (number: number) => ({
  metadata: metadata(7, number, `team-${number}`, { labels: { team: `team-${number}` } }),
});

export const pods: LargeKind = kind('Pod', 'v1', 'pods', PODS, pod);

export const largeCluster: readonly LargeKind[] = [
  kind('Namespace', 'v1', 'namespaces', NAMESPACES, namespace),
  kind('Node', 'v1', 'nodes', NODES, node),
  pods,
  kind('Service', 'v1', 'services', SERVICES, service),
  kind('Endpoints', 'v1', 'endpoints', 0, () => ({ metadata: {} })),
  kind('EndpointSlice', 'discovery.k8s.io/v1', 'endpointslices', SERVICES, slice),
  kind('NetworkPolicy', 'networking.k8s.io/v1', 'networkpolicies', POLICIES, policy),
];

function kind(
  name: string,
  apiVersion: string,
  plural: string,
  count: number,
  object: (number: number) => LargeObject,
): LargeKind {
  const root = apiVersion === 'v1' ? '/api' : '/apis';
  return { path: `${root}/${apiVersion}/${plural}`, kind: name, apiVersion, count, object };
}
