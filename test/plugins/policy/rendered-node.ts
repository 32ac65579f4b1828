/** A node's policies as ACLs: the processor and the renderer, connected as the plugin connects them. */
import { ManualClock } from '#infra/clock/manual.ts';
import { Slices } from '#infra/clock/slices.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import type { AclConfig } from '#packet-trace/acl-config.ts';
import { aclsOfValues } from '#packet-trace/acl-values.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import { AclRenderer } from '#plugins/policy/acl/renderer.ts';
import type { PodPolicy, PolicyName } from '#plugins/policy/pod-policy.ts';
import { type AttachedPod, PolicyProcessor } from '#plugins/policy/processor/policy-processor.ts';
import type { ProcessorChange } from '#plugins/policy/processor/processor-change.ts';
import type { PolicyNode, RenderedPod } from '#plugins/policy/rendered-state.ts';
import { PolicyNetwork } from './policy-network.ts';
import { RenderedValues } from './rendered-values.ts';

/** One value of a transaction; undefined: deleted. */
export type Operation = readonly [key: string, value: Value | undefined];

export class RenderedNode {
  readonly processor = new PolicyProcessor();
  readonly #node: PolicyNode;
  #rendered: { readonly renderer: AclRenderer; readonly values: RenderedValues } | undefined;

  constructor(node: PolicyNode) {
    this.#node = node;
  }

  async resync(kube: KubeState, attachments: ReadonlyMap<string, AttachedPod>): Promise<void> {
    await this.processor.resync(kube, attachments, slices());
    const pods = new Map<string, RenderedPod>();
    for (const [id, policy] of this.processor.policies()) pods.set(id, rendered(id, policy));
    const values = new RenderedValues();
    const state = { node: this.#node, pods, services: new Map() };
    this.#rendered = { renderer: await AclRenderer.render(values.begin(), state), values };
  }

  /** @param changed result of the processor */
  async render({ pods: changed }: ProcessorChange): Promise<readonly Operation[]> {
    const pods = new Map(
      Array.from(changed, ([id, policy]) => [id, policy && rendered(id, policy)] as const),
    );
    const { renderer, values } = this.#rendered!;
    await renderer.update(values.begin(), { pods });
    return Array.from(values.changes, ([key, value]) => [key, value ?? undefined]);
  }

  /** Reasons for which less is permitted than the policies say. */
  limits(): ReadonlyMap<PolicyName, readonly string[]> {
    return this.#rendered?.renderer.limits() ?? new Map();
  }

  /** Sorted by key. */
  values(): ReadonlyMap<string, Value> {
    return new Map(this.#rendered?.values.sorted());
  }

  acls(): AclConfig | undefined {
    return aclsOfValues(this.values());
  }
}

export function applyTo(values: Map<string, Value>, [key, value]: Operation): void {
  if (value === undefined) values.delete(key);
  else values.set(key, value);
}

function rendered(id: string, policy: PodPolicy): RenderedPod {
  return { policy, interface: PolicyNetwork.interfaceOf(id) };
}

function slices(): Slices {
  return new Slices(new ManualClock());
}
