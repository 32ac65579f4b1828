/** A selector of pods as peers, with the addresses of the pods that it selects. */
import type { AddressNumber, AddressSet } from '../address-set.ts';
import type { AddressOwner } from './address-owners.ts';
import { MemberSet } from './member-set.ts';
import type { NamespaceTable } from './namespace-table.ts';
import { type PolicyPod, type PortName, portNumber } from './policy-pod.ts';
import type { PodSelector } from './selector-index.ts';

export interface PeerSelectorSpec extends PodSelector {
  /** Names that rules resolve for each selected pod. */
  readonly portNames: readonly PortName[];
  /**
   * Its rule denies. If an address has several owners, one that is selected is enough, and an unknown one counts as
   * selected. Else all must be selected.
   */
  readonly isDenying: boolean;
}

/** In place of the number of a port that is unknown. */
export const ANY_PORT = 0;

export class PeerSelector implements PeerSelectorSpec {
  readonly pods: PeerSelectorSpec['pods'];
  readonly namespaces: PeerSelectorSpec['namespaces'];
  readonly portNames: readonly PortName[];
  readonly isDenying: boolean;
  readonly #namespaceTable: NamespaceTable;
  readonly #members = new MemberSet();
  readonly #withPort: readonly MembersWithPort[];
  #revision = 0;

  constructor(spec: PeerSelectorSpec, namespaceTable: NamespaceTable) {
    this.pods = spec.pods;
    this.namespaces = spec.namespaces;
    this.portNames = spec.portNames;
    this.isDenying = spec.isDenying;
    this.#namespaceTable = namespaceTable;
    this.#withPort = spec.portNames.map((portName) => ({ portName, byNumber: new Map() }));
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
  membersWithPort({ protocol, name }: PortName): [number, AddressSet][] {
    const found = this.#withPort.find(
      ({ portName }) => portName.protocol === protocol && portName.name === name,
    );
    return Array.from(found?.byNumber ?? [], ([number, { set }]) => [number, set]);
  }

  selectsNamespace(namespace: string): boolean {
    const { namespaces } = this;
    if (typeof namespaces === 'string') return namespaces === namespace;
    const selection = this.#namespaceTable.selection(namespace, namespaces);
    return selection === 'selected' || (this.isDenying && selection === 'unknown');
  }

  selects(pod: PolicyPod): boolean {
    return this.selectsNamespace(pod.namespace) && this.pods.matches(pod.labels);
  }

  /** Judges an address again. Members change with `apply`. */
  judge(address: AddressNumber, owners: readonly AddressOwner[]): void {
    const members = this.#selected(owners);
    this.#members.judge(address, members.length > 0);
    for (const { portName, byNumber } of this.#withPort) {
      const numbers = portNumbers(members, portName);
      // a port that is not the same for all is that of none
      const found = this.isDenying || numbers.size === 1 ? numbers : new Set();
      for (const number of numbers)
        if (number !== undefined && !byNumber.has(number)) byNumber.set(number, new MemberSet());
      for (const [one, set] of byNumber) set.judge(address, found.has(one));
    }
  }

  /** @returns whether something has changed */
  apply(): boolean {
    let hasChanged = this.#members.apply();
    for (const { byNumber } of this.#withPort) {
      for (const [number, members] of byNumber) {
        if (members.apply()) hasChanged = true;
        if (members.set.isEmpty) byNumber.delete(number);
      }
    }
    if (hasChanged) this.#revision++;
    return hasChanged;
  }

  /** None: the address is no member. */
  #selected(owners: readonly AddressOwner[]): readonly AddressOwner[] {
    if (this.isDenying) return owners.filter((pod) => pod === undefined || this.selects(pod));
    return owners.every((pod) => pod !== undefined && this.selects(pod)) ? owners : [];
  }
}

function portNumbers(pods: readonly AddressOwner[], name: PortName): Set<number | undefined> {
  return new Set(pods.map((pod) => (pod === undefined ? ANY_PORT : portNumber(pod, name))));
}

interface MembersWithPort {
  readonly portName: PortName;
  readonly byNumber: Map<number, MemberSet>;
}
