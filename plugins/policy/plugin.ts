/** Event handler of network policies: what they permit the pods of this node, a renderer configures. */
import { isDeepStrictEqual } from 'node:util';
import { Slices } from '#infra/clock/slices.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import { abortedBy } from '#plugins/controller/api/errors.ts';
import { type Event, EventMethod } from '#plugins/controller/api/event.ts';
import type {
  EventHandler,
  ResyncContext,
  RevertContext,
  UpdateContext,
  UpdateResult,
} from '#plugins/controller/api/event-handler.ts';
import { KubeStateChange, Shutdown } from '#plugins/controller/api/events.ts';
import type { UpdateTransaction } from '#plugins/controller/api/transaction.ts';
import { NodeUpdate } from '#plugins/nodesync/api.ts';
import {
  AddPod,
  type Attachment,
  type AttachmentId,
  DeletePod,
  type PodManagerApi,
  podIdText,
} from '#plugins/podmanager/api.ts';
import type { ServiceApi, ServiceName } from '#plugins/service/api.ts';
import { createAclRenderer } from './acl/renderer.ts';
import type { PolicyApi, WiredPod } from './api.ts';
import { MasqueradedServices } from './masqueraded-services.ts';
import type { Isolation, PodPolicy, PolicyName } from './pod-policy.ts';
import { type PolicyNodeDeps, policyNode } from './policy-node.ts';
import { PolicyProblemLog } from './policy-problem-log.ts';
import { PolicyProcessor } from './processor/policy-processor.ts';
import type { ProcessorChange } from './processor/processor-change.ts';
import type {
  MasqueradedAddress,
  PolicyNode,
  PolicyRenderer,
  RenderedPod,
  RendererContext,
} from './renderer.ts';

export interface PolicyDeps extends PolicyNodeDeps {
  readonly nodeName: string;
  readonly pods: PodManagerApi;
  readonly services: ServiceApi;
}

export function createPolicy(deps: PolicyDeps): EventHandler & PolicyApi {
  return new Policies(deps);
}

/** Resources of Kubernetes that decide what policies permit. */
const inputs: ReadonlySet<string> = new Set(['pod', 'namespace', 'policy']);

class Policies implements EventHandler, PolicyApi {
  readonly name = 'policy';
  readonly #deps: PolicyDeps;
  readonly #renderer: PolicyRenderer = createAclRenderer();
  readonly #problemLog = new PolicyProblemLog();
  readonly #services: MasqueradedServices;
  #processor = new PolicyProcessor();
  /** undefined: before the first resync. */
  #node: PolicyNode | undefined;
  #attached = new Map<AttachmentId, WiredPod>();
  /** The attachment before the last Add Pod, needed to revert it. */
  #undo: { readonly id: AttachmentId; readonly attached: WiredPod | undefined } | undefined;

