/**
 * The permissions of pods of this node by network policies: made by the configurator, configured by a renderer.
 * Selectors, namespaces and names of ports are resolved: only addresses and numbers are left.
 */
import type { AddressNumber, AddressSet } from './address-set.ts';
import { PortSet } from './port-set.ts';

/** `<namespace>/<name>`. */
export type PodName = string;
export type PolicyName = string;

/** Directions are those of Kubernetes: ingress is traffic to the pod. */
export type PolicyDirection = 'ingress' | 'egress';

/** An attached pod of this node. Pods in the network of the host are not attached, hence not isolated. */
export interface PodPolicy {
  readonly pod: PodName;
  /** Of its attachment, not of the Pod record, which may not contain it yet. */
  readonly addresses: readonly AddressNumber[];
  readonly ingress: Isolation;
  readonly egress: Isolation;
}

/** One direction of a pod. The same object as before if nothing changed. */
export interface Isolation {
  /** Policies that isolate the pod in this direction, sorted; none: everything is permitted. */
  readonly policies: readonly PolicyName[];
  /** The permits of all policies; everything else is denied if there is a policy. */
  readonly permits: readonly Permit[];
}

/** One rule of a policy. */
export interface Permit {
  /** The other ends. */
  readonly peers: AddressSet;
  /** Ports of the pod that receives. */
  readonly ports: PortSet;
  readonly policy: PolicyName;
  /** Position in the list of ingress or egress rules of the policy, from 0. */
  readonly rule: number;
}

export function isIsolated({ policies }: Isolation): boolean {
  return policies.length > 0;
}

/** Without the permits of some of its policies. */
export function withoutPolicies(isolation: Isolation, without: ReadonlySet<PolicyName>): Isolation {
  if (without.size === 0) return isolation;
  const permits = isolation.permits.filter(({ policy }) => !without.has(policy));
  return { ...isolation, permits };
}

/** The ports that the policies of one direction permit for one address of the other end. */
export function permittedPorts(isolation: Isolation, address: AddressNumber): PortSet {
  if (!isIsolated(isolation)) return PortSet.any;
  const permits = isolation.permits.filter(({ peers }) => peers.has(address));
  return PortSet.union(permits.map(({ ports }) => ports));
}
