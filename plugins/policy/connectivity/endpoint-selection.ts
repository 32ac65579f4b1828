/** The part of the connections that fits a page: ends by namespace and text, up to a number. */
import type { UnlistedPod } from '#documents/connectivity.ts';
import { filterInSlices, type Slices } from '#infra/clock/slices.ts';
import { type Endpoint, type Endpoints, isOutside } from './endpoints.ts';

/** Ends of connections that `search` and `namespace` select; those of the other side all stay. */
export const filteredSides = ['both', 'sources', 'destinations'] as const;

export interface EndpointFilter {
  /** Addresses outside of the cluster are in no namespace, and stay. */
  readonly namespace: string | undefined;
  /** In lower case: part of the name of the end, or of one of its pods. */
  readonly search: string | undefined;
  readonly side: (typeof filteredSides)[number];
  /** Largest number of sources, and of destinations; undefined: all. */
  readonly limit: number | undefined;
}

export interface SelectedEndpoints {
  readonly endpoints: Endpoints;
  /** Ends that the filter selects, those beyond the limit as well. */
  readonly matching: { readonly sources: number; readonly destinations: number };
}

export async function selectEndpoints(
  { sources, destinations }: Endpoints,
  filter: EndpointFilter,
  slices: Slices,
): Promise<SelectedEndpoints> {
  const from = await selectSide(sources, filter, filter.side !== 'destinations', slices);
  const to = await selectSide(destinations, filter, filter.side !== 'sources', slices);
  return {
    endpoints: { sources: firstOf(from, filter), destinations: firstOf(to, filter) },
    matching: { sources: from.length, destinations: to.length },
  };
}

/** Pods come first where not all fit: addresses outside may be cut into many ranges. */
function firstOf(all: readonly Endpoint[], { limit }: EndpointFilter): readonly Endpoint[] {
  if (limit === undefined) return all;
  const pods = all.filter((one) => !isOutside(one));
  return [...pods.slice(0, limit), ...all.filter(isOutside)].slice(0, limit);
}

async function selectSide(
  all: readonly Endpoint[],
  { namespace, search }: EndpointFilter,
  isFiltered: boolean,
  slices: Slices,
): Promise<readonly Endpoint[]> {
  if (!isFiltered || (namespace === undefined && search === undefined)) return all;
  return filterInSlices(
    all,
    (one) => isInNamespace(one, namespace) && hasText(one, search),
    slices,
  );
}

function isInNamespace(endpoint: Endpoint, namespace: string | undefined): boolean {
  return namespace === undefined || isOutside(endpoint) || namespaceOf(endpoint.name) === namespace;
}

function hasText(endpoint: Endpoint, search: string | undefined): boolean {
  if (search === undefined || endpoint.name.toLowerCase().includes(search)) return true;
  return !isOutside(endpoint) && endpoint.pods.some((pod) => pod.includes(search));
}

/** @param name of a pod or a workload, such as `default/web[Deployment]` */
function namespaceOf(name: string): string {
  return name.slice(0, name.indexOf('/'));
}

export async function selectUnlisted(
  all: readonly UnlistedPod[],
  { namespace, search }: EndpointFilter,
  slices: Slices,
): Promise<readonly UnlistedPod[]> {
  if (namespace === undefined && search === undefined) return all;
  const isSelected = ({ pod }: UnlistedPod): boolean =>
    (namespace === undefined || namespaceOf(pod) === namespace) && pod.includes(search ?? '');
  return filterInSlices(all, isSelected, slices);
}

/** Sorted. */
export function namespacesOf({ sources }: Endpoints): string[] {
  const namespaces = new Set<string>();
  for (const one of sources) if (!isOutside(one)) namespaces.add(namespaceOf(one.name));
  return [...namespaces].sort();
}
