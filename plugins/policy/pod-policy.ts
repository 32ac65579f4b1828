/**
 * The rules for pods of this node by network policies: made by the configurator, configured by a renderer.
 * Selectors, namespaces and names of ports are resolved: only addresses and numbers are left.
 */
import { type AddressNumber, AddressSet } from './address-set.ts';
import { PortSet } from './port-set.ts';

/** `<namespace>/<name>`. */
export type PodName = string;
/** `<namespace>/<name>`, of a policy of the cluster `<name>`. */
export type PolicyName = string;

/** Directions are those of Kubernetes: ingress is traffic to the pod. */
export type PolicyDirection = 'ingress' | 'egress';

/** In the order in which they decide. What no tier decides is permitted. */
export const policyTiers = ['Admin', 'NetworkPolicy', 'Baseline'] as const;

export type PolicyTier = (typeof policyTiers)[number];

/** Pass leaves the decision to the next tier. */
export type RuleAction = 'Accept' | 'Deny' | 'Pass';

/** An attached pod of this node. Pods in the network of the host are not attached, hence no policy applies to them. */
export interface PodPolicy {
  readonly pod: PodName;
  /** Of its attachment, not of the Pod record, which may not contain it yet. */
  readonly addresses: readonly AddressNumber[];
  readonly ingress: RuleList;
  readonly egress: RuleList;
}

/** One direction of a pod. The same object as before if nothing changed. */
export interface RuleList {
  /** Policies that apply to the pod in this direction, in the order of their tiers and priorities. */
  readonly policies: readonly PolicyName[];
  /** Of all tiers: the first rule that matches decides, or passes to the next tier. */
  readonly rules: readonly PolicyRule[];
}

export interface PolicyRule {
  readonly tier: PolicyTier;
  readonly action: RuleAction;
  /** The other ends. */
  readonly peers: AddressSet;
  /** Ports of the pod that receives. */
  readonly ports: PortSet;
  readonly policy: PolicyName;
  /**
   * Position in the list of ingress or egress rules of the policy, from 0. Absent: the policy denies what none of its tier
   * accepts, as a NetworkPolicy does, or as one does of which it is unknown what it says about the pod.
   */
  readonly rule?: number;
  /** As the policy names it. */
  readonly name?: string;
}

/** No policy applies. */
export const noRules: RuleList = { policies: [], rules: [] };

/** Whether something is denied. */
export function isRestricted({ rules }: RuleList): boolean {
  return rules.some(({ action }) => action === 'Deny');
}

const closedLists = new WeakMap<RuleList, Map<string, RuleList>>();
/** Of one list: a table that is over its limit is attempted with fewer and fewer policies, each time half of those in question. */
const MAX_CLOSED_LISTS = 16;

/**
 * As if some policies could not be read: they accept nothing, and deny everything that they do not leave to others. The last ones
 * are kept as long as the list: a table that is over its limit is made several times with each change.
 */
export function withoutPolicies(list: RuleList, without: ReadonlySet<PolicyName>): RuleList {
  const concerned = without.size === 0 ? [] : list.policies.filter((name) => without.has(name));
  if (concerned.length === 0) return list;
  const known = closedLists.get(list) ?? new Map<string, RuleList>();
  closedLists.set(list, known);
  const text = concerned.join();
  const found = known.get(text) ?? {
    ...list,
    rules: list.rules.flatMap((one) => (without.has(one.policy) ? closed(one) : [one])),
  };
  // the one that was used least recently is the first
  known.delete(text);
  known.set(text, found);
  if (known.size > MAX_CLOSED_LISTS) known.delete(known.keys().next().value as string);
  return found;
}

/** As ClusterNetworkPolicies fail closed: a rule that does not accept denies all. */
function closed(rule: PolicyRule): PolicyRule[] {
  if (rule.action === 'Accept') return [];
  return [{ ...rule, action: 'Deny', peers: AddressSet.any, ports: PortSet.any }];
}

/** The ports of one address of the other end about which a rule decides. */
export interface RuleVerdict {
  readonly rule: PolicyRule;
  readonly ports: PortSet;
}

/** The rules that decide about one address of the other end, in their order, each with the ports that it is the first for. */
export function decidingRules({ rules }: RuleList, address: AddressNumber): RuleVerdict[] {
  const found: RuleVerdict[] = [];
  let undecided = PortSet.any;
  let passed = PortSet.none;
  let tier: PolicyTier | undefined;
  for (const rule of rules) {
    if (rule.tier !== tier) {
      undecided = PortSet.union([undecided, passed]);
      passed = PortSet.none;
      tier = rule.tier;
    }
    if (undecided.isEmpty || !rule.peers.has(address)) continue;
    const ports = undecided.intersect(rule.ports);
    if (ports.isEmpty) continue;
    found.push({ rule, ports });
    undecided = undecided.minus(ports);
    if (rule.action === 'Pass') passed = PortSet.union([passed, ports]);
  }
  return found;
}

/** The ports that the policies of one direction permit for one address of the other end. */
export function permittedPorts(list: RuleList, address: AddressNumber): PortSet {
  if (!isRestricted(list)) return PortSet.any;
  const denied = decidingRules(list, address).filter(({ rule }) => rule.action === 'Deny');
  return PortSet.union(denied.map(({ ports }) => ports)).complement();
}
