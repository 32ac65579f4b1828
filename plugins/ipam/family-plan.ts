/** The address plan in one family. */
import type { IpFamily } from '#models/ip.ts';
import type { NodeSubnets, Plan } from './plan.ts';
import { addressBits, addressText, parsePrefix, prefixText } from './prefix.ts';
import {
  type FamilySubnets,
  hostLink,
  natLoopback,
  podGateway,
  podSubnetOfNode,
  vppHostSubnetOfNode,
  vxlanAddress,
} from './subnets.ts';

/** The subnets and addresses of this node and of the others in one family. */
export interface FamilyPlan {
  readonly family: IpFamily;
  /** Prefix length of a pod's own address: 32 or 128. */
  readonly hostPrefixLength: number;
  /** CIDR of all pods of the cluster. */
  podSubnetAllNodes(): string;
  /** CIDR of the pods of this node. */
  podSubnetThisNode(): string;
  podSubnetOtherNode(nodeId: number): string;
  /** First host of the pod subnet of this node. */
  podGateway(): string;
  hostInterconnectSubnetAllNodes(): string;
  hostInterconnectSubnetThisNode(): string;
  hostInterconnectSubnetOtherNode(nodeId: number): string;
  /** CIDR with the prefix length of this node's interconnect subnet. */
  hostInterconnectVpp(): string;
  hostInterconnectLinux(): string;
  /** CIDR; empty: the overlay has none of this family. */
  vxlanSubnet(): string;
  /** CIDR with the prefix length of the VXLAN subnet. */
  vxlanAddress(nodeId: number): string;
  /** CIDR; empty: no service has an address of this family. */
  serviceSubnet(): string;
  /** Broadcast address minus one of the pod subnet of this node. */
  natLoopback(): string;
}

export abstract class FamilyAddresses implements FamilyPlan {
  abstract get family(): IpFamily;

  /** @throws FatalError before the first resync */
  protected abstract planInUse(): Plan;

  get hostPrefixLength(): number {
    return addressBits(this.family);
  }

  podSubnetAllNodes(): string {
    return prefixText(this.#cluster.pods);
  }

  podSubnetThisNode(): string {
    return prefixText(this.#own.pods);
  }

  podSubnetOtherNode(nodeId: number): string {
    const given = this.planInUse().podSubnets.get(nodeId);
    return prefixText(
      given?.family === this.family ? given : podSubnetOfNode(this.#cluster, nodeId),
    );
  }

  podGateway(): string {
    return addressText(this.family, podGateway(this.#own.pods));
  }

  hostInterconnectSubnetAllNodes(): string {
    return prefixText(this.#cluster.vppHost);
  }

  hostInterconnectSubnetThisNode(): string {
    return prefixText(this.#own.vppHost);
  }

  hostInterconnectSubnetOtherNode(nodeId: number): string {
    return prefixText(vppHostSubnetOfNode(this.#cluster, nodeId));
  }

  hostInterconnectVpp(): string {
    const { vppHost } = this.#own;
    return `${addressText(this.family, hostLink(vppHost).vpp)}/${vppHost.length}`;
  }

  hostInterconnectLinux(): string {
    const { vppHost } = this.#own;
    return `${addressText(this.family, hostLink(vppHost).linux)}/${vppHost.length}`;
  }

  vxlanSubnet(): string {
    const found = this.planInUse().cluster.vxlan.find(({ family }) => family === this.family);
    return found ? prefixText(found) : '';
  }

  vxlanAddress(nodeId: number): string {
    return vxlanAddress(parsePrefix(this.vxlanSubnet(), 'vxlanCIDR'), nodeId);
  }

  serviceSubnet(): string {
    const { services } = this.#cluster;
    return services ? prefixText(services) : '';
  }

  natLoopback(): string {
    return addressText(this.family, natLoopback(this.#own.pods));
  }

  get #cluster(): FamilySubnets {
    return ofFamily(this.planInUse().cluster.families, this.family);
  }

  get #own(): NodeSubnets {
    return ofFamily(this.planInUse().own, this.family);
  }
}

/** The plan of a family follows that in use: an update may replace the pod subnets of other nodes. */
export class FollowingAddresses extends FamilyAddresses {
  readonly family: IpFamily;
  readonly #plan: () => Plan;

  constructor(family: IpFamily, plan: () => Plan) {
    super();
    this.family = family;
    this.#plan = plan;
  }

  protected planInUse(): Plan {
    return this.#plan();
  }
}

function ofFamily<T extends { readonly family: IpFamily }>(all: readonly T[], family: IpFamily): T {
  const found = all.find((one) => one.family === family);
  if (!found) throw new Error(`the address plan has no IPv${family}`);
  return found;
}
