/** Values of Endpoints objects and EndpointSlices: one per service. */

import { atOnce, type Steps } from '#infra/clock/steps.ts';
import type { DeepInput } from '#models/model.ts';
import {
  type EndpointAddress,
  type EndpointPort,
  type EndpointSubset,
  type Endpoints,
  endpointsModel,
  type ObjectReference,
} from '../models/endpoints.ts';
import {
  type KubeEndpointAddress,
  type KubeEndpointSlice,
  type KubeEndpoints,
  type KubeReference,
  type KubeSliceEndpoint,
  TRIGGER_TIME,
} from './objects/endpoints.ts';
import { namespaceOf } from './objects/meta.ts';
import type { Readers } from './reflected.ts';
import { type Backend, type BackendState, subsetsInSteps } from './subsets.ts';

/** Keeps the order of the object: Kubernetes has grouped and sorted it. */
export function endpointsValue(endpoints: KubeEndpoints): Endpoints {
  return endpointsModel.canonical({
    name: endpoints.metadata.name,
    namespace: namespaceOf(endpoints),
    endpoint_subsets: endpoints.subsets?.map((subset) => ({
      addresses: subset.addresses?.map(addressValue),
      not_ready_addresses: subset.notReadyAddresses?.map(addressValue),
      ports: subset.ports,
    })),
  });
}

function addressValue(address: KubeEndpointAddress): DeepInput<EndpointAddress> {
  return {
    ip: address.ip,
    host_name: address.hostname,
    node_name: address.nodeName,
    target_ref: referenceValue(address.targetRef),
  };
}

function referenceValue(
  reference: KubeReference | undefined,
): DeepInput<ObjectReference> | undefined {
  return (
    reference && {
      kind: reference.kind,
      namespace: reference.namespace,
      name: reference.name,
      uid: reference.uid,
      api_version: reference.apiVersion,
      resource_version: reference.resourceVersion,
    }
  );
}

/**
 * The value of a service from all of its slices, independent of their order. A backend in several
 * slices has the ports of all of them, each in its best state.
 */
export function mergedSlices(
  service: { readonly name: string; readonly namespace: string },
  slices: readonly KubeEndpointSlice[],
  readers: Readers = 'mixed',
): Endpoints {
  return atOnce(mergedInSteps(service, slices, readers));
}

/** The same for a service with thousands of endpoints. */
export function* mergedInSteps(
  { name, namespace }: { readonly name: string; readonly namespace: string },
  slices: Iterable<KubeEndpointSlice>,
  readers: Readers,
): Steps<Endpoints> {
  const sorted: KubeEndpointSlice[] = [];
  for (const slice of slices) {
    yield;
    sorted.push(slice);
  }
  sorted.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const backends: Backend[] = [];
  for (const slice of sorted) {
    yield;
    backends.push(...sliceBackends(slice, readers));
  }
  const subsets: EndpointSubset[] = [];
  for (const { ports, ...lists } of yield* subsetsInSteps(backends, readers)) {
    const [subset] = endpointsModel.canonical({ endpoint_subsets: [{ ports }] }).endpoint_subsets;
    const addresses = yield* canonicalAddresses(lists.addresses);
    const not_ready_addresses = yield* canonicalAddresses(lists.not_ready_addresses);
    subsets.push({ ...(subset as EndpointSubset), addresses, not_ready_addresses });
  }
  const last_change_trigger_time = readers === 'own' ? lastTrigger(sorted) : undefined;
  const value = endpointsModel.canonical({ name, namespace, last_change_trigger_time });
  return { ...value, endpoint_subsets: subsets };
}

/** Addresses in one step. */
const STEP = 100;

function* canonicalAddresses(addresses: readonly Backend['address'][]): Steps<EndpointAddress[]> {
  const all: EndpointAddress[] = [];
  for (let at = 0; at < addresses.length; at += STEP) {
    yield;
    const some = { addresses: addresses.slice(at, at + STEP) };
    all.push(
      ...(endpointsModel.canonical({ endpoint_subsets: [some] }).endpoint_subsets[0]?.addresses ??
        []),
    );
  }
  return all;
}

function lastTrigger(slices: readonly KubeEndpointSlice[]): string | undefined {
  const times = slices
    .map(({ metadata }) => metadata.annotations?.[TRIGGER_TIME] ?? '')
    .filter((time) => !Number.isNaN(Date.parse(time)))
    .sort((a, b) => Date.parse(a) - Date.parse(b));
  return times.at(-1);
}

function sliceBackends(slice: KubeEndpointSlice, readers: Readers): Backend[] {
  // clients resolve host names themselves
  if (slice.addressType === 'FQDN') return [];
  const ports = (slice.ports ?? []).flatMap(({ name = '', port, protocol = 'TCP' }) =>
    port === undefined || !isPort(port) ? [] : [{ name, port, protocol } satisfies EndpointPort],
  );
  return (slice.endpoints ?? []).flatMap((endpoint) => {
    // further addresses belong to the same backend
    const ip = endpoint.addresses[0];
    const state = backendState(endpoint.conditions ?? {});
    if (ip === undefined || state === undefined) return [];
    const address = {
      ip,
      host_name: endpoint.hostname,
      node_name: endpoint.nodeName,
      target_ref: referenceValue(endpoint.targetRef),
      for_zones: readers === 'own' ? endpoint.hints?.forZones?.map(({ name }) => name) : undefined,
      for_nodes: readers === 'own' ? endpoint.hints?.forNodes?.map(({ name }) => name) : undefined,
    };
    return [{ address, state, ports }];
  });
}

function isPort(number: number): boolean {
  return number >= 1 && number <= 65_535;
}

/** Undefined: not listed. Endpoints objects do not list terminating pods that do not serve. */
function backendState(
  conditions: NonNullable<KubeSliceEndpoint['conditions']>,
): BackendState | undefined {
  const { ready = true, serving = ready, terminating = false } = conditions;
  if (ready) return 'ready';
  if (!terminating) return 'not-ready';
  return serving ? 'draining' : undefined;
}
