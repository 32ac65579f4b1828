/** A node's policies as ACLs: the processor and the renderer, connected as the plugin connects them. */
import { ManualClock } from '#infra/clock/manual.ts';
import { Slices } from '#infra/clock/slices.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import type { AclConfig } from '#packet-trace/acl-config.ts';
import { aclsOfValues } from '#packet-trace/acl-values.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import { AclRenderer } from '#plugins/policy/acl/renderer.ts';
import type { OwnAddresses } from '#plugins/policy/cache/node-table.ts';
import type { PodPolicy, PolicyName } from '#plugins/policy/pod-policy.ts';
import { type AttachedPod, PolicyProcessor } from '#plugins/policy/processor/policy-processor.ts';
import type { ProcessorChange } from '#plugins/policy/processor/processor-change.ts';
import type { PolicyNode, RenderedPod } from '#plugins/policy/rendered-state.ts';
import { PolicyNetwork } from './policy-network.ts';
import { RenderedValues } from './rendered-values.ts';

/** One value of a transaction; undefined: deleted. */
export type Operation = readonly [key: string, value: Value | undefined];

export class RenderedNode {
  readonly processor: PolicyProcessor;
  readonly #renderer: AclRenderer;
  readonly #values: RenderedValues;

  static async read(
    node: PolicyNode,
    kube: KubeState,
    attachments: ReadonlyMap<string, AttachedPod>,
    ownAddresses: OwnAddresses = new Map(),
  ): Promise<RenderedNode> {
    const slices = new Slices(new ManualClock());
    const processor = await PolicyProcessor.read(kube, attachments, slices, ownAddresses);
    const pods = new Map<string, RenderedPod>();
    for (const [id, policy] of processor.policies()) pods.set(id, rendered(id, policy));
    const values = new RenderedValues();
    const state = { node, pods, services: new Map() };
    const renderer = await AclRenderer.render(values.begin(), state);
    return new RenderedNode(processor, renderer, values);
  }

  private constructor(processor: PolicyProcessor, renderer: AclRenderer, values: RenderedValues) {
    this.processor = processor;
    this.#renderer = renderer;
    this.#values = values;
  }

  /** @param changed result of the processor */
  async render({ pods: changed }: ProcessorChange): Promise<readonly Operation[]> {
    const pods = new Map(
      Array.from(changed, ([id, policy]) => [id, policy && rendered(id, policy)] as const),
    );
    await this.#renderer.update(this.#values.begin(), { pods });
    return Array.from(this.#values.changes, ([key, value]) => [key, value ?? undefined]);
  }

  /** Reasons for which less is permitted than the policies say. */
  limits(): ReadonlyMap<PolicyName, readonly string[]> {
    return this.#renderer.limits();
  }

  /** Sorted by key. */
  values(): ReadonlyMap<string, Value> {
    return new Map(this.#values.sorted());
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
