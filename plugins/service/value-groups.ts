/**
 * The groups of values that carry services: one for this node, one for the addresses of each node, one for each pod
 * and one for each service. A value that several services need is in the group of each. What a service sets precedes
 * what the node sets under the same key, because its group sorts behind.
 */
import type { KeyValue } from '#plugins/controller/api/key-value.ts';
import type { Ipv4NetApi } from '#plugins/ipv4net/api.ts';
import type { AttachmentId } from '#plugins/podmanager/api.ts';
import type { PodInterface } from './local-interfaces.ts';
import type { RenderedService, ServiceName } from './rendered-service.ts';
import {
  type Carriers,
  carrierValues,
  linkCarrierValues,
  natValues,
  nodeCarrierValues,
  podCarrierValues,
} from './service-carriers.ts';
import type { AddressedNode } from './socket/node-addresses.ts';

/** Names of groups. */
export const valueGroup = {
  node: 'node',
  links: 'links',
  addresses: (node: string) => `addresses/${node}`,
  pod: (attachment: AttachmentId) => `pod/${attachment}`,
  service: (service: ServiceName) => `service/${service}`,
} as const;

export interface CarrierInput {
  readonly carriers: Carriers;
  readonly nodes: Iterable<AddressedNode>;
  readonly net: Ipv4NetApi;
  readonly podInterfaces: Iterable<PodInterface>;
  readonly services: Iterable<RenderedService>;
}

/** All groups, in their order of precedence: the last value of a key applies. */
export function* valueGroups(
  input: CarrierInput,
): Generator<readonly [group: string, values: readonly KeyValue[]], void, void> {
  const { carriers, nodes, net, podInterfaces, services } = input;
  yield [valueGroup.node, natValues(net, carriers)];
  yield [valueGroup.links, linkCarrierValues(net, carriers)];
  for (const one of nodes) yield [valueGroup.addresses(one.name), nodeCarrierValues(one, carriers)];
  for (const one of podInterfaces)
    yield [valueGroup.pod(one.attachment), podCarrierValues(one, carriers)];
  for (const service of services)
    yield [valueGroup.service(service.name), carrierValues(service, carriers)];
}
