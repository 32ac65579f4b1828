/** The address plan of this node: which subnets and addresses follow from its ID. */
import type { IpFamily } from '#models/ip.ts';
import type { IpamConfig } from '#plugins/contivconf/api.ts';
import { AbortEventError, causedError } from '#plugins/controller/api/errors.ts';
import { hostBits, type Prefix } from './prefix.ts';
import {
  type ClusterSubnets,
  clusterSubnets,
  MIN_POD_BITS,
  podSubnetOfNode,
  vppHostSubnetOfNode,
} from './subnets.ts';

/** Input of the address plan. */
export interface PlanInput {
  readonly nodeId: number;
  readonly config: IpamConfig;
  /** At most one of each family, without prefix length. */
  readonly defaultGateways: readonly string[];
  /**
   * Pod subnets by node ID that differ from the computed ones. A subnet of another family, or without
   * addresses for pods, is ignored.
   */
  readonly podSubnets?: ReadonlyMap<number, Prefix> | undefined;
}

/** The subnets of this node in one family. */
export interface NodeSubnets {
  readonly family: IpFamily;
  readonly pods: Prefix;
  readonly vppHost: Prefix;
}

/** Part of the state of the handler. */
export interface Plan {
  readonly config: IpamConfig;
  readonly cluster: ClusterSubnets;
  readonly gateways: readonly string[];
  /** In the order of the families of the cluster. */
  readonly own: readonly NodeSubnets[];
  /** Pod subnets by node ID that differ from the computed ones. */
  readonly podSubnets: ReadonlyMap<number, Prefix>;
}

/**
 * Computes the plan, at a resync.
 * @throws AbortEventError if the configuration has no addresses for this node: nothing is changed
 */
export function planOf({ config, nodeId, defaultGateways, podSubnets }: PlanInput): Plan {
  try {
    const cluster = clusterSubnets(config);
    const fitting = fittingSubnets(cluster, podSubnets);
    const given = fitting.get(nodeId);
    return {
      config,
      cluster,
      gateways: defaultGateways,
      own: cluster.families.map((one) => ({
        family: one.family,
        pods: given?.family === one.family ? given : podSubnetOfNode(one, nodeId),
        vppHost: vppHostSubnetOfNode(one, nodeId),
      })),
      podSubnets: fitting,
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

function fittingSubnets(
  { families }: ClusterSubnets,
  given: ReadonlyMap<number, Prefix> = new Map(),
): ReadonlyMap<number, Prefix> {
  const isFitting = (one: Prefix): boolean =>
    families.some(({ family }) => family === one.family) && hostBits(one) >= MIN_POD_BITS;
  return new Map([...given].filter(([, one]) => isFitting(one)));
}
