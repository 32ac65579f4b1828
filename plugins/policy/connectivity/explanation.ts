/** Which policies and which of their rules decide about the connections of one pair. */
import { type AddressNumber, addressNumber, familyOf } from '../address-set.ts';
import {
  decidingRules,
  type PodName,
  type PolicyDirection,
  type PolicyName,
  type RuleVerdict,
} from '../pod-policy.ts';
import { type PolicyProtocol, PortSet } from '../port-set.ts';
import type { ClusterPolicies } from './cluster-policies.ts';
import { outside, type Party, permittedBetween } from './connections.ts';

export interface Explanation {
  /** Name of a pod, or an address outside of the cluster. */
  readonly from: string;
  readonly to: string;
  /** The asked port; undefined: all. */
  readonly port: AskedPort | undefined;
  /** Ports of the destination that are permitted in both directions, of the asked ones. */
  readonly permitted: PortSet;
  /** Families of addresses that the ends have, if they have none in common: no policy decides then. */
  readonly otherFamilies: { readonly from: string; readonly to: string } | undefined;
  /** From the policies of the source; undefined: an address outside, or both ends are the same pod. */
  readonly egress: DirectionExplanation | undefined;
  /** From the policies of the destination. */
  readonly ingress: DirectionExplanation | undefined;
}

export interface AskedPort {
  readonly protocol: PolicyProtocol;
  readonly port: number;
}

export interface DirectionExplanation {
  /** Policies that apply to the pod in this direction; none: everything is permitted. */
  readonly policies: readonly PolicyName[];
  /** Rules that decide about connections with the other end, of the asked port. */
  readonly rules: readonly RuleVerdict[];
  /** Ports that are permitted because no rule decides about them. */
  readonly undecided: PortSet;
}

/**
 * @param from name of a pod or a workload as `<namespace>/<name>`, or an address
 * @returns undefined for an unknown end, with its text
 */
export function explain(
  cluster: ClusterPolicies,
  from: string,
  to: string,
  port: AskedPort | undefined,
): Explanation | { readonly unknown: string } {
  const source = findParty(cluster, from);
  if (source === undefined) return { unknown: from };
  const destination = findParty(cluster, to);
  if (destination === undefined) return { unknown: to };
  const ends = { from: source.name, to: destination.name, port };
  const asked = port === undefined ? PortSet.any : onePort(port);
  if (source.name === destination.name)
    return {
      ...ends,
      permitted: asked,
      otherFamilies: undefined,
      egress: undefined,
      ingress: undefined,
    };
  const permitted = permittedBetween(source.party, destination.party).intersect(asked);
  return {
    ...ends,
    permitted,
    otherFamilies: otherFamilies(source.party, destination.party),
    egress: explainDirection('egress', source, destination.party, asked),
    ingress: explainDirection('ingress', destination, source.party, asked),
  };
}

interface FoundParty {
  readonly name: string;
  readonly party: Party;
  readonly isPod: boolean;
}

function findParty(cluster: ClusterPolicies, text: string): FoundParty | undefined {
  const address = addressNumber(text);
  const name = address === undefined ? podNamed(cluster, text) : podAt(cluster, address);
  const pod = name === undefined ? undefined : cluster.pods.get(name);
  if (name !== undefined && pod) return { name, party: pod.policy, isPod: true };
  return address === undefined ? undefined : { name: text, party: outside(address), isPod: false };
}

function podAt({ pods }: ClusterPolicies, address: AddressNumber): PodName | undefined {
  for (const [name, { policy }] of pods) if (policy.addresses.includes(address)) return name;
  return undefined;
}

/** The pod of this name, or the first one of the workload of this name. */
function podNamed({ pods }: ClusterPolicies, text: string): PodName | undefined {
  if (pods.has(text)) return text;
  for (const [name, { owner }] of pods)
    if (owner && `${name.slice(0, name.indexOf('/'))}/${owner.name}` === text) return name;
  return undefined;
}

function otherFamilies(from: Party, to: Party): Explanation['otherFamilies'] {
  const familiesOf = ({ addresses }: Party): Set<number> => new Set(addresses.map(familyOf));
  const [ofFrom, ofTo] = [familiesOf(from), familiesOf(to)];
  if ([...ofFrom].some((family) => ofTo.has(family))) return undefined;
  const text = (all: Set<number>): string => [...all].map((family) => `IPv${family}`).join();
  return { from: text(ofFrom), to: text(ofTo) };
}

function onePort({ protocol, port }: AskedPort): PortSet {
  return PortSet.of([{ protocol, first: port, last: port }]);
}

function explainDirection(
  direction: PolicyDirection,
  { party, isPod }: FoundParty,
  other: Party,
  asked: PortSet,
): DirectionExplanation | undefined {
  if (!isPod) return undefined;
  const list = party[direction];
  const found = other.addresses.map((address) =>
    decidingRules(list, address).flatMap(({ rule, ports }) => {
      const decided = ports.intersect(asked);
      return decided.isEmpty ? [] : [{ rule, ports: decided }];
    }),
  );
  const undecided = found.map((rules) =>
    rules
      .filter(({ rule }) => rule.action !== 'Pass')
      .reduce((rest, { ports }) => rest.minus(ports), asked),
  );
  return {
    policies: list.policies,
    rules: ofAllAddresses(found.flat()),
    undecided: PortSet.union(undecided),
  };
}

/** Each rule once, in the order of the list. */
function ofAllAddresses(found: readonly RuleVerdict[]): RuleVerdict[] {
  return [...Map.groupBy(found, ({ rule }) => rule)].map(([rule, same]) => ({
    rule,
    ports: PortSet.union(same.map(({ ports }) => ports)),
  }));
}
