/** A policy of the cluster. Its peers are followed only while it selects an attached pod. */
import type { Slices } from '#infra/clock/slices.ts';
import type { AttachmentId } from '#plugins/podmanager/api.ts';
import type { PeerSelectors } from '../cache/peer-selectors.ts';
import type { PolicyPod } from '../cache/policy-pod.ts';
import type { PodSelector } from '../cache/selector-index.ts';
import { PolicyRules } from '../configurator/policy-rules.ts';
import type { PolicySpec } from '../configurator/policy-spec.ts';

export class PolicyEntry implements PodSelector {
  readonly spec: PolicySpec;
  /** The attached pods that it selects. */
  readonly attachments = new Map<AttachmentId, PolicyPod>();
  #rules: PolicyRules | undefined;

  constructor(spec: PolicySpec) {
    this.spec = spec;
  }

  get pods(): PolicySpec['pods'] {
    return this.spec.pods;
  }

  get namespaces(): string {
    return this.spec.namespaces;
  }

  /** undefined while it selects no attached pod. */
  get rules(): PolicyRules | undefined {
    return this.#rules;
  }

  selects(pod: PolicyPod): boolean {
    return pod.namespace === this.namespaces && this.pods.matches(pod.labels);
  }

  async activate(peers: PeerSelectors, slices: Slices): Promise<PolicyRules> {
    const rules = await PolicyRules.acquire(this.spec, peers, slices);
    this.#rules = rules;
    return rules;
  }

  deactivate(peers: PeerSelectors): void {
    this.#rules?.release(peers);
    this.#rules = undefined;
  }

  /** In sentences for operators. */
  problems(): readonly string[] {
    const selected = [...this.attachments.values()];
    const ofRules = selected.length === 0 ? [] : (this.#rules?.problems(selected) ?? []);
    return [...this.spec.problems, ...ofRules];
  }
}
