/** A selector of pods as peers, with the addresses of the pods that it selects. */
import type { AddressNumber, AddressSet } from '../address-set.ts';
import type { AddressOwner } from './address-owners.ts';
import { MemberSet } from './member-set.ts';
import type { NamespaceTable } from './namespace-table.ts';
import type { PolicyPod } from './policy-pod.ts';
import type { PodSelector } from './selector-index.ts';

export interface PeerSelectorSpec extends PodSelector {
  /** Names of ports, by `portNameKey`, that rules resolve for each selected pod. */
  readonly portNames: readonly string[];
}

export class PeerSelector implements PeerSelectorSpec {
  readonly pods: PeerSelectorSpec['pods'];
  readonly namespaces: PeerSelectorSpec['namespaces'];
  readonly portNames: readonly string[];
  readonly #namespaceTable: NamespaceTable;
  readonly #members = new MemberSet();
  /** By name and number. */
  readonly #withPort: ReadonlyMap<string, Map<number, MemberSet>>;
  #revision = 0;

  constructor(spec: PeerSelectorSpec, namespaceTable: NamespaceTable) {
    this.pods = spec.pods;
    this.namespaces = spec.namespaces;
    this.portNames = spec.portNames;
    this.#namespaceTable = namespaceTable;
    this.#withPort = new Map(spec.portNames.map((name) => [name, new Map()]));
  }

  /** The addresses of the selected pods. */
  get members(): AddressSet {
    return this.#members.set;
  }

  /** Changes with the members and with their ports. */
  get revision(): number {
    return this.#revision;
  }

  /** The members that have a port of this name, with its number. */
  membersWithPort(name: string): [number, AddressSet][] {
    return Array.from(this.#withPort.get(name) ?? [], ([number, { set }]) => [number, set]);
  }

  selectsNamespace(namespace: string): boolean {
    const { namespaces } = this;
    if (typeof namespaces === 'string') return namespaces === namespace;
    return namespaces.matches(this.#namespaceTable.labelsOf(namespace));
  }

  selects(pod: PolicyPod): boolean {
    return this.selectsNamespace(pod.namespace) && this.pods.matches(pod.labels);
  }

  /** Judges an address again. Members change with `apply`. */
  judge(address: AddressNumber, owners: readonly AddressOwner[]): void {
    const isMember =
      owners.length > 0 && owners.every((pod) => pod !== undefined && this.selects(pod));
    this.#members.judge(address, isMember);
    for (const [name, sets] of this.#withPort) {
      const number = isMember ? commonPort(owners, name) : undefined;
      if (number !== undefined && !sets.has(number)) sets.set(number, new MemberSet());
      for (const [one, members] of sets) members.judge(address, one === number);
    }
  }

  /** @returns whether something has changed */
  apply(): boolean {
    let hasChanged = this.#members.apply();
    for (const sets of this.#withPort.values()) {
      for (const [number, members] of sets) {
        if (members.apply()) hasChanged = true;
        if (members.set.isEmpty) sets.delete(number);
      }
    }
    if (hasChanged) this.#revision++;
    return hasChanged;
  }
}

/** The number that the port has in all pods. */
function commonPort(pods: readonly AddressOwner[], name: string): number | undefined {
  const number = pods[0]?.ports.get(name);
  return pods.every((pod) => pod?.ports.get(name) === number) ? number : undefined;
}
