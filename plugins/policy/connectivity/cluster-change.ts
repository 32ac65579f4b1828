/** A change of the cluster that an operator asks about: the body of a request. */
import type { Slices } from '#infra/clock/slices.ts';
import { BadRequestError } from '#infra/http/route.ts';
import type { Pod } from '#kubernetes/models/pod.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';

export interface ClusterChange {
  /** The state of Kubernetes after the change. */
  readonly kube: KubeState;
  /** Objects that are ignored, and why; what the cluster would refuse. */
  readonly problems: readonly string[];
}

/** Converts an object of Kubernetes to its record. */
export type ReflectObject = (object: unknown) => ReflectedRecord | { readonly reason: string };

export interface ReflectedRecord {
  /** Keyword of its resource. */
  readonly keyword: string;
  readonly key: string;
  readonly value: object;
  readonly reason?: undefined;
}

/** Each is validated and compared with the others; the body has a limit in bytes, too. */
const MAX_OBJECTS = 1_000;

const sections = ['added', 'changed', 'removed'] as const;

type Section = (typeof sections)[number];

/** Resources that decide about connectivity, by the kind of their objects. */
const resourcesOfKinds = {
  NetworkPolicy: resources.policy,
  Namespace: resources.namespace,
  Pod: resources.pod,
} as const;

type Records = Map<string, Map<string, object>>;

/**
 * @param body `{added, changed, removed}`: lists of Kubernetes objects; of removed ones, kind and metadata are read
 * @throws BadRequestError
 */
export async function clusterChange(
  body: unknown,
  kube: KubeState,
  reflectObject: ReflectObject,
  slices: Slices,
): Promise<ClusterChange> {
  const lists = listsOf(body);
  const records: Records = new Map(Array.from(kube, ([keyword, of]) => [keyword, new Map(of)]));
  const problems: string[] = [];
  for (const section of sections) {
    for (const [at, object] of lists[section].entries()) {
      await slices.turn();
      const reason =
        section === 'removed'
          ? remove(records, object)
          : put(records, section, reflectObject(object));
      if (reason !== undefined) problems.push(`${section}[${at}]: ${reason}`);
    }
  }
  return { kube: records, problems };
}

function listsOf(body: unknown): Readonly<Record<Section, readonly unknown[]>> {
  const form = 'the body has to be {"added": [], "changed": [], "removed": []} with objects';
  if (!isRecord(body)) throw new BadRequestError(form);
  const unknown = Object.keys(body).find((name) => !sections.some((one) => one === name));
  if (unknown !== undefined) throw new BadRequestError(`${form}, without ${unknown}`);
  const lists = { added: [], changed: [], removed: [], ...body };
  if (!sections.every((name) => Array.isArray(lists[name]))) throw new BadRequestError(form);
  const count = sections.reduce((sum, name) => sum + lists[name].length, 0);
  if (count > MAX_OBJECTS)
    throw new BadRequestError(`the body has ${count} objects; ${MAX_OBJECTS} are allowed`);
  return lists;
}

function put(
  records: Records,
  section: Section,
  reflected: ReturnType<ReflectObject>,
): string | undefined {
  if (reflected.reason !== undefined) return reflected.reason;
  const { keyword, key, value } = reflected;
  const of = recordsOf(records, keyword);
  const before = of.get(key);
  of.set(key, keyword === resources.pod.keyword ? withStatus(value as Pod, before as Pod) : value);
  if (section === 'added') return before && `${key} exists already; it is changed`;
  return before ? undefined : `${key} does not exist; it is added`;
}

function remove(records: Records, object: unknown): string | undefined {
  const { kind, metadata } = isRecord(object) ? object : {};
  const { name, namespace = 'default' } = isRecord(metadata) ? metadata : {};
  if (typeof name !== 'string' || typeof namespace !== 'string') return 'metadata.name is missing';
  if (typeof kind !== 'string' || !isKnownKind(kind))
    return `the kind has to be one of ${Object.keys(resourcesOfKinds).join(', ')}`;
  const { keyword, key } = resourcesOfKinds[kind];
  const id = key(name, kind === 'Namespace' ? '' : namespace);
  return recordsOf(records, keyword).delete(id) ? undefined : `${id} does not exist`;
}

/** A manifest of a running pod may be without what the cluster has added. */
function withStatus(pod: Pod, before: Pod | undefined): Pod {
  if (before === undefined || pod.ip_address !== '') return pod;
  const { ip_address, ip_addresses, host_ip_address, uid } = before;
  return { ...pod, ip_address, ip_addresses, host_ip_address, uid };
}

function recordsOf(records: Records, keyword: string): Map<string, object> {
  const known = records.get(keyword) ?? new Map<string, object>();
  records.set(keyword, known);
  return known;
}

function isKnownKind(kind: string): kind is keyof typeof resourcesOfKinds {
  return Object.hasOwn(resourcesOfKinds, kind);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
