/** Kubernetes objects of services, and the state that the reflector makes of them. */
import { ManualClock } from '#infra/clock/manual.ts';
import { Slices } from '#infra/clock/slices.ts';
import { nodeModel } from '#kubernetes/models/node.ts';
import { mergedSlices } from '#kubernetes/reflector/endpoints.ts';
import type {
  KubeEndpointSlice,
  KubeSliceEndpoint,
} from '#kubernetes/reflector/objects/endpoints.ts';
import type { KubeService, KubeServicePort } from '#kubernetes/reflector/objects/service.ts';
import { serviceValue } from '#kubernetes/reflector/service.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { LocalNode } from '#plugins/service/processor/local-node.ts';
import { ServiceProcessor } from '#plugins/service/processor/service-processor.ts';

/** Node 1 of the default address plan. */
export const localNode: LocalNode = {
  name: 'node-a',
  families: [4],
  familiesOutside: [4],
  hostSources: ['172.16.0.1'],
  hasExternalIps: true,
  addresses: ['192.168.16.1', '10.20.0.1'],
  podSubnets: ['10.1.0.0/16'],
  ownPodSubnets: ['10.1.1.0/24'],
  network: {
    addresses: ['192.168.16.1', '10.20.0.1'],
    gateways: ['192.168.16.100'],
    subnets: { 'pod subnet': ['10.1.0.0/16'], 'VXLAN subnet': ['192.168.30.0/24'] },
  },
  neededPorts: [{ protocol: 'UDP', port: 4789, user: 'VXLAN' }],
  etcdEndpoints: [],
  otherNodes: [
    {
      name: 'node-b',
      routedAddresses: ['10.20.0.2'],
      addresses: ['10.20.0.2', '192.168.16.2'],
      nodePortAddresses: ['10.20.0.2', '192.168.16.2'],
    },
  ],
};

export type ServiceInput = Partial<KubeService['spec']> & {
  readonly name?: string;
  readonly created?: string;
  readonly labels?: Record<string, string>;
  readonly ingress?: readonly { ip?: string; ipMode?: string; hostname?: string }[];
};

/** A Service object of the namespace `shop`; the default is `web` with TCP port 80. */
export function service(input: ServiceInput = {}): KubeService {
  const { name = 'web', created, labels, ingress, ...spec } = input;
  return {
    kind: 'Service',
    metadata: {
      name,
      namespace: 'shop',
      ...(labels && { labels }),
      ...(created !== undefined && { creationTimestamp: created }),
    },
    spec: { type: 'ClusterIP', clusterIP: '10.96.0.9', ports: [port()], ...spec },
    ...(ingress && { status: { loadBalancer: { ingress: [...ingress] } } }),
  };
}

export function port(input: Partial<KubeServicePort> = {}): KubeServicePort {
  return { name: 'http', protocol: 'TCP', port: 80, ...input };
}

/** An endpoint that is ready. The second byte from the right is the number of its node. */
export function endpoint(
  address: string,
  more: Partial<KubeSliceEndpoint> = {},
): KubeSliceEndpoint {
  const nodeName = { '1': 'node-a', '2': 'node-b', '3': 'node-c' }[address.split('.')[2] ?? ''];
  return {
    addresses: [address],
    conditions: { ready: true },
    ...(nodeName !== undefined && { nodeName }),
    targetRef: { kind: 'Pod', namespace: 'shop', name: `pod-${address}` },
    ...more,
  };
}

export const notReady = { conditions: { ready: false } };
export const terminating = { conditions: { ready: false, serving: true, terminating: true } };

export function slice(
  endpoints: readonly KubeSliceEndpoint[],
  more: Partial<KubeEndpointSlice> & { readonly of?: string; readonly name?: string } = {},
): KubeEndpointSlice {
  const { of = 'web', name = of, ...rest } = more;
  return {
    kind: 'EndpointSlice',
    metadata: { name, namespace: 'shop', labels: { 'kubernetes.io/service-name': of } },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    endpoints: [...endpoints],
    ...rest,
  };
}

/** Records by resource and key, as events and the Kubernetes state have them. */
export type Records = Map<string, Map<string, object>>;

export function recordsOf(
  services: readonly KubeService[],
  slices: readonly KubeEndpointSlice[],
): Records {
  const serviceRecords = new Map<string, object>();
  for (const one of services) {
    const { name, namespace = '' } = one.metadata;
    serviceRecords.set(resources.service.key(name, namespace), serviceValue(one, 'own'));
  }
  const endpointRecords = new Map<string, object>();
  const groups = Map.groupBy(slices, ({ metadata }) =>
    [metadata.namespace, metadata.labels?.['kubernetes.io/service-name']].join('/'),
  );
  for (const [text, group] of groups) {
    const [namespace = '', name = ''] = text.split('/');
    const value = mergedSlices({ namespace, name }, group, 'own');
    endpointRecords.set(resources.endpoints.key(name, namespace), value);
  }
  return new Map([
    ['service', serviceRecords],
    ['endpoints', endpointRecords],
  ]);
}

/** A processor that has read the objects. */
export async function processed(
  services: readonly KubeService[],
  slices: readonly KubeEndpointSlice[] = [],
  { node = localNode, zone = '' }: { readonly node?: LocalNode; readonly zone?: string } = {},
): Promise<ServiceProcessor> {
  const records = recordsOf(services, slices);
  const nodeRecord = nodeModel.canonical({ name: node.name, zone });
  records.set('node', new Map([[resources.node.key(node.name, ''), nodeRecord]]));
  return ServiceProcessor.read(records, node, new Slices(new ManualClock()));
}

/** Backends of each address, as `TCP 10.96.0.9:80` and `10.1.1.2:8080`, in their order. */
export function backendsOf(processor: ServiceProcessor): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const { addresses } of processor.rendered().values()) {
    for (const { protocol, address, port: number, backends } of addresses) {
      const key = `${protocol} ${address}:${number}`;
      found[key] = backends.map((one) => `${one.address}:${one.port}`);
    }
  }
  return found;
}

/** Problems of all services that have some. */
export function problemsOf(processor: ServiceProcessor): Map<string, readonly string[]> {
  const all = processor.names().map((name) => [name, processor.problemsOf(name)] as const);
  return new Map(all.filter(([, problems]) => problems.length > 0));
}

/** Why addresses of a service are not rendered, by address and protocol. */
export function unrenderedOf(processor: ServiceProcessor, name = 'shop/web'): object {
  const unrendered = processor.describe(name)?.addresses ?? [];
  return Object.fromEntries(
    unrendered
      .filter(({ whyNotRendered }) => whyNotRendered !== undefined)
      .map((one) => [`${one.protocol} ${one.address}:${one.port}`, one.whyNotRendered]),
  );
}
