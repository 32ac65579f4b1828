/**
 * The state of the API server as records: computed from a list of each kind, without contiv-ksr's
 * watches, state and writes.
 */
import { mergedSlices } from '#kubernetes/reflector/endpoints.ts';
import { type KubeEndpointSlice, serviceOfSlice } from '#kubernetes/reflector/objects/endpoints.ts';
import { readObject } from '#kubernetes/reflector/objects/object.ts';
import { type ReflectedObject, reflect } from '#kubernetes/reflector/reflect.ts';
import type { Readers } from '#kubernetes/reflector/reflected.ts';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import { KubeApiError, type KubeClient } from './kube-client.ts';

/** Records by key with the prefix. */
export type Records = ReadonlyMap<string, string>;

/** Lists of the kinds that are reflected. */
export const reflectedLists = [
  '/api/v1/namespaces',
  '/api/v1/nodes',
  '/api/v1/pods',
  '/api/v1/services',
  '/api/v1/endpoints',
  '/apis/discovery.k8s.io/v1/endpointslices',
  '/apis/networking.k8s.io/v1/networkpolicies',
  '/apis/nodeconfig.contiv.vpp/v1/nodeconfigs',
] as const;

/** All objects that are reflected. */
export async function listReflected(client: KubeClient): Promise<unknown[]> {
  const lists = await Promise.all(reflectedLists.map((path) => listIfServed(client, path)));
  return lists.flat();
}

async function listIfServed(client: KubeClient, path: string): Promise<unknown[]> {
  try {
    return await client.list(path);
  } catch (error) {
    if (error instanceof KubeApiError && error.status === 404) return [];
    throw error;
  }
}

export function recordsOf(objects: Iterable<unknown>, readers: Readers): Records {
  const records = new Map<string, string>();
  const slices: KubeEndpointSlice[] = [];
  for (const raw of objects) {
    const { object, rejection } = readObject(raw);
    if (object === undefined)
      throw new Error(`${rejection.kind} ${rejection.name}: ${rejection.reason}`);
    if (object.kind === 'EndpointSlice') {
      slices.push(object);
      continue;
    }
    const result = reflect(object as ReflectedObject, readers);
    if (result.reflected === undefined) throw new Error(result.rejection.reason);
    const { resource, key, value } = result.reflected;
    records.set(`${REFLECTOR_PREFIX}${key}`, valueText(resource, value));
  }
  const services = Map.groupBy(
    slices,
    (slice) => `${slice.metadata.namespace}/${serviceOfSlice(slice)}`,
  );
  for (const [service, its] of services) {
    const [namespace = '', name = ''] = service.split('/');
    const value = mergedSlices({ name, namespace }, its, readers);
    const key = resources.endpoints.key(name, namespace);
    records.set(`${REFLECTOR_PREFIX}${key}`, valueText(resources.endpoints, value));
  }
  return records;
}
