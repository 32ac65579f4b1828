/** One rule of an active policy, with the addresses of its peers and the numbers of its ports. */
import { AddressSet } from '../address-set.ts';
import type { NodeTable } from '../cache/node-table.ts';
import { ANY_PORT, type PeerSelector } from '../cache/peer-selector.ts';
import { type PolicyPod, type PortName, portNumber } from '../cache/policy-pod.ts';
import type { PolicyName, PolicyRule, PolicyTier } from '../pod-policy.ts';
import { allPorts, PortSet } from '../port-set.ts';
import type { RuleSpec } from './policy-spec.ts';

export interface RuleOfPolicy {
  /** For a pod that the policy selects. Several, where peers have different numbers for the name of a port. */
  rulesFor(pod: PolicyPod): readonly PolicyRule[];
  /** @param selected pods of this node */
  problems(selected: readonly PolicyPod[]): string[];
}

/** The policy of a rule. */
export interface RuleOwner {
  readonly name: PolicyName;
  readonly tier: PolicyTier;
}

export class ResolvedRule implements RuleOfPolicy {
  readonly #owner: RuleOwner;
  readonly #spec: RuleSpec;
  /** In the order of the specification. */
  readonly #selectors: readonly PeerSelector[];
  readonly #nodes: NodeTable;
  /** Of the selectors, when what follows was computed. */
  #revision = -1;
  #peers = AddressSet.none;
  /** The same objects for all pods: ingress by ports, egress under an empty text. */
  readonly #rules = new Map<string, readonly PolicyRule[]>();

  constructor(
    owner: RuleOwner,
    spec: RuleSpec,
    selectors: readonly PeerSelector[],
    nodes: NodeTable,
  ) {
    this.#owner = owner;
    this.#spec = spec;
    this.#selectors = selectors;
    this.#nodes = nodes;
  }

  rulesFor(pod: PolicyPod): readonly PolicyRule[] {
    this.#refresh();
    return this.#spec.direction === 'ingress' ? this.#ingress(pod) : this.#egress();
  }

  /**
   * A rule that matches nothing, because no pod has its ports: of those that the policy selects (ingress), of the
   * peers (egress). A name that only some pods have is common.
   * @param selected pods of this node
   */
  problems(selected: readonly PolicyPod[]): string[] {
    const { direction, index, ports, peers } = this.#spec;
    const { unknown } = this.#nodes;
    if (peers.nodes.length > 0 && unknown > 0)
      return [
        `${direction} rule ${index}: the records of ${unknown} nodes are without labels, which contiv-ksr writes for readers: own; it accepts nothing of these nodes, or denies them`,
      ];
    // a policy of the cluster need not find its ports on each node
    if (this.#owner.tier !== 'NetworkPolicy') return [];
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
    const { isEveryone, blocks, nodes } = this.#spec.peers;
    // each part of the sum only grows
    const revision = this.#selectors.reduce(
      (sum, selector) => sum + selector.revision,
      nodes.length === 0 ? 0 : this.#nodes.revision,
    );
    if (revision === this.#revision) return;
    this.#revision = revision;
    this.#rules.clear();
    const isDenying = this.#spec.action === 'Deny';
    this.#peers = isEveryone
      ? AddressSet.any
      : AddressSet.union([
          blocks,
          ...this.#selectors.map(({ members }) => members),
          ...nodes.map((one) => this.#nodes.addressesOf(one, isDenying)),
        ]);
  }

  #ingress(pod: PolicyPod): readonly PolicyRule[] {
    const { numbers, names } = this.#spec.ports;
    const named = names.flatMap((name) => {
      const number = portNumber(pod, name);
      return number === undefined ? [] : [portOf(name, number)];
    });
    const all = PortSet.union([numbers, ...named]);
    return this.#cached(all.text, () => this.#rule(this.#peers, all));
  }

  #egress(): readonly PolicyRule[] {
    return this.#cached('', () => {
      const { numbers, names } = this.#spec.ports;
      const rules = [...this.#rule(this.#peers, numbers)];
      for (const name of names) {
        const byNumber = this.#selectors.flatMap((one) => one.membersWithPort(name));
        const sorted = [...Map.groupBy(byNumber, ([number]) => number)].sort(([a], [b]) => a - b);
        for (const [number, found] of sorted) {
          const peers = AddressSet.union(found.map(([, members]) => members));
          rules.push(...this.#rule(peers, portOf(name, number)));
        }
      }
      return rules;
    });
  }

  #cached(key: string, make: () => readonly PolicyRule[]): readonly PolicyRule[] {
    let rules = this.#rules.get(key);
    if (rules === undefined) {
      rules = make();
      this.#rules.set(key, rules);
    }
    return rules;
  }

  #rule(peers: AddressSet, ports: PortSet): readonly PolicyRule[] {
    if (peers.isEmpty || ports.isEmpty) return [];
    const { name: policy, tier } = this.#owner;
    const { action, index: rule, name } = this.#spec;
    return [{ tier, action, peers, ports, policy, rule, ...(name !== undefined && { name }) }];
  }
}

function portOf({ protocol }: PortName, number: number): PortSet {
  const range = number === ANY_PORT ? allPorts : { first: number, last: number };
  return PortSet.of([{ protocol, ...range }]);
}

function textOf({ protocol, name }: PortName): string {
  return `"${name}" (${protocol})`;
}
