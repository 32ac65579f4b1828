import type { DeepInput } from '#models/model.ts';
import { type Service, type ServicePort, serviceModel } from '../models/service.ts';
import { contivAnnotations } from './labels.ts';
import { namespaceOf } from './objects/meta.ts';
import type { KubeService, KubeServicePort } from './objects/service.ts';
import type { Readers } from './reflected.ts';

/** Default of Kubernetes, in seconds. */
const DEFAULT_AFFINITY_TIMEOUT = 10_800;

export function serviceValue(service: KubeService, readers: Readers): Service {
  const { metadata, spec, status } = service;
  const clusterIps = spec.clusterIPs ?? [];
  return serviceModel.canonical({
    name: metadata.name,
    namespace: namespaceOf(service),
    port: spec.ports?.map(portValue),
    selector: spec.selector,
    cluster_ip: spec.clusterIP,
    service_type: spec.type,
    external_ips: spec.externalIPs,
    lb_ingress_ips: status?.loadBalancer?.ingress?.map(({ ip }) => ip ?? ''),
    session_affinity: spec.sessionAffinity,
    loadbalancer_ip: spec.loadBalancerIP,
    loadbalancer_source_ranges: spec.loadBalancerSourceRanges,
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
  });
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
