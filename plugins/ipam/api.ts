/** Addresses of this node: allocations and subnets, all as text. */

import type { IpamConfig } from '#plugins/contivconf/api.ts';
import { defineEvent, EventMethod } from '#plugins/controller/api/event.ts';
import type { AttachmentId, PodId } from '#plugins/podmanager/api.ts';
import type { AddressPlan } from './base-ipam.ts';
import { addressText, parsePrefix } from './prefix.ts';
import {
  clusterSubnets,
  nodeIdOfHostLink,
  nodeIdOfPodAddress,
  podGateway,
  podRange as rangeOf,
  whyNoAddresses,
} from './subnets.ts';

export { familyOfAddress } from './address-pools.ts';
export { BaseIpam as PlannedAddresses } from './base-ipam.ts';
export type { FamilyPlan } from './family-plan.ts';
export { type Plan, planOf } from './plan.ts';
export {
  allocationsDocument,
  effectiveSubnets,
  ipamDocument,
  NO_NODE_IP,
} from './rest.ts';

/**
 * Returns the ID of the node that owns the address of a pod; undefined for other addresses.
 * @throws AddressPlanError for an invalid configuration
 */
export function podAddressOwner(config: IpamConfig): (address: string) => number | undefined {
  const cluster = clusterSubnets(config);
  return (address) => nodeIdOfPodAddress(cluster, address);
}

/**
 * Returns the ID of the node that has the link between VPP and its host with an address; undefined for other addresses.
 * @throws AddressPlanError for an invalid configuration
 */
export function hostLinkOwner(config: IpamConfig): (address: string) => number | undefined {
  const cluster = clusterSubnets(config);
  return (address) => nodeIdOfHostLink(cluster, address);
}

/**
 * Returns why a node cannot have an ID: one of its addresses does not exist, or is a broadcast address.
 * All higher IDs cannot be used, either.
 * @param gateways default gateways of the nodes
 * @throws AddressPlanError for an invalid configuration
 */
export function unusableNodeIds(
  config: IpamConfig,
  gateways: readonly string[],
): (nodeId: number) => string | undefined {
  const cluster = clusterSubnets(config);
  return (nodeId) => whyNoAddresses(cluster, nodeId, gateways);
}

/**
 * The first and the last address that a pod can have.
 * @param podSubnet CIDR of the pods of a node
 */
export function podRange(podSubnet: string): { readonly first: string; readonly last: string } {
  const prefix = parsePrefix(podSubnet, 'podCIDR');
  const { first, last } = rangeOf(prefix);
  return { first: addressText(prefix.family, first), last: addressText(prefix.family, last) };
}

/**
 * Without prefix length.
 * @param podSubnet CIDR of the pods of a node
 */
export function podGatewayOf(podSubnet: string): string {
  const prefix = parsePrefix(podSubnet, 'podCIDR');
  return addressText(prefix.family, podGateway(prefix));
}

/** An address that an attachment owns, or that is reserved because a Pod record still contains it. */
export interface Allocation {
  /** Without prefix length. */
  readonly address: string;
  readonly pod: PodId;
  readonly podUid: string | undefined;
  /** undefined: no attachment owns it, it is reserved. */
  readonly attachment: AttachmentId | undefined;
}

export interface IpamApi extends AddressPlan {
  /** Addresses of an attachment, one of each family, the primary one first; without prefix length; empty if it has none. */
  podAddresses(attachment: AttachmentId): readonly string[];
  /** All allocations by address: owned and reserved ones. */
  allocations(): ReadonlyMap<string, Allocation>;
}

/** The pod subnet of this node, assigned by an external IPAM, has changed. */
export const PodCidrChange = defineEvent<{ readonly localPodCidr: string }>({
  id: 'pod-cidr-change',
  blocking: false,
  name: 'Pod CIDR Change',
  describe: ({ localPodCidr }) => `Pod CIDR Change\n* local pod CIDR: ${localPodCidr}`,
  method: EventMethod.UpstreamResync,
});
