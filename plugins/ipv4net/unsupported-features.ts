/**
 * Features that can be configured and are not supported yet. Each one in use causes a warning at every
 * Database Resync and an entry in the status. An entry here also has a line in README.md; the change that builds
 * the feature removes both.
 */

import type { Logger } from '#infra/log/log.ts';
import type { Pod } from '#kubernetes/models/pod.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { ContivConfApi } from '#plugins/contivconf/api.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import type { PodId } from '#plugins/podmanager/api.ts';

type Conf = Pick<ContivConfApi, 'useSrv6ForServices'>;

interface UnsupportedFeature {
  /** As in README.md. */
  readonly name: string;
  /** Keyword of the resource, if the feature has one. */
  readonly resource?: keyof typeof resources;
  /** Prefix of the annotation of a pod, if the feature has one. */
  readonly annotation?: string;
  readonly isConfigured?: (conf: Conf) => boolean;
  /** Log each object that appears between two resyncs, too. */
  readonly logsChanges?: true;
}

export const unsupportedFeatures: readonly UnsupportedFeature[] = [
  { name: 'SRv6 for services', isConfigured: (conf) => conf.useSrv6ForServices() },
  { name: 'custom networks', resource: 'customnetwork', logsChanges: true },
  { name: 'external interfaces', resource: 'external-interface', logsChanges: true },
  { name: 'service chains', resource: 'servicefunctionchain', logsChanges: true },
  { name: 'custom interfaces of pods', annotation: 'contivpp.io/custom-if' },
  {
    name: 'custom IPAM of pods',
    resource: 'custom-ipam',
    annotation: 'contivpp.io/custom-ipam',
  },
  { name: 'microservice labels of pods', annotation: 'contivpp.io/microservice-label' },
  { name: 'service endpoint interfaces of pods', annotation: 'contivpp.io/service-endpoint-if' },
];

type Log = Pick<Logger, 'warn'>;

/** Number of objects and pods that use each feature, as of the last resync and the changes since. */
export class UnsupportedFeatures {
  readonly #conf: Conf;
  readonly #pods = new Map<string, number>();
  #objects: ReadonlyMap<string, number> = new Map();

  constructor(conf: Conf, state: KubeState) {
    this.#conf = conf;
    this.#countObjects(state);
    for (const value of state.get('pod')?.values() ?? [])
      for (const name of featuresOf(value as Pod))
        this.#pods.set(name, (this.#pods.get(name) ?? 0) + 1);
  }

  /** Features in use, each with the number of objects that have no effect. */
  texts(): string[] {
    return unsupportedFeatures.flatMap(({ name, isConfigured }) => {
      if (isConfigured?.(this.#conf)) return [`${name} (configured)`];
      const objects = this.#objects.get(name) ?? 0;
      const pods = this.#pods.get(name) ?? 0;
      const counts = [
        ...(objects > 0 ? [`${objects} ${objects === 1 ? 'object' : 'objects'}`] : []),
        ...(pods > 0 ? [`${pods} ${pods === 1 ? 'pod' : 'pods'}`] : []),
      ];
      return counts.length === 0 ? [] : [`${name} (${counts.join(', ')})`];
    });
  }

  warn(log: Log): void {
    for (const text of this.texts()) log.warn(`not supported yet, without effect: ${text}`);
  }

  /** An object was added, changed or deleted. */
  change(state: KubeState, log: Log, resource: string, key: string, exists: boolean): void {
    this.#countObjects(state);
    const feature = unsupportedFeatures.find((one) => one.resource === resource);
    if (exists && feature?.logsChanges)
      log.warn({ key }, `${feature.name} are not supported yet: ${key} has no effect`);
  }

  #countObjects(state: KubeState): void {
    const objects = new Map<string, number>();
    for (const { name, resource } of unsupportedFeatures)
      if (resource) objects.set(name, state.get(resource)?.size ?? 0);
    this.#objects = objects;
  }
}

/** Whether all objects of a resource are without effect. */
export function isUnsupported(resource: string): boolean {
  return unsupportedFeatures.some((feature) => feature.resource === resource);
}

/** Names of the features that the annotations of a pod ask for. */
function featuresOf({ annotations }: Pod): string[] {
  const keys = Object.keys(annotations);
  return unsupportedFeatures
    .filter(({ annotation }) => annotation && keys.some((key) => key.startsWith(annotation)))
    .map(({ name }) => name);
}

/** Warns of annotations of a pod that are ignored. */
export function warnOfPod(log: Log, state: KubeState, pod: PodId): void {
  const record = state.get('pod')?.get(resources.pod.key(pod.name, pod.namespace));
  if (!record) return;
  for (const name of featuresOf(record as Pod))
    log.warn({ pod }, `${name} are not supported yet: pod ${pod.namespace}/${pod.name}`);
}
