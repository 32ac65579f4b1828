/** The objects of test/ksr/golden at an API server, and the records of the original's reflector. */
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { readManifests } from '#kubernetes/reflector/manifests.ts';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import type { KubeApiServer } from './kube-api-server.ts';
import type { KubeObject } from './kube-client.ts';
import type { Records } from './reflected-state.ts';

const folder = resolve(import.meta.dirname, '../../ksr/golden');

interface WithStatus extends KubeObject {
  readonly kind: string;
  readonly status?: unknown;
}

/** Creates the objects of both files of manifests, with their status. */
export function applyGoldenObjects(server: KubeApiServer): void {
  for (const name of ['ordinary.yaml', 'extended.yaml']) {
    const text = readFileSync(resolve(folder, name), 'utf8');
    server.apply(text);
    for (const { object } of readManifests(text, name).objects) {
      const { kind, metadata, status } = object as unknown as WithStatus;
      if (status === undefined) continue;
      const { namespace } = metadata;
      server.kubectl(
        'patch',
        kind,
        metadata.name,
        ...(namespace === undefined ? [] : [`--namespace=${namespace}`]),
        '--subresource=status',
        '--type=merge',
        `--patch=${JSON.stringify({ status })}`,
      );
    }
  }
}

/** The API server makes it: it differs in the port of the server. */
const ownService = `${REFLECTOR_PREFIX}${resources.service.key('kubernetes', 'default')}`;

/**
 * Records as objects, with their labels in order: the original writes them in a random one. Without the
 * service of the API server.
 */
export function comparable(records: Records): Record<string, unknown> {
  const byKey = [...records]
    .filter(([key]) => key !== ownService)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(byKey.map(([key, text]) => [key, withSortedLabels(JSON.parse(text))]));
}

function withSortedLabels(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedLabels);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, field]) => [
    name,
    isLabelList(name, field)
      ? field.toSorted((a, b) => (a.key < b.key ? -1 : 1))
      : withSortedLabels(field),
  ]);
  return Object.fromEntries(entries);
}

function isLabelList(name: string, field: unknown): field is { readonly key: string }[] {
  return (name === 'label' || name === 'match_label') && Array.isArray(field);
}

export function recordGolden(objects: readonly unknown[], original: Records): void {
  const write = (name: string, content: unknown) =>
    writeFileSync(resolve(folder, name), `${JSON.stringify(content, undefined, 2)}\n`);
  write('objects.gen.json', objects.map(withoutManagedFields));
  write('original.gen.json', comparable(original));
}

function withoutManagedFields(object: unknown): unknown {
  const { metadata, ...rest } = object as { metadata: Record<string, unknown> };
  const { managedFields: _, ...kept } = metadata;
  return { ...rest, metadata: kept };
}

/** Objects as the API server had them when they were recorded. */
export function goldenObjects(): unknown[] {
  return JSON.parse(readFileSync(resolve(folder, 'objects.gen.json'), 'utf8'));
}

/** Records that the original's reflector wrote for them, by key. */
export function goldenOriginal(): Record<string, unknown> {
  return JSON.parse(readFileSync(resolve(folder, 'original.gen.json'), 'utf8'));
}

/** Records that ours are instead of, or beside, those of the original. */
export function goldenExtensions(): Record<string, unknown> {
  return JSON.parse(readFileSync(resolve(folder, 'extensions.json'), 'utf8'));
}
