/** Kubernetes objects of a manifest. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
  readonly spec?: unknown;
  readonly rules?: readonly Rule[];
}

/** Of a role. */
export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

interface Probe {
  readonly httpGet: { readonly host: string; readonly path: string; readonly port: number };
  readonly initialDelaySeconds?: number;
  readonly periodSeconds: number;
  readonly timeoutSeconds: number;
  readonly failureThreshold: number;
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly securityContext: {
    readonly privileged?: boolean;
    readonly capabilities?: { readonly add?: readonly string[] };
  };
  readonly resources: { readonly limits: Readonly<Record<string, string>> };
  readonly startupProbe: Probe;
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
}

interface PodSpec {
  readonly containers: readonly Container[];
  readonly volumes: readonly Volume[];
}

interface Volume {
  readonly name: string;
  readonly projected?: {
    readonly sources: readonly {
      readonly configMap?: { readonly name: string };
      readonly secret?: { readonly name: string };
    }[];
  };
}

export function objectsOf(manifest: string): KubernetesObject[] {
  return parseAllDocuments(manifest)
    .map((document) => {
      assert.deepEqual(document.errors, []);
      return document.toJS() as KubernetesObject | null;
    })
    .filter((object) => object !== null);
}

export function find(
  objects: readonly KubernetesObject[],
  kind: string,
  name: string,
): KubernetesObject {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name);
  assert.ok(found, `${kind} ${name}`);
  return found;
}

/** Of a workload. */
export function podSpec(workload: KubernetesObject): PodSpec {
  return (workload.spec as { template: { spec: PodSpec } }).template.spec;
}

export function containerOf(workload: KubernetesObject, name: string): Container {
  const found = podSpec(workload).containers.find((container) => container.name === name);
  assert.ok(found, name);
  return found;
}

/** Content of the volume `config` of a workload, by file name. */
export function configFiles(
  objects: readonly KubernetesObject[],
  workload: KubernetesObject,
): Record<string, string> {
  const volume = podSpec(workload).volumes.find(({ name }) => name === 'config');
  assert.ok(volume?.projected, workload.metadata.name);
  const files: Record<string, string> = {};
  for (const { configMap, secret } of volume.projected.sources) {
    if (configMap) Object.assign(files, find(objects, 'ConfigMap', configMap.name).data);
    if (secret) Object.assign(files, find(objects, 'Secret', secret.name).stringData);
  }
  return files;
}

/** A folder with files, which is removed with it. */
export class FolderOfFiles implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'deploy-'));

  constructor(files: Readonly<Record<string, string>>) {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(this.path, name), text);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
