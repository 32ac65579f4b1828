/**
 * Classes of pods that policies treat alike: the same ports are permitted to and from any pod and address, whichever
 * pod of a class is asked about.
 */
import type { Slices } from '#infra/clock/slices.ts';
import { AddressSet, familyOf } from '../address-set.ts';
import {
  type Isolation,
  isIsolated,
  type Permit,
  type PodName,
  type PodPolicy,
} from '../pod-policy.ts';
import type { ClusterPolicies } from './cluster-policies.ts';

/** @returns for each pod a text that is equal for pods of one class */
export async function podClasses(
  { pods }: ClusterPolicies,
  slices: Slices,
): Promise<ReadonlyMap<PodName, string>> {
  const permits = new PermitKeys();
  const isolations = new Map<PodName, string>();
  for (const [name, { policy }] of pods) {
    if (slices.due()) await slices.turn();
    isolations.set(name, `${permits.keyOf(policy.ingress)} ${permits.keyOf(policy.egress)}`);
  }
  const classes = new Map<PodName, string>();
  for (const [name, { policy }] of pods) {
    if (slices.due()) await slices.turn();
    classes.set(name, `${isolations.get(name)} ${membership(policy, permits.peerSets)}`);
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

/** Texts for isolations that are equal if these permit the same. */
class PermitKeys {
  /** All different sets of peers but that of all addresses. */
  readonly peerSets: AddressSet[] = [];
  readonly #isolations = new Map<Isolation, string>();
  readonly #numbers = new Map<AddressSet, number>();
  /** Positions of different sets that begin and end alike. */
  readonly #similar = new Map<string, number[]>();

  keyOf(isolation: Isolation): string {
    let key = this.#isolations.get(isolation);
    if (key === undefined) {
      const permits = isolation.permits.map((permit) => this.#permitKey(permit));
      key = isIsolated(isolation) ? `[${[...new Set(permits)].sort().join(';')}]` : 'open';
      this.#isolations.set(isolation, key);
    }
    return key;
  }

  #permitKey({ peers, ports }: Permit): string {
    return `${this.#numberOf(peers)}:${ports.text}`;
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
