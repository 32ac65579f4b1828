/** A node's policies as ACLs: the processor and the renderer, connected as the plugin connects them. */
import { ManualClock } from '#infra/clock/manual.ts';
import { Slices } from '#infra/clock/slices.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import type { AclConfig } from '#packet-trace/acl-config.ts';
import { aclsOfValues } from '#packet-trace/acl-values.ts';
import type { KubeState, ResyncContext } from '#plugins/controller/api/event-handler.ts';
import { createAclRenderer } from '#plugins/policy/acl/renderer.ts';
import type { PodPolicy, PolicyName } from '#plugins/policy/pod-policy.ts';
import { type AttachedPod, PolicyProcessor } from '#plugins/policy/processor/policy-processor.ts';
import type { ProcessorChange } from '#plugins/policy/processor/processor-change.ts';
import type { PolicyNode, RenderedPod } from '#plugins/policy/renderer.ts';
import { PolicyNetwork } from './policy-network.ts';

/** One value of a transaction; undefined: deleted. */
export type Operation = readonly [key: string, value: Value | undefined];

export class RenderedNode {
  readonly processor = new PolicyProcessor();
  readonly #renderer = createAclRenderer();
  readonly #node: PolicyNode;
  /** Those of the last transaction, in its order. */
  #operations: Operation[] = [];
  readonly #values = new Map<string, Value>();

  constructor(node: PolicyNode) {
    this.#node = node;
  }

  async resync(
    kube: KubeState,
    attachments: ReadonlyMap<string, AttachedPod>,
  ): Promise<readonly Operation[]> {
    await this.processor.resync(kube, attachments, slices());
    const pods = new Map<string, RenderedPod>();
    for (const [id, policy] of this.processor.policies()) pods.set(id, rendered(id, policy));
    const before = [...this.#values.keys()];
    const operations = this.#record();
    const context = { txn: this.#txn, clock: new ManualClock() } as unknown as ResyncContext;
    await this.#renderer.resync(context, { node: this.#node, pods, services: new Map() });
    const put = new Set(operations.map(([key]) => key));
    for (const key of before) if (!put.has(key)) this.#txn.delete(key);
    return operations;
  }

  /** @param changed result of the processor */
  async render({ pods: changed }: ProcessorChange): Promise<readonly Operation[]> {
    const operations = this.#record();
    const pods = new Map(
      Array.from(changed, ([id, policy]) => [id, policy && rendered(id, policy)] as const),
    );
    const log = { info: () => undefined, warn: () => undefined };
    const clock = new ManualClock();
    await this.#renderer.update({ txn: this.#txn, log, clock }, { pods });
    return operations;
  }

  /** Reasons for which less is permitted than the policies say. */
  limits(): ReadonlyMap<PolicyName, readonly string[]> {
    return this.#renderer.limits();
  }

  /** Sorted by key. */
  values(): ReadonlyMap<string, Value> {
    return new Map([...this.#values].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  acls(): AclConfig | undefined {
    return aclsOfValues(this.#values);
  }

  #record(): Operation[] {
    this.#operations = [];
    return this.#operations;
  }

  readonly #txn = {
    replace: () => undefined,
    put: (key: string, value: Value) => this.#apply([key, value]),
    delete: (key: string) => this.#apply([key, undefined]),
    get: () => undefined,
  };

  #apply(operation: Operation): void {
    this.#operations.push(operation);
    applyTo(this.#values, operation);
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
