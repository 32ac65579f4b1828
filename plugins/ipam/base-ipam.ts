/** Base class of IPAM plugins: the address plan, without the allocation of pod addresses. */

import type { IpFamily } from '#models/ip.ts';
import type { IpamConfig } from '#plugins/contivconf/api.ts';
import { FatalError } from '#plugins/controller/api/errors.ts';
import { familyOfAddress } from './address-pools.ts';
import { FamilyAddresses, type FamilyPlan, FollowingAddresses } from './family-plan.ts';
import type { Plan } from './plan.ts';
import { parsePrefix } from './prefix.ts';
import { nodeAddresses, podRange } from './subnets.ts';

/** The addresses of the pods of a node in one family. */
export interface PoolUsage {
  readonly family: IpFamily;
  readonly allocated: number;
  /** Addresses that pods can have. */
  readonly capacity: number;
}

/** The subnets and addresses of all families; those of the primary one without a family. */
export interface AddressPlan extends FamilyPlan {
  /** Those of the pods: one or two, the primary one first. */
  families(): readonly [FamilyPlan, ...FamilyPlan[]];
  /** CIDRs; empty if no node interconnect subnet is configured. */
  nodeAddresses(nodeId: number): readonly string[];
  /** Of the pods of this node, for each family; empty before the first resync. */
  usage(): readonly PoolUsage[];
  /** The settings in use: running pods may keep the agent from using the configured subnets. */
  settings(): IpamConfig;
}

export abstract class BaseIpam extends FamilyAddresses implements AddressPlan {
  /** undefined before the first resync */
  protected abstract get plan(): Plan | undefined;

  /** By address. */
  abstract allocations(): ReadonlyMap<string, unknown>;

  get family(): IpFamily {
    return this.planInUse().cluster.families[0].family;
  }

  families(): readonly [FamilyPlan, ...FamilyPlan[]] {
    const [, ...more] = this.planInUse().cluster.families;
    const following = ({ family }: { readonly family: IpFamily }): FamilyPlan =>
      new FollowingAddresses(family, () => this.planInUse());
    return [following(this), ...more.map(following)];
  }

  nodeAddresses(nodeId: number): readonly string[] {
    const { cluster, gateways } = this.planInUse();
    return nodeAddresses(cluster, nodeId, gateways);
  }

  usage(): readonly PoolUsage[] {
    if (!this.plan) return [];
    const addresses = [...this.allocations().keys()];
    return this.families().map((plan) => {
      const { family } = plan;
      const { first, last } = podRange(parsePrefix(plan.podSubnetThisNode(), 'podSubnetCIDR'));
      const allocated = addresses.filter((address) => familyOfAddress(address) === family).length;
      return { family, allocated, capacity: Number(last - first) + 1 };
    });
  }

  settings(): IpamConfig {
    return this.planInUse().config;
  }

  protected planInUse(): Plan {
    const { plan } = this;
    if (!plan) throw new FatalError('addresses are unknown before the first resync');
    return plan;
  }
}
