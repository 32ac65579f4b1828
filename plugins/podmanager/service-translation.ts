/** The choice of a pod how addresses of services are translated for it. */
import type { Pod } from '#kubernetes/models/pod.ts';
import { type KeyNames, resources } from '#kubernetes/resources/resources.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';

/** Annotation of a pod. Without the value `packets` its sockets are translated, where the kernel does that. */
const ANNOTATION = 'contivpp.io/service-translation';
const PACKETS = 'packets';

/** Whether VPP is to translate the packets of a pod, because a proxy in it needs the addresses of services. */
export function wantsPackets(kubeState: KubeState, { name, namespace }: KeyNames): boolean {
  const record = kubeState.get('pod')?.get(resources.pod.key(name, namespace)) as Pod | undefined;
  return record?.annotations[ANNOTATION] === PACKETS;
}
