/**
 * The groups of values that carry services: one for the node, one for each pod and one for each service. A value that
 * several services need is in the group of each. What a service sets precedes what the node sets under the same key,
 * because its group sorts behind.
 */
import type { KeyValue } from '#plugins/controller/api/key-value.ts';
import type { AttachmentId } from '#plugins/podmanager/api.ts';
import { interfaceValue, type NatNode, nodeValues } from './nat44/nat-node.ts';
import type { RenderedService, ServiceName } from './rendered-service.ts';
import { carrierValues } from './service-carriers.ts';

/** Names of groups. */
export const valueGroup = {
  node: 'node',
  pod: (attachment: AttachmentId) => `pod/${attachment}`,
  service: (service: ServiceName) => `service/${service}`,
} as const;

export interface CarrierInput {
  readonly node: NatNode;
  /** Logical names of the interfaces that are not those of pods. */
  readonly nodeInterfaces: readonly string[];
  readonly podInterfaces: ReadonlyMap<AttachmentId, string>;
  readonly services: Iterable<RenderedService>;
  /** Whether the kernel translates services at sockets. */
  readonly hasSockets: boolean;
}

/** All groups, in their order of precedence: the last value of a key applies. */
export function* valueGroups(
  input: CarrierInput,
): Generator<readonly [group: string, values: readonly KeyValue[]], void, void> {
  const { node, nodeInterfaces, podInterfaces, services, hasSockets } = input;
  const interfaces = nodeInterfaces.map((name) => interfaceValue(node, name));
  yield [valueGroup.node, [...nodeValues(node), ...interfaces]];
  for (const [attachment, name] of podInterfaces)
    yield [valueGroup.pod(attachment), [interfaceValue(node, name)]];
  for (const service of services)
    yield [valueGroup.service(service.name), carrierValues(service, { nat: node, hasSockets })];
}
