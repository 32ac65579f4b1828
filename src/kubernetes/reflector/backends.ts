/** Computes the endpoints of a service from its pods, as the endpoints controller of Kubernetes. */
import { ipFamily, parseKubernetesIp } from '#models/ip.ts';
import { type EndpointPort, type Endpoints, endpointsModel } from '../models/endpoints.ts';
import { hasLabels } from './labels.ts';
import { namespaceOf } from './objects/meta.ts';
import {
  hasEnded,
  type KubePod,
  longRunningContainers,
  numberedPorts,
  podAddresses,
} from './objects/pod.ts';
import type { KubeService, KubeServicePort } from './objects/service.ts';
import type { Readers } from './reflected.ts';
import { type Backend, type BackendState, subsetsOf } from './subsets.ts';
import { type NodeZones, topologyHints } from './topology-hints.ts';

/** Whether the endpoints of the service are computed from pods; others are created manually. */
export function selectsPods(service: KubeService): boolean {
  const { type, selector } = service.spec;
  return type !== 'ExternalName' && Object.keys(selector ?? {}).length > 0;
}

export function selectsPod(service: KubeService, pod: KubePod): boolean {
  return (
    selectsPods(service) &&
    namespaceOf(service) === namespaceOf(pod) &&
    hasLabels(pod.metadata.labels, service.spec.selector ?? {})
  );
}

/**
 * Endpoints of a service with a selector: all selected pods that have an address.
 * @param pods pods of all namespaces; those of other namespaces are ignored
 * @param zones of the nodes, for the preference of the service
 */
export function endpointsOf(
  service: KubeService,
  pods: readonly KubePod[],
  readers: Readers = 'mixed',
  zones: NodeZones = new Map(),
): Endpoints {
  const backends = pods
    .filter((pod) => selectsPod(service, pod) && !hasEnded(pod))
    .flatMap((pod) => backendsOf(service, pod, readers === 'own' ? zones : undefined));
  return endpointsModel.canonical({
    name: service.metadata.name,
    namespace: namespaceOf(service),
    endpoint_subsets: subsetsOf(backends, readers),
  });
}

/** @param zones undefined: the readers know no hints */
function backendsOf(service: KubeService, pod: KubePod, zones: NodeZones | undefined): Backend[] {
  const state = backendState(service, pod);
  const servicePorts = service.spec.ports ?? [];
  const ports = servicePorts.flatMap((port) => resolvePort(port, pod));
  // the service has named ports, and the pod has none of them
  if (state === undefined || (ports.length === 0 && servicePorts.length > 0)) return [];
  const { name, uid } = pod.metadata;
  const { nodeName, hostname, subdomain } = pod.spec ?? {};
  const families = serviceFamilies(service);
  const hints = zones && state === 'ready' ? topologyHints(service, nodeName, zones) : undefined;
  return podAddresses(pod)
    .filter((ip) => families.has(familyOf(ip)))
    .map((ip) => ({
      state,
      ports,
      address: {
        ip,
        host_name: subdomain === service.metadata.name ? hostname : undefined,
        node_name: nodeName,
        target_ref: { kind: 'Pod', namespace: namespaceOf(pod), name, uid },
        ...hints,
      },
    }));
}

/** A pod without a Ready condition is ready: it has no probe. */
function backendState(service: KubeService, pod: KubePod): BackendState | undefined {
  if (service.spec.publishNotReadyAddresses) return 'ready';
  const condition = pod.status?.conditions?.find(({ type }) => type === 'Ready');
  const answers = condition === undefined || condition.status === 'True';
  if (pod.metadata.deletionTimestamp === undefined) return answers ? 'ready' : 'not-ready';
  return answers ? 'draining' : undefined;
}

function resolvePort(port: KubeServicePort, pod: KubePod): EndpointPort[] {
  const { name = '', protocol = 'TCP', targetPort = port.port } = port;
  if (typeof targetPort === 'number') {
    return [{ name, protocol, port: targetPort === 0 ? port.port : targetPort }];
  }
  for (const container of longRunningContainers(pod)) {
    const found = numberedPorts(container).find(
      (one) => one.name === targetPort && (one.protocol ?? 'TCP') === protocol,
    );
    if (found !== undefined) return [{ name, protocol, port: found.containerPort }];
  }
  return [];
}

function familyOf(address: string): number {
  const bytes = parseKubernetesIp(address);
  return bytes === undefined ? 0 : ipFamily(bytes);
}

function serviceFamilies({ spec }: KubeService): Set<number> {
  const named = (spec.ipFamilies ?? []).map((family) => (family === 'IPv4' ? 4 : 6));
  if (named.length > 0) return new Set(named);
  const addresses = [spec.clusterIP ?? '', ...(spec.clusterIPs ?? [])].map(familyOf);
  const known = addresses.filter((family) => family !== 0);
  // headless without families: the families of the pods
  return new Set(known.length > 0 ? known : [4, 6]);
}
