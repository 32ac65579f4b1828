/** Defaults that the API server fills in; manifests do not contain them. */
import type { KubeNamespace } from './objects/cluster.ts';
import type { KubeContainer, KubePod } from './objects/pod.ts';
import type { KubePolicy } from './objects/policy.ts';
import type { KubeService, KubeServicePort } from './objects/service.ts';

export function withNamespaceDefaults(namespace: KubeNamespace): KubeNamespace {
  const { name, labels } = namespace.metadata;
  const named = { ...labels, 'kubernetes.io/metadata.name': name };
  return { ...namespace, metadata: { ...namespace.metadata, labels: named } };
}

export function withPodDefaults(pod: KubePod): KubePod {
  const { spec } = pod;
  if (spec === undefined) return pod;
  const { containers, initContainers, hostNetwork = false } = spec;
  const filled = (container: KubeContainer) => containerDefaults(container, hostNetwork);
  return {
    ...pod,
    spec: {
      ...spec,
      ...(containers && { containers: containers.map(filled) }),
      ...(initContainers && { initContainers: initContainers.map(filled) }),
    },
  };
}

function containerDefaults(container: KubeContainer, hostNetwork: boolean): KubeContainer {
  const { ports } = container;
  if (ports === undefined) return container;
  return {
    ...container,
    ports: ports.map((port) => ({
      protocol: 'TCP',
      ...port,
      ...(hostNetwork &&
        !port.hostPort &&
        port.containerPort !== undefined && { hostPort: port.containerPort }),
    })),
  };
}

/** Its specification is of unknown shape. */
export function withPolicyDefaults(policy: KubePolicy): KubePolicy {
  const { spec = {} } = policy;
  const { policyTypes, egress } = Object(spec) as { policyTypes?: unknown; egress?: unknown };
  if (typeof spec !== 'object' || !isEmpty(policyTypes)) return policy;
  const implied = isEmpty(egress) ? ['Ingress'] : ['Ingress', 'Egress'];
  return { ...policy, spec: { ...spec, policyTypes: implied } };
}

function isEmpty(list: unknown): boolean {
  return list === undefined || (Array.isArray(list) && list.length === 0);
}

/** Without addresses and node ports; see service-ips.ts. */
export function withServiceDefaults(service: KubeService): KubeService {
  const { spec } = service;
  const type = spec.type ?? 'ClusterIP';
  const outside = type === 'NodePort' || type === 'LoadBalancer';
  return {
    ...service,
    spec: {
      sessionAffinity: 'None',
      ...(outside && { externalTrafficPolicy: 'Cluster' }),
      ...(type !== 'ExternalName' && { internalTrafficPolicy: 'Cluster' }),
      ...spec,
      type,
      ...(spec.ports && { ports: spec.ports.map(portDefaults) }),
    },
  };
}

function portDefaults(port: KubeServicePort): KubeServicePort {
  return { protocol: 'TCP', targetPort: port.port, ...port };
}
