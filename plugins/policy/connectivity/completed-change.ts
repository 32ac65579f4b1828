/** Completes a change as the controllers of Kubernetes would: endpoints follow the services and pods that it names. */
import type { Slices } from '#infra/clock/slices.ts';
import type { Endpoints } from '#kubernetes/models/endpoints.ts';
import type { Node } from '#kubernetes/models/node.ts';
import type { Pod } from '#kubernetes/models/pod.ts';
import type { Service } from '#kubernetes/models/service.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import { endpointsOf, selects } from './service-records.ts';

export interface NamedRecords {
  readonly services: ReadonlySet<string>;
  readonly pods: ReadonlySet<string>;
  /** Given by the change: they stay as they are. */
  readonly endpoints: ReadonlySet<string>;
}

type Records = Map<string, Map<string, object>>;

/**
 * Changes the endpoints in `after`.
 * @param named keys of the records that the change names
 * @returns notes
 */
export async function completeEndpoints(
  before: KubeState,
  after: Records,
  named: NamedRecords,
  slices: Slices,
): Promise<string[]> {
  const services = await servicesToComplete(before, after, named, slices);
  if (services.length === 0) return [];
  const podsByNamespace = await podsOfNamespaces(after, services, slices);
  const endpoints = after.get('endpoints') ?? new Map<string, object>();
  after.set('endpoints', endpoints);
  const nodeAt = nodeNames(after);
  const notes: string[] = [];
  for (const service of services) {
    await slices.turn();
    const { name, namespace } = service;
    const key = resources.endpoints.key(name, namespace);
    const known = endpoints.get(key) as Endpoints | undefined;
    const made = endpointsOf(service, podsByNamespace.get(namespace) ?? [], known, nodeAt);
    endpoints.set(key, made);
    const count = made.endpoint_subsets.length;
    notes.push(
      count === 0
        ? `service ${namespace}/${name}: its selector selects no pod with an address and the ports`
        : `the endpoints of service ${namespace}/${name} are the ${count} pods that it selects; new ones count as ready`,
    );
  }
  return notes;
}

/** Services with another selector or other ports, and those whose pods the change adds or takes away. */
async function servicesToComplete(
  before: KubeState,
  after: Records,
  named: NamedRecords,
  slices: Slices,
): Promise<Service[]> {
  const isGiven = ({ name, namespace }: Service): boolean =>
    named.endpoints.has(resources.endpoints.key(name, namespace));
  const found = new Set<Service>();
  for (const key of named.services) {
    const service = after.get('service')?.get(key) as Service | undefined;
    const old = before.get('service')?.get(key) as Service | undefined;
    if (service && hasSelector(service) && !isGiven(service) && !selectsAlike(service, old))
      found.add(service);
  }
  if (named.pods.size === 0) return [...found];
  const pods = [...named.pods].map((key) => ({
    old: before.get('pod')?.get(key) as Pod | undefined,
    next: after.get('pod')?.get(key) as Pod | undefined,
  }));
  for (const service of (after.get('service')?.values() ?? []) as Iterable<Service>) {
    if (!hasSelector(service) || isGiven(service)) continue;
    if (slices.dueNow()) await slices.turn();
    const isEndpoint = (pod: Pod | undefined): boolean =>
      pod !== undefined && pod.ip_address !== '' && selects(service, pod);
    if (pods.some(({ old, next }) => isEndpoint(old) !== isEndpoint(next))) found.add(service);
  }
  return [...found];
}

function hasSelector({ selector }: Service): boolean {
  return Object.keys(selector).length > 0;
}

function selectsAlike(service: Service, old: Service | undefined): boolean {
  const text = ({ selector, port }: Service): string =>
    JSON.stringify([Object.entries(selector).sort(), port]);
  return old !== undefined && text(service) === text(old);
}

async function podsOfNamespaces(
  after: Records,
  services: readonly Service[],
  slices: Slices,
): Promise<ReadonlyMap<string, readonly Pod[]>> {
  const found = new Map<string, Pod[]>(services.map(({ namespace }) => [namespace, []]));
  for (const pod of (after.get('pod')?.values() ?? []) as Iterable<Pod>) {
    if (slices.due()) await slices.turn();
    found.get(pod.namespace)?.push(pod);
  }
  return found;
}

function nodeNames(after: Records): (address: string) => string | undefined {
  const names = new Map<string, string>();
  for (const { name, addresses } of (after.get('node')?.values() ?? []) as Iterable<Node>)
    for (const { address } of addresses) names.set(address, name);
  return (address) => names.get(address);
}