  constructor(deps: PolicyDeps) {
    this.#deps = deps;
    this.#services = new MasqueradedServices(deps.services);
    deps.services.watchRendering(async (ctx, changed) => {
      if (this.#node === undefined) return;
      const services = this.#services.change(changed);
      if (services.size === 0) return;
      await this.#renderer.update(ctx, { pods: new Map(), services });
      this.#logProblems(ctx.log);
    });
  }

  handlesEvent(event: Event): boolean {
    if (event.kind.method(event.payload) !== EventMethod.Update) return true;
    if (Shutdown.is(event)) return true;
    // changes before the first successful resync are part of the input of that resync
    if (this.#node === undefined) return false;
    if (KubeStateChange.is(event)) return inputs.has(event.payload.resource);
    if (NodeUpdate.is(event)) return event.payload.nodeName === this.#deps.nodeName;
    return AddPod.is(event) || DeletePod.is(event);
  }

  async resync(ctx: ResyncContext): Promise<void> {
    try {
      await this.#resync(ctx);
    } catch (thrown) {
      throw abortedBy(thrown, 'cannot calculate the policies of this node');
    }
  }

  async #resync(ctx: ResyncContext): Promise<void> {
    await this.#services.resync(new Slices(ctx.clock));
    const node = policyNode(this.#deps);
    const attached = new Map<AttachmentId, WiredPod>();
    for (const [id, attachment] of this.#deps.pods.attachments())
      attached.set(id, this.#attachedPod(id, attachment));
    const processor = new PolicyProcessor();
    const pods = new Map([...attached].map(([id, { pod }]) => [id, pod]));
    await processor.resync(ctx.kubeState, pods, new Slices(ctx.clock));
    const rendered = new Map<AttachmentId, RenderedPod>();
    for (const [id, policy] of processor.policies()) {
      const name = attached.get(id)?.interface;
      if (name !== undefined) rendered.set(id, { policy, interface: name });
    }
    await this.#renderer.resync(ctx, { node, pods: rendered, services: this.#services.all() });
    this.#processor = processor;
    this.#attached = attached;
    this.#node = node;
    this.#logProblems(ctx.log);
  }

  async update(ctx: UpdateContext): Promise<UpdateResult> {
    const { event } = ctx;
    if (AddPod.is(event)) return this.#addPod(ctx, this.#deps.pods.idOf(event.payload));
    if (DeletePod.is(event))
      return this.#setAttached(ctx, this.#deps.pods.idOf(event.payload), undefined);
    if (KubeStateChange.is(event))
      return this.#apply(ctx, await this.#processor.change(event.payload, new Slices(ctx.clock)));
    if (NodeUpdate.is(event)) return this.#nodeUpdate(ctx);
    if (Shutdown.is(event) && event.payload.cleanup) {
      this.#renderer.deleteAll(ctx);
      return { change: 'remove all policies' };
    }
    return {};
  }

  async revert(ctx: RevertContext): Promise<void> {
    const undo = this.#undo;
    this.#undo = undefined;
    if (!undo || !AddPod.is(ctx.event)) return;
    if (this.#deps.pods.idOf(ctx.event.payload) !== undo.id) return;
    await this.#setAttached(
      { txn: discarded, log: ctx.log, clock: ctx.clock },
      undo.id,
      undo.attached,
    );
  }

  rendererName(): string | undefined {
    return this.#node && this.#renderer.name;
  }

  attachedPods(): ReadonlyMap<AttachmentId, WiredPod> {
    return this.#attached;
  }

  policies(): ReadonlyMap<AttachmentId, PodPolicy> {
    return this.#processor.policies();
  }

  policyProblems(): ReadonlyMap<PolicyName, readonly string[]> {
    return this.#processor.problems();
  }

  limits(): ReadonlyMap<PolicyName, readonly string[]> {
    return this.#renderer.limits();
  }

  valuesOf(attachment: AttachmentId): ReadonlyMap<string, Value> {
    return this.#renderer.valuesOf(attachment);
  }

  node(): PolicyNode | undefined {
    return this.#node;
  }

  masqueradedServices(): ReadonlyMap<ServiceName, readonly MasqueradedAddress[]> {
    return this.#services.all();
  }

  describeInternalData(): string {
    const policies = [...this.policies()].map(([id, policy]) => ({
      id,
      interface: this.#attached.get(id)?.interface,
      ...policyText(policy),
    }));
    return JSON.stringify({
      node: this.#node,
      policies: policies.sort((a, b) => (a.id < b.id ? -1 : 1)),
    });
  }

  #attachedPod(id: AttachmentId, { pod, podUid }: Attachment): WiredPod {
    const { ipam, net } = this.#deps;
    return {
      pod: { pod: podIdText(pod), podUid, addresses: ipam.podAddresses(id) },
      interface: net.podInterfaces(id)?.vpp,
    };
  }

  async #addPod(ctx: UpdateContext, id: AttachmentId): Promise<UpdateResult> {
    const attachment = this.#deps.pods.attachments().get(id);
    if (attachment === undefined) return {};
    this.#undo = { id, attached: this.#attached.get(id) };
    return this.#setAttached(ctx, id, this.#attachedPod(id, attachment), id);
  }

  async #nodeUpdate(ctx: UpdateContext): Promise<UpdateResult> {
    const node = policyNode(this.#deps);
    if (isDeepStrictEqual(node, this.#node)) return {};
    this.#node = node;
    await this.#renderer.update(ctx, { node, pods: new Map() });
    return { change: 'policies with other addresses of this node' };
  }

  /** @param added the id, if the pod is just being attached */
  async #setAttached(
    ctx: RendererContext,
    id: AttachmentId,
    attached: WiredPod | undefined,
    added?: AttachmentId,
  ): Promise<UpdateResult> {
    const before = this.#attached.get(id);
    if (attached === undefined) this.#attached.delete(id);
    else this.#attached.set(id, attached);
    const slices = new Slices(ctx.clock);
    const { pods } = await this.#processor.setAttachment(id, attached?.pod, slices);
    if (before?.interface === attached?.interface && added === undefined)
      return this.#apply(ctx, { pods });
    // an interface may be another one although the policies of the pod are the same
    return this.#apply(ctx, { pods: new Map([...pods, [id, this.policies().get(id)]]) }, added);
  }

  async #apply(
    ctx: RendererContext,
    change: ProcessorChange,
    added?: AttachmentId,
  ): Promise<UpdateResult> {
    const pods = new Map<AttachmentId, RenderedPod | undefined>();
    for (const [id, policy] of change.pods) {
      const name = this.#attached.get(id)?.interface;
      pods.set(id, policy && name !== undefined ? { policy, interface: name } : undefined);
    }
    if (pods.size > 0)
      await this.#renderer.update(ctx, { pods, ...(added !== undefined && { added }) });
    this.#logProblems(ctx.log);
    return pods.size === 0 ? {} : { change: changeText(pods) };
  }

  #logProblems(log: Pick<Logger, 'info' | 'warn'>): void {
    this.#problemLog.set(log, this.policyProblems(), this.limits());
  }
}

/** Pods that a description of a change names. */
const NAMED = 5;

function changeText(pods: ReadonlyMap<AttachmentId, RenderedPod | undefined>): string {
  const names = [...pods].map(([id, pod]) => pod?.policy.pod ?? `${id} is detached`);
  const more = names.length > NAMED ? [`${names.length - NAMED} more`] : [];
  return `policies of pods: ${[...names.slice(0, NAMED), ...more].join(', ')}`;
}

/** Equal for equal policies. */
function policyText({ pod, addresses, ingress, egress }: PodPolicy): object {
  const textOf = ({ policies, permits }: Isolation): object => ({
    policies,
    permits: permits.map(({ peers, ports, policy, rule }) => [
      policy,
      rule,
      peers.prefixes().join(),
      ports.text,
    ]),
  });
  return {
    pod,
    addresses: addresses.map(String),
    ingress: textOf(ingress),
    egress: textOf(egress),
  };
}

/** Takes the changes of a renderer whose transaction was not committed. */
const discarded: UpdateTransaction = { replace() {}, put() {}, delete() {}, get: () => undefined };
