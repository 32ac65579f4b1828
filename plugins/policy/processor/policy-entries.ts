/** The policies of the cluster, by name, namespace and label. Those that select an attached pod are active. */
import type { Slices } from '#infra/clock/slices.ts';
import type { AttachmentId } from '#plugins/podmanager/api.ts';
import type { NamespaceTable, Selection } from '../cache/namespace-table.ts';
import type { NodeTable } from '../cache/node-table.ts';
import type { PeerSelector } from '../cache/peer-selector.ts';
import type { PeerSelectors } from '../cache/peer-selectors.ts';
import type { PolicyPod } from '../cache/policy-pod.ts';
import { SelectorIndex } from '../cache/selector-index.ts';
import type { PolicySpec } from '../configurator/policy-spec.ts';
import type { PolicyName } from '../pod-policy.ts';
import type { AppliedPolicy } from './attachment-entry.ts';
import { inOrder, PolicyEntry } from './policy-entry.ts';

export interface PolicyEntriesDeps {
  readonly namespaces: NamespaceTable;
  readonly nodes: NodeTable;
  readonly peers: PeerSelectors;
}

export class PolicyEntries {
  readonly #deps: PolicyEntriesDeps;
  readonly #entries = new Map<PolicyName, PolicyEntry>();
  readonly #inNamespace = new Map<string, Set<PolicyEntry>>();
  /** Of those in a namespace. */
  readonly #index: SelectorIndex<PolicyEntry>;
  /** Those that select namespaces by their labels: they are few, and apply to many pods. */
  readonly #ofCluster = new Set<PolicyEntry>();
  /** Active policies by their peers. */
  readonly #users = new Map<PeerSelector, Set<PolicyEntry>>();
  /** Policies that may be active without an attached pod. */
  readonly #unused = new Set<PolicyEntry>();

  constructor(deps: PolicyEntriesDeps) {
    this.#deps = deps;
    this.#index = new SelectorIndex(deps.namespaces);
  }

  get(name: PolicyName): PolicyEntry | undefined {
    return this.#entries.get(name);
  }

  /** Replaces a policy. Attachments of `before` stay with it until they are detached. */
  set(
    name: PolicyName,
    spec: PolicySpec | undefined,
  ): { readonly before: PolicyEntry | undefined; readonly after: PolicyEntry | undefined } {
    const before = this.#entries.get(name);
    if (before !== undefined) this.#remove(before);
    if (spec === undefined) return { before, after: undefined };
    const after = new PolicyEntry(spec);
    this.#entries.set(name, after);
    const { namespaces } = after;
    if (typeof namespaces !== 'string') {
      this.#ofCluster.add(after);
      return { before, after };
    }
    this.#index.add(after);
    const others = this.#inNamespace.get(namespaces);
    if (others === undefined) this.#inNamespace.set(namespaces, new Set([after]));
    else others.add(after);
    return { before, after };
  }

  #remove(entry: PolicyEntry): void {
    const { namespaces } = entry;
    this.#entries.delete(entry.spec.name);
    this.#ofCluster.delete(entry);
    if (typeof namespaces !== 'string') return;
    this.#index.delete(entry);
    const others = this.#inNamespace.get(namespaces);
    others?.delete(entry);
    if (others?.size === 0) this.#inNamespace.delete(namespaces);
  }

  /** In the order in which they decide: those that may apply to a pod of which only the namespace is known. */
  ofNamespace(namespace: string): AppliedPolicy[] {
    const own =
      namespace === ''
        ? [...this.#inNamespace.values()].flatMap((all) => [...all])
        : [...(this.#inNamespace.get(namespace) ?? [])];
    const ofCluster = [...this.#ofCluster].filter(
      (policy) => policy.selectsNamespace(namespace, this.#deps.namespaces) !== 'none',
    );
    return [...own, ...ofCluster].sort(inOrder).map((policy) => ({ policy, isKnown: false }));
  }

  /** Policies that select the pod, or may do so, in the order in which they decide. */
  selecting(pod: PolicyPod): AppliedPolicy[] {
    const candidates = new Set<PolicyEntry>(this.#ofCluster);
    this.#index.collect(pod, candidates);
    return [...candidates].sort(inOrder).flatMap((policy) => {
      const selection = policy.selects(pod, this.#deps.namespaces);
      return selection === 'none' ? [] : [{ policy, isKnown: selection === 'selected' }];
    });
  }

  /** Which policies of the cluster select a namespace. */
  selectionOf(namespace: string): ReadonlyMap<PolicyEntry, Selection> {
    const selections = new Map<PolicyEntry, Selection>();
    for (const policy of this.#ofCluster)
      selections.set(policy, policy.selectsNamespace(namespace, this.#deps.namespaces));
    return selections;
  }

  /** Active policies with one of the peers. */
  usersOf(selectors: Iterable<PeerSelector>): Set<PolicyEntry> {
    const found = new Set<PolicyEntry>();
    for (const selector of selectors)
      for (const policy of this.#users.get(selector) ?? []) found.add(policy);
    return found;
  }

  /** Active policies whose peers are nodes. */
  usersOfNodes(): PolicyEntry[] {
    return [...this.#ofCluster].filter(
      ({ rules, hasNodePeers }) => rules !== undefined && hasNodePeers,
    );
  }

  async attach(
    policy: PolicyEntry,
    id: AttachmentId,
    pod: PolicyPod,
    slices: Slices,
  ): Promise<void> {
    policy.attachments.set(id, pod);
    if (policy.rules !== undefined) return;
    const { peers, nodes } = this.#deps;
    const { selectors } = await policy.activate(peers, nodes, slices);
    for (const selector of selectors) {
      const users = this.#users.get(selector);
      if (users === undefined) this.#users.set(selector, new Set([policy]));
      else users.add(policy);
    }
  }

  detach(policy: PolicyEntry, id: AttachmentId): void {
    policy.attachments.delete(id);
    this.#unused.add(policy);
  }

  /** Releases the peers of policies without attachments. */
  deactivateUnused(): void {
    for (const policy of this.#unused) {
      if (policy.attachments.size > 0) continue;
      for (const selector of policy.rules?.selectors ?? []) {
        const users = this.#users.get(selector);
        users?.delete(policy);
        if (users?.size === 0) this.#users.delete(selector);
      }
      policy.deactivate(this.#deps.peers);
    }
    this.#unused.clear();
  }
}
