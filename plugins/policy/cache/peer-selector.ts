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
}

export class PeerSelector implements PeerSelectorSpec {
  readonly pods: PeerSelectorSpec['pods'];
  readonly namespaces: PeerSelectorSpec['namespaces'];
  readonly portNames: readonly PortName[];
  readonly #namespaceTable: NamespaceTable;
  readonly #members = new MemberSet();
  readonly #withPort: readonly MembersWithPort[];
  #revision = 0;

  constructor(spec: PeerSelectorSpec, namespaceTable: NamespaceTable) {
    this.pods = spec.pods;
    this.namespaces = spec.namespaces;
    this.portNames = spec.portNames;
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
    return this.#namespaceTable.isSelected(namespace, namespaces);
  }

  selects(pod: PolicyPod): boolean {
    return this.selectsNamespace(pod.namespace) && this.pods.matches(pod.labels);
  }

  /** Judges an address again. Members change with `apply`. */
  judge(address: AddressNumber, owners: readonly AddressOwner[]): void {
    const isMember =
      owners.length > 0 && owners.every((pod) => pod !== undefined && this.selects(pod));
    this.#members.judge(address, isMember);
    for (const { portName, byNumber } of this.#withPort) {
      const number = isMember ? commonPort(owners, portName) : undefined;
      if (number !== undefined && !byNumber.has(number)) byNumber.set(number, new MemberSet());
      for (const [one, members] of byNumber) members.judge(address, one === number);
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
}

/** The number that the port has in all pods. */
function commonPort(pods: readonly AddressOwner[], name: PortName): number | undefined {
  const numbers = new Set(pods.map((pod) => pod && portNumber(pod, name)));
  const [number] = numbers;
  return numbers.size === 1 ? number : undefined;
}

interface MembersWithPort {
  readonly portName: PortName;
  readonly byNumber: Map<number, MemberSet>;
}
