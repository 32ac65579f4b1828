/** The choice of a pod how addresses of services are translated for it. */
import type { Pod } from '#kubernetes/models/pod.ts';
import { type KeyNames, resources } from '#kubernetes/resources/resources.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import type { KubeStateChangePayload } from '#plugins/controller/api/events.ts';

/** Annotation of a pod; other values than these two have no effect. */
const ANNOTATION = 'contivpp.io/service-translation';
const [PACKETS, SOCKETS] = ['packets', 'sockets'];

/**
 * Whether VPP is to translate the packets of a pod: a proxy in it needs the addresses of services, or its sockets are
 * not those of the node's kernel (Kata, gVisor). A runtime class counts as such a sandbox, because with sockets that the node
 * does not see a pod has no services, and with packets a pod of any runtime has them, only slower.
 */
export function wantsPackets(kubeState: KubeState, { name, namespace }: KeyNames): boolean {
  const record = kubeState.get('pod')?.get(resources.pod.key(name, namespace)) as Pod | undefined;
  return record !== undefined && asksForPackets(record);
}

/** Whether the change of a record changes the choice of its pod. */
export function changesTranslation({
  resource,
  previous,
  current,
}: KubeStateChangePayload): boolean {
  if (resource !== 'pod') return false;
  const [before, after] = [previous, current].map(
    (record) => record !== undefined && asksForPackets(record as Pod),
  );
  return before !== after;
}

function asksForPackets({ annotations, runtime_class }: Pod): boolean {
  const wanted = annotations[ANNOTATION];
  return wanted === PACKETS || (wanted !== SOCKETS && runtime_class !== '');
}
