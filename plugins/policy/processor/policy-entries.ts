/** The policies of the cluster, by name, namespace and label. Those that select an attached pod are active. */
import type { Slices } from '#infra/clock/slices.ts';
import type { AttachmentId } from '#plugins/podmanager/api.ts';
import type { NamespaceTable } from '../cache/namespace-table.ts';
import type { PeerSelector } from '../cache/peer-selector.ts';
import type { PeerSelectors } from '../cache/peer-selectors.ts';
import type { PolicyPod } from '../cache/policy-pod.ts';
import { SelectorIndex } from '../cache/selector-index.ts';
import type { PolicySpec } from '../configurator/policy-spec.ts';
import type { PolicyName } from '../pod-policy.ts';
import { PolicyEntry } from './policy-entry.ts';

export class PolicyEntries {
  readonly #peers: PeerSelectors;
  readonly #entries = new Map<PolicyName, PolicyEntry>();
  readonly #inNamespace = new Map<string, Set<PolicyEntry>>();
  readonly #index: SelectorIndex<PolicyEntry>;
  /** Active policies by their peers. */
  readonly #users = new Map<PeerSelector, Set<PolicyEntry>>();
  /** Policies that may be active without an attached pod. */
  readonly #unused = new Set<PolicyEntry>();

  constructor(namespaces: NamespaceTable, peers: PeerSelectors) {
    this.#peers = peers;
    this.#index = new SelectorIndex(namespaces);
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
    if (before !== undefined) {
      this.#entries.delete(name);
      this.#index.delete(before);
      const others = this.#inNamespace.get(before.namespaces);
      others?.delete(before);
      if (others?.size === 0) this.#inNamespace.delete(before.namespaces);
    }
    if (spec === undefined) return { before, after: undefined };
    const after = new PolicyEntry(spec);
    this.#entries.set(name, after);
    this.#index.add(after);
    const others = this.#inNamespace.get(after.namespaces);
    if (others === undefined) this.#inNamespace.set(after.namespaces, new Set([after]));
    else others.add(after);
    return { before, after };
  }

  /** Sorted by name. @param namespace empty: all policies */
  ofNamespace(namespace: string): PolicyEntry[] {
    if (namespace === '') return sorted(this.#entries.values());
    return sorted(this.#inNamespace.get(namespace) ?? []);
  }

  /** Policies that select the pod, sorted by name. */
  selecting(pod: PolicyPod): PolicyEntry[] {
    const candidates = new Set<PolicyEntry>();
    this.#index.collect(pod, candidates);
    return sorted([...candidates].filter((policy) => policy.selects(pod)));
  }

  /** Active policies with one of the peers. */
  usersOf(selectors: Iterable<PeerSelector>): Set<PolicyEntry> {
    const found = new Set<PolicyEntry>();
    for (const selector of selectors)
      for (const policy of this.#users.get(selector) ?? []) found.add(policy);
    return found;
  }

  async attach(
    policy: PolicyEntry,
    id: AttachmentId,
    pod: PolicyPod,
    slices: Slices,
  ): Promise<void> {
    policy.attachments.set(id, pod);
    if (policy.rules !== undefined) return;
    const { selectors } = await policy.activate(this.#peers, slices);
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
      policy.deactivate(this.#peers);
    }
    this.#unused.clear();
  }
}

function sorted(policies: Iterable<PolicyEntry>): PolicyEntry[] {
  return [...policies].sort((a, b) => (a.spec.name < b.spec.name ? -1 : 1));
}
