import { type Node, nodeModel } from '../models/node.ts';
import { labelList } from './labels.ts';
import type { KubeNode } from './objects/cluster.ts';
import type { Readers } from './reflected.ts';

const addressTypes = new Map([
  ['Hostname', 'NodeHostName'],
  ['ExternalIP', 'NodeExternalIP'],
  ['InternalIP', 'NodeInternalIP'],
  ['ExternalDNS', 'NodeExternalDNS'],
  ['InternalDNS', 'NodeInternalDNS'],
] as const);

export function nodeValue({ metadata, spec, status }: KubeNode, readers: Readers): Node {
  const info = status?.nodeInfo;
  return nodeModel.canonical({
    name: metadata.name,
    pod_CIDR: spec?.podCIDR,
    provider_ID: spec?.providerID,
    addresses: status?.addresses?.flatMap(({ type, address }) => {
      const known = addressTypes.get(type as 'Hostname');
      return known === undefined ? [] : [{ type: known, address }];
    }),
    node_info: {
      machine_ID: info?.machineID,
      system_UUID: info?.systemUUID,
      boot_ID: info?.bootID,
      kernel_version: info?.kernelVersion,
      os_image: info?.osImage,
      container_runtime_version: info?.containerRuntimeVersion,
      kubelet_version: info?.kubeletVersion,
      KubeProxyVersion: info?.kubeProxyVersion,
      OperatingSystem: info?.operatingSystem,
      Architecture: info?.architecture,
    },
    label: readers === 'own' ? labelList(metadata.labels) : [],
    zone: readers === 'own' ? metadata.labels?.['topology.kubernetes.io/zone'] : undefined,
  });
}
