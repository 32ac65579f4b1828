import type { DeepInput } from '#models/model.ts';
import { type Service, type ServicePort, serviceModel } from '../models/service.ts';
import { contivAnnotations } from './labels.ts';
import { namespaceOf } from './objects/meta.ts';
import type { KubeIngress, KubeService, KubeServicePort } from './objects/service.ts';
import type { Readers } from './reflected.ts';

const PROXY_NAME_LABEL = 'service.kubernetes.io/service-proxy-name';
/** With them Kubernetes gives the endpoints hints. */
const topologyAnnotations = [
  'service.kubernetes.io/topology-mode',
  'service.kubernetes.io/topology-aware-hints',
];
const SOURCE_RANGES_ANNOTATION = 'service.beta.kubernetes.io/load-balancer-source-ranges';
const HEADLESS_LABEL = 'service.kubernetes.io/headless';
/** Default of Kubernetes, in seconds. */
const DEFAULT_AFFINITY_TIMEOUT = 10_800;

export function serviceValue(service: KubeService, readers: Readers): Service {
  const { metadata, spec, status } = service;
  const clusterIps = spec.clusterIPs ?? [];
  const ingress = status?.loadBalancer?.ingress ?? [];
  return serviceModel.canonical({
    name: metadata.name,
    namespace: namespaceOf(service),
    port: spec.ports?.map(portValue),
    selector: spec.selector,
    cluster_ip: spec.clusterIP,
    service_type: spec.type,
    external_ips: spec.externalIPs,
    lb_ingress_ips: ingress.map((entry) => (isProxied(entry) ? '' : (entry.ip ?? ''))),
    session_affinity: spec.sessionAffinity,
    loadbalancer_ip: spec.loadBalancerIP,
    loadbalancer_source_ranges: sourceRanges(service),
    external_traffic_policy: spec.externalTrafficPolicy,
    health_check_node_port: spec.healthCheckNodePort,
    session_affinity_timeout:
      spec.sessionAffinity === 'ClientIP'
        ? (spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? DEFAULT_AFFINITY_TIMEOUT)
        : undefined,
    annotations: contivAnnotations(metadata.annotations),
    internal_traffic_policy: spec.internalTrafficPolicy === 'Local' ? 'Local' : undefined,
    cluster_ips: clusterIps.length > 1 ? clusterIps : undefined,
    traffic_distribution: readers === 'own' ? spec.trafficDistribution : undefined,
    proxy_name: proxyName(metadata.labels),
    headless: metadata.labels?.[HEADLESS_LABEL] !== undefined,
    creation_timestamp: readers === 'own' ? metadata.creationTimestamp : undefined,
    lb_proxy_ips:
      readers === 'own'
        ? ingress.filter(isProxied).flatMap(({ ip }) => (ip === undefined ? [] : [ip]))
        : undefined,
  });
}

/** The annotation is the former form of the field: the API server accepts it, and cloud providers read it. */
function sourceRanges({ metadata, spec }: KubeService): readonly string[] | undefined {
  if (spec.loadBalancerSourceRanges?.length) return spec.loadBalancerSourceRanges;
  const annotation = metadata.annotations?.[SOURCE_RANGES_ANNOTATION]?.trim();
  return annotation ? annotation.split(',') : undefined;
}

/** Preference of the service that its record leaves out, because readers of the original would reject it. */
export function omittedPreference(
  { metadata, spec, status }: KubeService,
  readers: Readers,
): string | undefined {
  if (readers === 'own') return undefined;
  if (spec.trafficDistribution) return `trafficDistribution: ${spec.trafficDistribution}`;
  const topology = topologyAnnotations.find((name) => metadata.annotations?.[name] === 'Auto');
  if (topology) return `annotation ${topology}: Auto`;
  if (status?.loadBalancer?.ingress?.some(isProxied)) return 'ipMode: Proxy of an ingress address';
  return undefined;
}

/** Whether clients must reach the address through the load balancer, which then uses node ports. */
function isProxied({ ipMode }: KubeIngress): boolean {
  return ipMode === 'Proxy';
}

/** Kubernetes looks at the presence of the label only. */
function proxyName(labels: Readonly<Record<string, string>> | undefined): string | undefined {
  const name = labels?.[PROXY_NAME_LABEL];
  return name === '' ? 'unnamed' : name;
}

function portValue(port: KubeServicePort): DeepInput<ServicePort> {
  const target = port.targetPort;
  return {
    name: port.name,
    protocol: port.protocol,
    port: port.port,
    target_port:
      typeof target === 'string' ? { type: 'STRING', string_val: target } : { int_val: target },
    node_port: port.nodePort,
  };
}
