import type { DeepInput } from '#models/model.ts';
import { type Pod, type PodContainer, podModel } from '../models/pod.ts';
import { contivAnnotations, labelList, podAnnotations } from './labels.ts';
import { namespaceOf } from './objects/meta.ts';
import {
  hasEnded,
  type KubeContainer,
  type KubePod,
  longRunningContainers,
  numberedPorts,
  podAddresses,
  runtimeUid,
} from './objects/pod.ts';
import type { Readers } from './reflected.ts';

export function podValue(pod: KubePod, readers: Readers): Pod {
  const { metadata, spec, status } = pod;
  // The API keeps the address of a pod that has ended, although another pod may have it by now.
  const addresses = hasEnded(pod) ? [] : podAddresses(pod);
  return podModel.canonical({
    name: metadata.name,
    namespace: namespaceOf(pod),
    label: labelList(metadata.labels),
    ip_address: addresses[0],
    host_ip_address: status?.hostIP,
    container: longRunningContainers(pod).map(containerValue),
    annotations: (readers === 'own' ? podAnnotations : contivAnnotations)(metadata.annotations),
    labels: metadata.labels,
    uid: readers === 'own' ? runtimeUid(pod) : undefined,
    ip_addresses: readers === 'own' && addresses.length > 1 ? addresses : undefined,
    runtime_class: readers === 'own' ? spec?.runtimeClassName : undefined,
  });
}

function containerValue(container: KubeContainer): DeepInput<PodContainer> {
  return {
    name: container.name,
    port: numberedPorts(container).map((port) => ({
      name: port.name,
      host_port: port.hostPort,
      container_port: port.containerPort,
      protocol: port.protocol,
      host_ip_address: port.hostIP,
    })),
  };
}
