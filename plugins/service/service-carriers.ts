/** Carriers of a service on this node: which one has which part of it is decided here alone. */
import type { KeyValue } from '#plugins/controller/api/key-value.ts';
import type { NatNode } from './nat44/nat-node.ts';
import { mappingsKey, serviceValues } from './nat44/service-values.ts';
import type { RenderedService, ServiceName } from './rendered-service.ts';
import type { AddressedNode, NodeAddresses } from './socket/node-addresses.ts';
import { socketKey, socketValue } from './socket/socket-values.ts';

export interface Carriers {
  readonly nat: NatNode;
  /** Whether the kernel translates services at the sockets of this node. */
  readonly hasSockets: boolean;
  readonly addresses: NodeAddresses;
}

/**
 * NAT44 has all of a service: for packets from outside, and from pods without sockets of this kernel. With
 * sockets the kernel has all of it, too: their packets have the address of a backend when VPP sees them.
 */
export function carrierValues(
  service: RenderedService,
  { nat, hasSockets }: Omit<Carriers, 'addresses'>,
): KeyValue[] {
  const values = serviceValues(service, nat);
  return hasSockets ? [...values, socketValue(service, nat.localWeight)] : values;
}

/**
 * Addresses of a node at which node ports are reached. NAT44 has those of this node in each service, and leaves other
 * nodes to themselves.
 */
export function nodeCarrierValues(
  node: AddressedNode,
  { addresses, hasSockets }: Omit<Carriers, 'nat'>,
): KeyValue[] {
  return hasSockets ? addresses.valuesOf(node) : [];
}

/** Keys of the values with the mappings of a service, of those that carry it. */
export function carrierKeys(service: ServiceName, hasSockets: boolean): string[] {
  return hasSockets ? [mappingsKey(service), socketKey(service)] : [mappingsKey(service)];
}
