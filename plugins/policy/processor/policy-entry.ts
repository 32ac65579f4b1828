/** A policy of the cluster. Its peers are followed only while it selects an attached pod. */
import type { Slices } from '#infra/clock/slices.ts';
import type { AttachmentId } from '#plugins/podmanager/api.ts';
import { AddressSet } from '../address-set.ts';
import type { NamespaceTable, Selection } from '../cache/namespace-table.ts';
import type { NodeTable } from '../cache/node-table.ts';
import type { PeerSelectors } from '../cache/peer-selectors.ts';
import type { PolicyPod } from '../cache/policy-pod.ts';
import type { PodSelector } from '../cache/selector-index.ts';
import { PolicyRules } from '../configurator/policy-rules.ts';
import type { PolicySpec } from '../configurator/policy-spec.ts';
import { type PolicyDirection, type PolicyRule, policyTiers } from '../pod-policy.ts';
import { PortSet } from '../port-set.ts';

export class PolicyEntry implements PodSelector {
  readonly spec: PolicySpec;
  /** Denies what no rule of its tier accepts, or pods of which it is unknown what it says about them. */
  readonly denyingAll: PolicyRule;
  /** The attached pods that it selects. */
  readonly attachments = new Map<AttachmentId, PolicyPod>();
  #rules: PolicyRules | undefined;

  constructor(spec: PolicySpec) {
    this.spec = spec;
    const { name: policy, tier } = spec;
    this.denyingAll = { tier, action: 'Deny', peers: AddressSet.any, ports: PortSet.any, policy };
  }

  get pods(): PolicySpec['pods'] {
    return this.spec.pods;
  }

  get namespaces(): PolicySpec['namespaces'] {
    return this.spec.namespaces;
  }

  /** undefined while it selects no attached pod. */
  get rules(): PolicyRules | undefined {
    return this.#rules;
  }

  get hasNodePeers(): boolean {
    const { ingress, egress } = this.spec;
    return [...ingress, ...egress].some(({ peers }) => peers.nodes.length > 0);
  }

  /** @param namespace empty: unknown */
  selectsNamespace(namespace: string, table: NamespaceTable): Selection {
    const { namespaces } = this;
    if (namespace === '') return 'unknown';
    if (typeof namespaces !== 'string') return table.selection(namespace, namespaces);
    return namespaces === namespace ? 'selected' : 'none';
  }

  selects(pod: PolicyPod, table: NamespaceTable): Selection {
    return this.pods.matches(pod.labels) ? this.selectsNamespace(pod.namespace, table) : 'none';
  }

  /** Whether it has a rule of the direction, or denies what none accepts. */
  concerns(direction: PolicyDirection): boolean {
    return this.spec.isolates[direction] || this.spec[direction].length > 0;
  }

  /** Whether pods would be permitted more without it. */
  restricts(direction: PolicyDirection): boolean {
    return (
      this.spec.isolates[direction] ||
      this.spec[direction].some(({ action }) => action !== 'Accept')
    );
  }

  async activate(peers: PeerSelectors, nodes: NodeTable, slices: Slices): Promise<PolicyRules> {
    const rules = await PolicyRules.acquire(this.spec, peers, nodes, slices);
    this.#rules = rules;
    return rules;
  }

  deactivate(peers: PeerSelectors): void {
    this.#rules?.release(peers);
    this.#rules = undefined;
  }

  /** In sentences for operators. */
  problems(): readonly string[] {
    return [...this.spec.problems, ...this.unresolved()];
  }

  /** Those that depend on other objects than the policy. */
  unresolved(): readonly string[] {
    const selected = [...this.attachments.values()];
    return selected.length === 0 ? [] : (this.#rules?.problems(selected) ?? []);
  }
}

/** The order in which policies decide: by tier and priority, those of the same priority by name. */
export function inOrder({ spec: a }: PolicyEntry, { spec: b }: PolicyEntry): number {
  const byTier = policyTiers.indexOf(a.tier) - policyTiers.indexOf(b.tier);
  return byTier || a.priority - b.priority || (a.name < b.name ? -1 : 1);
}
