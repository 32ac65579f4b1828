/** Base class of IPAM plugins: the address plan, without the allocation of pod addresses. */

import type { IpamConfig } from '#plugins/contivconf/api.ts';
import { AbortEventError, causedError, FatalError } from '#plugins/controller/api/errors.ts';
import { addressBits, addressText, hostBits, type Prefix, prefixText } from './prefix.ts';
import {
  type ClusterSubnets,
  clusterSubnets,
  hostLink,
  MIN_POD_BITS,
  natLoopback,
  nodeAddress,
  podGateway,
  podSubnetOfNode,
  vppHostSubnetOfNode,
  vxlanAddress,
} from './subnets.ts';

/** The subnets and addresses of this node and of the others. */
export interface AddressPlan {
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
  /** CIDR; undefined if no node interconnect subnet is configured. */
  nodeAddress(nodeId: number): string | undefined;
  /** CIDR with the prefix length of the VXLAN subnet. */
  vxlanAddress(nodeId: number): string;
  serviceSubnet(): string;
  /** The settings in use: running pods may keep the agent from using the configured subnets. */
  settings(): IpamConfig;
  /** Broadcast address minus one of the pod subnet of this node. */
  natLoopback(): string;
}

/** Input of the address plan. */
export interface PlanInput {
  readonly nodeId: number;
  readonly config: IpamConfig;
  /** Address without prefix length; empty if there is none. */
  readonly defaultGateway: string;
  /**
   * Pod subnets by node ID that differ from the computed ones. A subnet of another family, or without
   * addresses for pods, is ignored.
   */
  readonly podSubnets?: ReadonlyMap<number, Prefix> | undefined;
}

/** Part of the state of the handler. */
export interface Plan {
  readonly config: IpamConfig;
  readonly cluster: ClusterSubnets;
  readonly gateway: string;
  /** The pod subnet of this node. */
  readonly pods: Prefix;
  /** Pod subnets by node ID that differ from the computed ones. */
  readonly podSubnets: ReadonlyMap<number, Prefix>;
  readonly vppHost: Prefix;
}

/**
 * Computes the plan, at a resync.
 * @throws AbortEventError if the configuration has no addresses for this node: nothing is changed
 */
export function planOf({ config, nodeId, defaultGateway, podSubnets }: PlanInput): Plan {
  try {
    const cluster = clusterSubnets(config);
    const fitting = fittingSubnets(cluster, podSubnets);
    return {
      config,
      cluster,
      gateway: defaultGateway,
      pods: fitting.get(nodeId) ?? podSubnetOfNode(cluster, nodeId),
      podSubnets: fitting,
      vppHost: vppHostSubnetOfNode(cluster, nodeId),
    };
  } catch (cause) {
    throw causedError(
      AbortEventError,
      `the configuration has no addresses for node ID ${nodeId}`,
      cause,
    );
  }
}

/** With other pod subnets of the other nodes; that of this node changes with the next plan. */
export function withPodSubnets(plan: Plan, podSubnets: PlanInput['podSubnets']): Plan {
  return { ...plan, podSubnets: fittingSubnets(plan.cluster, podSubnets) };
}

export abstract class BaseIpam implements AddressPlan {
  /** undefined before the first resync */
  protected abstract get plan(): Plan | undefined;

  get hostPrefixLength(): number {
    return addressBits(this.#currentPlan.pods.family);
  }

  podSubnetAllNodes(): string {
    return prefixText(this.#currentPlan.cluster.pods);
  }

  podSubnetThisNode(): string {
    return prefixText(this.#currentPlan.pods);
  }

  podSubnetOtherNode(nodeId: number): string {
    const given = this.#currentPlan.podSubnets.get(nodeId);
    return prefixText(given ?? podSubnetOfNode(this.#currentPlan.cluster, nodeId));
  }

  podGateway(): string {
    const { pods } = this.#currentPlan;
    return addressText(pods.family, podGateway(pods));
  }

  hostInterconnectSubnetAllNodes(): string {
    return prefixText(this.#currentPlan.cluster.vppHost);
  }

  hostInterconnectSubnetThisNode(): string {
    return prefixText(this.#currentPlan.vppHost);
  }

  hostInterconnectSubnetOtherNode(nodeId: number): string {
    return prefixText(vppHostSubnetOfNode(this.#currentPlan.cluster, nodeId));
  }

  hostInterconnectVpp(): string {
    const { vppHost } = this.#currentPlan;
    return `${addressText(vppHost.family, hostLink(vppHost).vpp)}/${vppHost.length}`;
  }

  hostInterconnectLinux(): string {
    const { vppHost } = this.#currentPlan;
    return `${addressText(vppHost.family, hostLink(vppHost).linux)}/${vppHost.length}`;
  }

  nodeAddress(nodeId: number): string | undefined {
    return nodeAddress(this.#currentPlan.cluster, nodeId, this.#currentPlan.gateway);
  }

  vxlanAddress(nodeId: number): string {
    return vxlanAddress(this.#currentPlan.cluster, nodeId);
  }

  serviceSubnet(): string {
    return prefixText(this.#currentPlan.cluster.services);
  }

  settings(): IpamConfig {
    return this.#currentPlan.config;
  }

  natLoopback(): string {
    const { pods } = this.#currentPlan;
    return addressText(pods.family, natLoopback(pods));
  }

  get #currentPlan(): Plan {
    const { plan } = this;
    if (!plan) throw new FatalError('addresses are unknown before the first resync');
    return plan;
  }
}

function fittingSubnets(
  { pods }: ClusterSubnets,
  given: ReadonlyMap<number, Prefix> = new Map(),
): ReadonlyMap<number, Prefix> {
  return new Map(
    [...given].filter(([, one]) => one.family === pods.family && hostBits(one) >= MIN_POD_BITS),
  );
}
