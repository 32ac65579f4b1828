/** Addresses of this node: who has which, and where each kind lies. All are text. */

import type { IpamConfig } from '#plugins/contivconf/api.ts';
import { defineEvent, EventMethod } from '#plugins/controller/api/event.ts';
import type { AttachmentId, PodId } from '#plugins/podmanager/api.ts';
import type { AddressPlan } from './base-ipam.ts';
import { clusterSubnets, nodeIdOfPodAddress } from './subnets.ts';

export { BaseIpam as PlannedAddresses } from './base-ipam.ts';
export { allocationsDocument, ipamDocument, NO_NODE_IP } from './rest.ts';

/**
 * Says which node's ID the address of a pod was given out under; undefined for other addresses.
 * @throws AddressPlanError when the configuration makes no sense
 */
export function podAddressOwner(config: IpamConfig): (address: string) => number | undefined {
  const cluster = clusterSubnets(config);
  return (address) => nodeIdOfPodAddress(cluster, address);
}

/** An address held by an attachment, or kept back because a Pod record still shows it. */
export interface Allocation {
  /** Without prefix length. */
  readonly address: string;
  readonly pod: PodId;
  readonly podUid: string | undefined;
  /** undefined: nobody holds it any more, it is kept back. */
  readonly attachment: AttachmentId | undefined;
}

export interface IpamApi extends AddressPlan {
  /** Addresses of an attachment by family, as plain addresses; empty when it has none. */
  podAddresses(attachment: AttachmentId): readonly string[];
  /** All allocations by address, held ones and kept-back ones. */
  allocations(): ReadonlyMap<string, Allocation>;
}

/** The pod subnet of this node is another one, as an external IPAM has it. */
export const PodCidrChange = defineEvent<{ readonly localPodCidr: string }>({
  id: 'pod-cidr-change',
  blocking: false,
  name: 'Pod CIDR Change',
  describe: ({ localPodCidr }) => `Pod CIDR Change\n* local pod CIDR: ${localPodCidr}`,
  method: EventMethod.UpstreamResync,
});
