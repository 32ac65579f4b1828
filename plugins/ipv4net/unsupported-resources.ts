/** Kubernetes resources and annotations that are not supported yet: each one causes a warning. */

import type { Logger } from '#infra/log/log.ts';
import type { Pod } from '#kubernetes/models/pod.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import type { PodId } from '#plugins/podmanager/api.ts';

/** Keyword of the resource to the name of the feature. */
const features: ReadonlyMap<string, string> = new Map([
  ['customnetwork', 'custom networks'],
  ['external-interface', 'external interfaces'],
  ['servicefunctionchain', 'service chains'],
]);

const CUSTOM_INTERFACES = 'contivpp.io/custom-if';

type Log = Pick<Logger, 'warn'>;

export function isUnsupported(resource: string): boolean {
  return features.has(resource);
}

export function warnOfResource(log: Log, resource: string, key: string): void {
  log.warn({ key }, `${features.get(resource)} are not supported yet: ${key} has no effect`);
}

export function warnOfResources(log: Log, state: KubeState): void {
  for (const resource of features.keys())
    for (const key of state.get(resource)?.keys() ?? []) warnOfResource(log, resource, key);
}

/** Warns of an annotation of a pod that is ignored. */
export function warnOfPod(log: Log, state: KubeState, pod: PodId): void {
  const record = state.get('pod')?.get(resources.pod.key(pod.name, pod.namespace));
  const { annotations = {} } = (record as Pod | undefined) ?? {};
  const asked = Object.keys(annotations).find((name) => name.startsWith(CUSTOM_INTERFACES));
  if (asked === undefined) return;
  log.warn(
    { pod, interfaces: annotations[asked] },
    `custom interfaces are not supported yet: pod ${pod.namespace}/${pod.name} gets only its main interface`,
  );
}
