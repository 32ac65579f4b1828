/**
 * JSON schemas for kubeconform, from the OpenAPI document of a kube-apiserver: one file for each kind, with the
 * definitions that it needs, and closed, so that an unknown field is an error.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

type Node = Readonly<Record<string, unknown>>;

interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** For `-schema-location`. */
export const SCHEMA_PATTERN = '{{.Group}}-{{.ResourceAPIVersion}}-{{.ResourceKind}}.json';

const REFERENCE = '#/definitions/';

/** Definitions whose values are a number or a text, which the document declares as texts. */
const numberOrText = [
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
  'io.k8s.apimachinery.pkg.api.resource.Quantity',
];

/** @param openApi the document of /openapi/v2 */
export function writeSchemas(
  openApi: { readonly definitions: Readonly<Record<string, Node>> },
  folder: string,
): void {
  mkdirSync(folder, { recursive: true });
  const closed = new Map(
    Object.entries(openApi.definitions).map(([name, node]) => [
      name,
      numberOrText.includes(name) ? { type: ['string', 'number'] } : (close(node) as Node),
    ]),
  );
  for (const [name, node] of Object.entries(openApi.definitions)) {
    const kinds = (node['x-kubernetes-group-version-kind'] ?? []) as GroupVersionKind[];
    if (kinds.length !== 1) continue;
    const [{ group, version, kind }] = kinds as [GroupVersionKind];
    const schema = { $ref: REFERENCE + name, definitions: reachable(name, closed) };
    // kubeconform calls the group of the core by its version
    const file = `${group || version}-${version}-${kind.toLowerCase()}.json`;
    writeFileSync(join(folder, file), JSON.stringify(schema));
  }
}

function reachable(name: string, all: ReadonlyMap<string, Node>): Record<string, Node> {
  const found: Record<string, Node> = {};
  const waiting = [name];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next in found) continue;
    found[next] = all.get(next)!;
    for (const [, reference] of JSON.stringify(found[next]).matchAll(/"#\/definitions\/([^"]+)"/g))
      waiting.push(reference!);
  }
  return found;
}

/** Without formats, which describe no text, and with no other properties than the declared ones. */
function close(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(close);
  if (typeof node !== 'object' || node === null) return node;
  const { format: _, description: __, ...rest } = node as Node;
  const entries = Object.entries(rest).map(([name, value]) => [
    name,
    name === 'properties' ? closeAll(value as Node) : close(value),
  ]);
  const isOpen = rest['properties'] === undefined || 'additionalProperties' in rest;
  return { ...Object.fromEntries(entries), ...(!isOpen && { additionalProperties: false }) };
}

function closeAll(properties: Node): Node {
  return Object.fromEntries(Object.entries(properties).map(([name, node]) => [name, close(node)]));
}
