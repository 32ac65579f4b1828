/** The permits of one rule of an active policy, for the pods that the policy selects. */
import { AddressSet } from '../address-set.ts';
import type { PeerSelector } from '../cache/peer-selector.ts';
import { type PolicyPod, type PortName, portNumber } from '../cache/policy-pod.ts';
import type { Permit, PolicyName } from '../pod-policy.ts';
import { PortSet } from '../port-set.ts';
import type { RuleSpec } from './policy-spec.ts';

export class RulePermits {
  readonly #policy: PolicyName;
  readonly #spec: RuleSpec;
  /** In the order of the specification. */
  readonly #selectors: readonly PeerSelector[];
  /** Of the selectors, when what follows was computed. */
  #revision = -1;
  #peers = AddressSet.none;
  /** The same objects for all pods: ingress by ports, egress under an empty text. */
  readonly #permits = new Map<string, readonly Permit[]>();

  constructor(policy: PolicyName, spec: RuleSpec, selectors: readonly PeerSelector[]) {
    this.#policy = policy;
    this.#spec = spec;
    this.#selectors = selectors;
  }

  permitsFor(pod: PolicyPod): readonly Permit[] {
    this.#refresh();
    return this.#spec.direction === 'ingress' ? this.#ingress(pod) : this.#egress();
  }

  /**
   * A rule that permits nothing, because no pod has its ports: of those that the policy selects (ingress), of the
   * peers (egress). A name that only some pods have is common.
   * @param selected pods of this node
   */
  problems(selected: readonly PolicyPod[]): string[] {
    const { direction, index, ports } = this.#spec;
    if (!ports.numbers.isEmpty || ports.names.length === 0) return [];
    const isMissing =
      direction === 'ingress'
        ? (name: PortName) => selected.every((pod) => portNumber(pod, name) === undefined)
        : (name: PortName) =>
            this.#selectors.every((one) => one.membersWithPort(name).length === 0);
    if (!ports.names.every(isMissing)) return [];
    const who = direction === 'ingress' ? 'selected pod of this node' : 'peer';
    const names = ports.names.map(textOf).join(' or ');
    return [`${direction} rule ${index}: no ${who} has a container port ${names}`];
  }

  #refresh(): void {
    // each part of the sum only grows
    const revision = this.#selectors.reduce((sum, selector) => sum + selector.revision, 0);
    if (revision === this.#revision) return;
    this.#revision = revision;
    this.#permits.clear();
    const { isEveryone, blocks } = this.#spec.peers;
    this.#peers = isEveryone
      ? AddressSet.any
      : AddressSet.union([blocks, ...this.#selectors.map(({ members }) => members)]);
  }

  #ingress(pod: PolicyPod): readonly Permit[] {
    const { numbers, names } = this.#spec.ports;
    const named = names.flatMap((name) => {
      const number = portNumber(pod, name);
      return number === undefined ? [] : [onePort(name, number)];
    });
    const all = PortSet.union([numbers, ...named]);
    return this.#cached(all.text, () => this.#permit(this.#peers, all));
  }

  #egress(): readonly Permit[] {
    return this.#cached('', () => {
      const { numbers, names } = this.#spec.ports;
      const permits = [...this.#permit(this.#peers, numbers)];
      for (const name of names) {
        const byNumber = this.#selectors.flatMap((one) => one.membersWithPort(name));
        const sorted = [...Map.groupBy(byNumber, ([number]) => number)].sort(([a], [b]) => a - b);
        for (const [number, found] of sorted) {
          const peers = AddressSet.union(found.map(([, members]) => members));
          permits.push(...this.#permit(peers, onePort(name, number)));
        }
      }
      return permits;
    });
  }

  #cached(key: string, make: () => readonly Permit[]): readonly Permit[] {
    let permits = this.#permits.get(key);
    if (permits === undefined) {
      permits = make();
      this.#permits.set(key, permits);
    }
    return permits;
  }

  #permit(peers: AddressSet, ports: PortSet): readonly Permit[] {
    if (peers.isEmpty || ports.isEmpty) return [];
    return [{ peers, ports, policy: this.#policy, rule: this.#spec.index }];
  }
}

function onePort({ protocol }: PortName, number: number): PortSet {
  return PortSet.of([{ protocol, first: number, last: number }]);
}

function textOf({ protocol, name }: PortName): string {
  return `"${name}" (${protocol})`;
}
