/** Kubernetes objects with their location in the manifests. */

import type { ManifestProblem, SourceLocation } from './manifest-problem.ts';
import { namespaceOf } from './objects/meta.ts';
import type { KubeObject } from './objects/object.ts';

export interface SourcedObject<T extends KubeObject = KubeObject> {
  readonly object: T;
  readonly source: SourceLocation;
}

export function ofKind<K extends KubeObject['kind']>(
  placed: readonly SourcedObject[],
  kind: K,
): SourcedObject<Extract<KubeObject, { kind: K }>>[] {
  return placed.filter(
    (one): one is SourcedObject<Extract<KubeObject, { kind: K }>> => one.object.kind === kind,
  );
}

const clusterWide: ReadonlySet<string> = new Set<KubeObject['kind']>([
  'Namespace',
  'Node',
  'ClusterNetworkPolicy',
  'NodeConfig',
  'CustomNetwork',
  'ExternalInterface',
  'ServiceFunctionChain',
]);

export function isNamespaced(object: KubeObject): boolean {
  return !clusterWide.has(object.kind);
}

/** `<namespace>/<name>`, or the name alone for cluster-scoped objects. */
export function displayName(object: KubeObject): string {
  const { name } = object.metadata;
  return isNamespaced(object) ? `${namespaceOf(object)}/${name}` : name;
}

/** Keeps the last one of several objects with the same name, as when they are applied in order. */
export function withoutDuplicates(
  placed: readonly SourcedObject[],
  problems: ManifestProblem[],
): SourcedObject[] {
  const last = new Map<string, SourcedObject>();
  for (const one of placed) {
    const id = `${one.object.kind} ${displayName(one.object)}`;
    const earlier = last.get(id);
    if (earlier !== undefined) {
      const { file, line } = one.source;
      problems.push({
        ...earlier.source,
        kind: one.object.kind,
        name: displayName(one.object),
        reason: `overridden by the definition at ${file}:${line}`,
      });
    }
    last.set(id, one);
  }
  return [...last.values()];
}
