/**
 * Classes of pods that policies treat alike: the same ports are permitted to and from any pod and address, whichever
 * pod of a class is asked about.
 */
import type { Slices } from '#infra/clock/slices.ts';
import { AddressSet, familyOf } from '../address-set.ts';
import type { PodName, PodPolicy, PolicyRule, RuleList } from '../pod-policy.ts';
import type { ClusterPolicies } from './cluster-policies.ts';

/** @returns for each pod a text that is equal for pods of one class */
export async function podClasses(
  { pods }: ClusterPolicies,
  slices: Slices,
): Promise<ReadonlyMap<PodName, string>> {
  const keys = new RuleKeys();
  const lists = new Map<PodName, string>();
  for (const [name, { policy }] of pods) {
    if (slices.due()) await slices.turn();
    lists.set(name, `${keys.keyOf(policy.ingress)} ${keys.keyOf(policy.egress)}`);
  }
  const classes = new Map<PodName, string>();
  for (const [name, { policy }] of pods) {
    if (slices.due()) await slices.turn();
    classes.set(name, `${lists.get(name)} ${membership(policy, keys.peerSets)}`);
  }
  return classes;
}

/** In which sets of peers the addresses of a pod are, by family. */
function membership({ addresses }: PodPolicy, sets: readonly AddressSet[]): string {
  const found = addresses.map((address) => {
    const numbers: number[] = [];
    for (const [number, set] of sets.entries()) if (set.has(address)) numbers.push(number);
    return `${familyOf(address)}:${numbers.join(',')}`;
  });
  return found.sort().join(' ');
}

/** Texts for lists of rules that are equal only if these permit the same. */
class RuleKeys {
  /** All different sets of peers but that of all addresses. */
  readonly peerSets: AddressSet[] = [];
  readonly #lists = new Map<RuleList, string>();
  readonly #numbers = new Map<AddressSet, number>();
  /** Positions of different sets that begin and end alike. */
  readonly #similar = new Map<string, number[]>();

  keyOf(list: RuleList): string {
    let key = this.#lists.get(list);
    if (key === undefined) {
      key = this.#keyOf(list.rules);
      this.#lists.set(list, key);
    }
    return key;
  }

  /** The order of neighbors with the same action does not matter. */
  #keyOf(rules: readonly PolicyRule[]): string {
    const runs: { action: string; keys: Set<string> }[] = [];
    for (const rule of rules) {
      const action = `${rule.tier} ${rule.action}`;
      const key = `${this.#numberOf(rule.peers)}:${rule.ports.text}`;
      const last = runs.at(-1);
      if (last?.action === action) last.keys.add(key);
      else runs.push({ action, keys: new Set([key]) });
    }
    return runs.map(({ action, keys }) => `${action} [${[...keys].sort().join(';')}]`).join(' ');
  }

  #numberOf(peers: AddressSet): number {
    const known = this.#numbers.get(peers);
    if (known !== undefined) return known;
    const number = peers.equals(AddressSet.any) ? ALL_ADDRESSES : this.#numberOfEqual(peers);
    this.#numbers.set(peers, number);
    return number;
  }

  #numberOfEqual(peers: AddressSet): number {
    const ranges = peers.ranges();
    const ends = `${ranges.length} ${ranges[0]?.first} ${ranges.at(-1)?.last}`;
    const similar = this.#similar.get(ends) ?? [];
    const equal = similar.find((number) => this.peerSets[number]?.equals(peers));
    if (equal !== undefined) return equal;
    const number = this.peerSets.push(peers) - 1;
    this.#similar.set(ends, [...similar, number]);
    return number;
  }
}

const ALL_ADDRESSES = -1;
