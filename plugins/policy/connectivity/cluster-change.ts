/** A change of the cluster that an operator asks about: the body of a request. */
import type { Slices } from '#infra/clock/slices.ts';
import { BadRequestError } from '#infra/http/route.ts';
import type { Endpoints } from '#kubernetes/models/endpoints.ts';
import type { Pod } from '#kubernetes/models/pod.ts';
import type { Service } from '#kubernetes/models/service.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import { hostPortsName, type ServiceName } from '#plugins/service/api.ts';
import { completeEndpoints } from './completed-change.ts';
import { completedService } from './service-records.ts';

export interface ClusterChange {
  /** The state of Kubernetes after the change. */
  readonly kube: KubeState;
  /** Objects that are ignored, and why; what the cluster would refuse; what it would choose. */
  readonly problems: readonly string[];
  /** Services that the change names, or whose endpoints it names. */
  readonly services: ReadonlySet<ServiceName>;
}

/** Converts an object of Kubernetes to its record. */
export type ReflectObject = (object: unknown) => ReflectedRecord | { readonly reason: string };

export interface ReflectedRecord {
  /** Keyword of its resource. */
  readonly keyword: string;
  readonly key: string;
  readonly value: object;
  /** Whether it is one of several parts of the record, as an EndpointSlice is. */
  readonly isPart?: boolean;
  readonly reason?: undefined;
}

export interface ClusterChangeDeps {
  readonly reflectObject: ReflectObject;
  /** CIDR from which services get addresses. */
  readonly serviceSubnet: () => string;
}

/** Each is validated and compared with the others; the body has a limit in bytes, too. */
const MAX_OBJECTS = 1_000;

const sections = ['added', 'changed', 'removed'] as const;

type Section = (typeof sections)[number];

/** Resources that decide about connectivity and services, by the kind of their objects. */
const resourcesOfKinds = {
  NetworkPolicy: resources.policy,
  ClusterNetworkPolicy: resources.clusternetworkpolicy,
  Namespace: resources.namespace,
  Pod: resources.pod,
  Node: resources.node,
  Service: resources.service,
  Endpoints: resources.endpoints,
} as const;

const clusterWide: ReadonlySet<string> = new Set(['Namespace', 'Node', 'ClusterNetworkPolicy']);

type Records = Map<string, Map<string, object>>;

/**
 * @param body `{added, changed, removed}`: lists of Kubernetes objects; of removed ones, kind and metadata are read
 * @throws BadRequestError
 */
export async function clusterChange(
  body: unknown,
  kube: KubeState,
  deps: ClusterChangeDeps,
  slices: Slices,
): Promise<ClusterChange> {
  const lists = listsOf(body);
  const change = new AppliedChange(kube, deps);
  for (const section of sections) {
    for (const [at, object] of lists[section].entries()) {
      await slices.turn();
      change.apply(section, at, object);
    }
  }
  return await change.completed(slices);
}

/** The records with the objects of the request. */
class AppliedChange {
  readonly #before: KubeState;
  readonly #deps: ClusterChangeDeps;
  readonly #records: Records;
  readonly #problems: string[] = [];
  /** Keys of the records that the objects are. */
  readonly #named = new Map<string, Set<string>>();
  readonly #parts = new Set<string>();

  constructor(kube: KubeState, deps: ClusterChangeDeps) {
    this.#before = kube;
    this.#deps = deps;
    this.#records = new Map(Array.from(kube, ([keyword, of]) => [keyword, new Map(of)]));
  }

  /** @param at position in the list of the request */
  apply(section: Section, at: number, object: unknown): void {
    const reason =
      section === 'removed' ? this.#remove(object) : this.#put(section, this.#reflected(object));
    if (reason !== undefined) this.#problems.push(`${section}[${at}]: ${reason}`);
  }

  async completed(slices: Slices): Promise<ClusterChange> {
    const named = (keyword: string): ReadonlySet<string> => this.#named.get(keyword) ?? new Set();
    const notes = await completeEndpoints(
      this.#before,
      this.#records,
      { services: named('service'), pods: named('pod'), endpoints: named('endpoints') },
      slices,
    );
    const services = new Set<ServiceName>();
    for (const { keyword, parseKey } of [resources.service, resources.endpoints])
      for (const key of named(keyword)) {
        const names = parseKey(key);
        if (names) services.add(`${names.namespace}/${names.name}`);
      }
    for (const key of named('pod')) {
      const pod = resources.pod.parseKey(key);
      if (pod) services.add(hostPortsName(pod));
    }
    return { kube: this.#records, problems: [...this.#problems, ...notes], services };
  }

  #reflected(object: unknown): ReturnType<ReflectObject> {
    return this.#deps.reflectObject(object);
  }

  #put(section: Section, reflected: ReturnType<ReflectObject>): string | undefined {
    if (reflected.reason !== undefined) return reflected.reason;
    const { keyword, key, value, isPart = false } = reflected;
    const of = recordsOf(this.#records, keyword);
    const before = of.get(key);
    this.#name(keyword, key);
    if (isPart && this.#parts.has(key)) {
      of.set(key, withSubsets(of.get(key) as Endpoints, value as Endpoints));
      return undefined;
    }
    of.set(key, this.#completed(keyword, value, before));
    if (isPart) {
      this.#parts.add(key);
      return before && `the slices of the request replace all endpoints of ${key}`;
    }
    if (section === 'added') return before && `${key} exists already; it is changed`;
    return before ? undefined : `${key} does not exist; it is added`;
  }

  /** A manifest is without what the cluster has added to the object. */
  #completed(keyword: string, value: object, before: object | undefined): object {
    if (keyword === resources.pod.keyword) return withStatus(value as Pod, before as Pod);
    if (keyword !== resources.service.keyword) return value;
    const { service, notes } = completedService(
      value as Service,
      before as Service | undefined,
      recordsOf(this.#records, keyword).values() as Iterable<Service>,
      this.#deps.serviceSubnet(),
    );
    this.#problems.push(...notes);
    return service;
  }

  #remove(object: unknown): string | undefined {
    const { kind, metadata } = isRecord(object) ? object : {};
    const { name, namespace = 'default' } = isRecord(metadata) ? metadata : {};
    if (typeof name !== 'string' || typeof namespace !== 'string')
      return 'metadata.name is missing';
    if (typeof kind !== 'string' || !isKnownKind(kind))
      return `the kind has to be one of ${Object.keys(resourcesOfKinds).join(', ')}`;
    const { keyword, key } = resourcesOfKinds[kind];
    const id = key(name, clusterWide.has(kind) ? '' : namespace);
    if (!recordsOf(this.#records, keyword).delete(id)) return `${id} does not exist`;
    this.#name(keyword, id);
    if (kind === 'Service') {
      const endpoints = resources.endpoints.key(name, namespace);
      if (recordsOf(this.#records, 'endpoints').delete(endpoints))
        this.#name('endpoints', endpoints);
    }
    return undefined;
  }

  #name(keyword: string, key: string): void {
    this.#named.set(keyword, (this.#named.get(keyword) ?? new Set()).add(key));
  }
}

function withSubsets(known: Endpoints, { endpoint_subsets }: Endpoints): Endpoints {
  return { ...known, endpoint_subsets: [...known.endpoint_subsets, ...endpoint_subsets] };
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
