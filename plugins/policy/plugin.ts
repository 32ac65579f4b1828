/** Event handler of network policies: what they permit the pods of this node is rendered as ACLs of VPP. */
import { isDeepStrictEqual } from 'node:util';
import { Slices } from '#infra/clock/slices.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import type { DesiredValues } from '#plugins/controller/api/desired-values.ts';
import { type Event, EventMethod } from '#plugins/controller/api/event.ts';
import type {
  EventHandler,
  ResyncContext,
  UpdateContext,
  UpdateResult,
} from '#plugins/controller/api/event-handler.ts';
import { KubeStateChange } from '#plugins/controller/api/events.ts';
import { HandlerState } from '#plugins/controller/api/handler-state.ts';
import type { HostPort } from '#plugins/controller/api/ports/host.ts';
import type { VppPort } from '#plugins/controller/api/ports/vpp.ts';
import { NodeUpdate } from '#plugins/nodesync/api.ts';
import {
  AddPod,
  type Attachment,
  type AttachmentId,
  DeletePod,
  type PodManagerApi,
  podIdText,
} from '#plugins/podmanager/api.ts';
import { type ServiceApi, type ServiceName, serviceInputs } from '#plugins/service/api.ts';
import { ACL_PREFIX } from './acl/acl-names.ts';
import { unread } from './acl/kept-connections.ts';
import { AclRenderer, type TableOwner } from './acl/renderer.ts';
import { NewPolicyTables, type PolicyApi, type WiredPod } from './api.ts';
import type { OwnAddresses } from './cache/node-table.ts';
import { type CheckedServices, checkedChanges, checkedServices } from './checked-services.ts';
import { OpenConnections } from './open-connections.ts';
import { NodesByObject } from './own-addresses.ts';
import type { PodPolicy, PolicyName, RuleList } from './pod-policy.ts';
import { type PolicyNodeDeps, policyNode } from './policy-node.ts';
import { PolicyProblemLog } from './policy-problem-log.ts';
import { PolicyProcessor, policyInputs } from './processor/policy-processor.ts';
import type { ProcessorChange } from './processor/processor-change.ts';
import type {
  CheckedAddress,
  PolicyNode,
  RenderedChange,
  RenderedPod,
  RenderedState,
  RendererContext,
} from './rendered-state.ts';

export interface PolicyDeps extends PolicyNodeDeps {
  readonly nodeName: string;
  readonly pods: PodManagerApi;
  readonly services: ServiceApi;
  readonly desired: Pick<DesiredValues, 'group'>;
  readonly host: Pick<HostPort, 'connections'>;
  readonly vpp: Pick<VppPort, 'permittedConnections'>;
}

export function createPolicy(deps: PolicyDeps): EventHandler & PolicyApi {
  return new Policies(deps);
}

/** The part of a handler's context that a change needs. */
type ChangeContext = RendererContext & Pick<UpdateContext, 'log' | 'followUp'>;

/** A change before the interfaces of its pods are known. */
type PolicyChange = Omit<RenderedChange, 'pods'> & ProcessorChange;

interface PolicyState {
  readonly attached: Map<AttachmentId, WiredPod>;
  readonly nodes: NodesByObject;
  readonly processor: PolicyProcessor;
  readonly renderer: AclRenderer;
}

const none: ReadonlyMap<string, never> = new Map<string, never>();

class Policies implements EventHandler<PolicyState>, PolicyApi {
  readonly name = 'policy';
  readonly state = new HandlerState<PolicyState>(this.name);
  readonly follows = 'service';
  readonly #deps: PolicyDeps;
  readonly #problemLog = new PolicyProblemLog();

  constructor(deps: PolicyDeps) {
    this.#deps = deps;
  }

  handlesEvent(event: Event): boolean {
    if (event.kind.method(event.payload) !== EventMethod.Update) return true;
    if (KubeStateChange.is(event)) {
      const { resource } = event.payload;
      return policyInputs.has(resource) || serviceInputs.has(resource);
    }
    return (
      NodeUpdate.is(event) || AddPod.is(event) || DeletePod.is(event) || NewPolicyTables.is(event)
    );
  }

  async resync(ctx: ResyncContext): Promise<PolicyState> {
    const { txn, clock, kubeState } = ctx;
    const slices = new Slices(clock);
    const services = await checkedServices(this.#deps.services.renderedServices(), slices);
    const node = policyNode(this.#deps);
    const attached = new Map<AttachmentId, WiredPod>();
    for (const [id, attachment] of this.#deps.pods.attachments())
      attached.set(id, this.#attachedPod(id, attachment));
    const pods = new Map([...attached].map(([id, { pod }]) => [id, pod]));
    const nodes = await NodesByObject.read(this.#deps, slices);
    const ownAddresses = await nodes.addresses(slices);
    const processor = await PolicyProcessor.read(kubeState, pods, slices, ownAddresses);
    const rendered = renderedPods(attached, processor.policies());
    const kept = await this.#keptByVpp(ctx);
    const renderer = await AclRenderer.render(
      { txn, clock },
      { node, pods: rendered, services, kept },
    );
    const state = { attached, nodes, processor, renderer };
    this.#followUp(ctx, state);
    await this.#forgetClosed(ctx, state);
    this.#logProblems(state, ctx);
    return state;
  }

  async update(ctx: UpdateContext, state: PolicyState): Promise<UpdateResult> {
    const { event } = ctx;
    if (AddPod.is(event)) return this.#addPod(ctx, state, this.#deps.pods.idOf(event.payload));
    if (DeletePod.is(event)) {
      const id = this.#deps.pods.idOf(event.payload);
      return this.#setAttached(ctx, state, id, undefined);
    }
    if (NewPolicyTables.is(event)) return this.#keepConnections(ctx, state, event.payload.owners);
    const changed = this.#deps.services.changedBy(event);
    const services = checkedChanges(state.renderer.services, changed);
    if (NodeUpdate.is(event)) return this.#nodeUpdate(ctx, state, event.payload.nodeName, services);
    if (!KubeStateChange.is(event)) return {};
    const slices = new Slices(ctx.clock);
    const { pods } = await state.processor.change(event.payload, slices);
    return this.#apply(ctx, state, { pods, services });
  }

  rendererName(): string | undefined {
    return this.state.isKnown ? 'acl' : undefined;
  }

  attachedPods(): ReadonlyMap<AttachmentId, WiredPod> {
    return this.state.known?.attached ?? none;
  }

  policies(): ReadonlyMap<AttachmentId, PodPolicy> {
    return this.state.known?.processor.policies() ?? none;
  }

  policyProblems(): ReadonlyMap<PolicyName, readonly string[]> {
    return this.state.known?.processor.problems() ?? none;
  }

  unresolved(): ReadonlyMap<PolicyName, readonly string[]> {
    return this.state.known?.processor.unresolved() ?? none;
  }

  limits(): ReadonlyMap<PolicyName, readonly string[]> {
    return this.state.known?.renderer.limits() ?? none;
  }

  notAsDefined(): readonly PolicyName[] {
    return [...new Set([...this.policyProblems().keys(), ...this.limits().keys()])].sort();
  }

  valuesOf(attachment: AttachmentId): ReadonlyMap<string, Value> {
    const groups = this.state.known?.renderer.groupsOf(attachment) ?? [];
    return new Map(groups.flatMap((name) => [...this.#deps.desired.group(`${this.name}/${name}`)]));
  }

  node(): PolicyNode | undefined {
    return this.state.known?.renderer.node;
  }

  ownAddresses(): OwnAddresses {
    return this.state.known?.processor.ownAddresses() ?? none;
  }

  checkedServices(): ReadonlyMap<ServiceName, readonly CheckedAddress[]> {
    return this.state.known?.renderer.services ?? none;
  }

  describeInternalData(): string {
    const policies = [...this.policies()].map(([id, policy]) => ({
      id,
      interface: this.attachedPods().get(id)?.interface,
      ...policyText(policy),
    }));
    return JSON.stringify({
      node: this.node(),
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

  async #addPod(ctx: UpdateContext, state: PolicyState, id: AttachmentId): Promise<UpdateResult> {
    const attachment = this.#deps.pods.attachments().get(id);
    if (attachment === undefined) return {};
    const before = state.attached.get(id);
    // the processor is no table
    ctx.onRevert(async ({ log, clock }) => {
      await this.#setAttached(
        { txn: { replace() {} }, log, clock, followUp() {} },
        state,
        id,
        before,
      );
    });
    return this.#setAttached(ctx, state, id, this.#attachedPod(id, attachment), id);
  }

  async #nodeUpdate(
    ctx: UpdateContext,
    state: PolicyState,
    name: string,
    services: CheckedServices,
  ): Promise<UpdateResult> {
    const pods = await this.#setOwnAddresses(state, name, new Slices(ctx.clock));
    const node = policyNode(this.#deps);
    if (isDeepStrictEqual(node, state.renderer.node))
      return this.#apply(ctx, state, { pods, services });
    await this.#apply(ctx, state, { pods, services, node });
    return { change: 'policies with other addresses of this node' };
  }

  /** @returns pods with other policies */
  async #setOwnAddresses(
    { nodes, processor }: PolicyState,
    node: string,
    slices: Slices,
  ): Promise<ProcessorChange['pods']> {
    const all = new Map<AttachmentId, PodPolicy | undefined>();
    const concerned = nodes.changed(node);
    const addressesOf = nodes.addressesOf();
    for (const object of concerned) {
      const own = addressesOf(object);
      for (const [id, policy] of (await processor.setOwnAddresses(object, own, slices)).pods)
        all.set(id, policy);
      if (slices.due()) await slices.turn();
    }
    return all;
  }

  /** @param added the id, if the pod is just being attached */
  async #setAttached(
    ctx: ChangeContext,
    state: PolicyState,
    id: AttachmentId,
    attached: WiredPod | undefined,
    added?: AttachmentId,
  ): Promise<UpdateResult> {
    const { processor } = state;
    const before = state.attached.get(id);
    if (attached === undefined) state.attached.delete(id);
    else state.attached.set(id, attached);
    const slices = new Slices(ctx.clock);
    const { pods } = await processor.setAttachment(id, attached?.pod, slices);
    if (before?.interface === attached?.interface && added === undefined)
      return this.#apply(ctx, state, { pods });
    // an interface may be another one although the policies of the pod are the same
    const all = new Map([...pods, [id, processor.policies().get(id)]]);
    return this.#apply(ctx, state, { pods: all, ...(added !== undefined && { added }) });
  }

  async #apply(
    ctx: ChangeContext,
    state: PolicyState,
    change: PolicyChange,
  ): Promise<UpdateResult> {
    const pods = renderedPods(state.attached, change.pods);
    const { services, node } = change;
    if (pods.size > 0 || node !== undefined || (services && services.size > 0))
      await state.renderer.update(ctx, { ...change, pods });
    this.#followUp(ctx, state);
    this.#logProblems(state, ctx);
    return pods.size === 0 ? {} : { change: changeText(pods) };
  }

  /** VPP keeps the connections of its tables, and loses them with its sessions. */
  async #keptByVpp({ callPort, log }: ResyncContext): Promise<NonNullable<RenderedState['kept']>> {
    try {
      const found = await callPort('vpp/connections of policies', () =>
        this.#deps.vpp.permittedConnections(ACL_PREFIX),
      );
      return new Map(found.map(({ acl, connections }) => [acl, connections]));
    } catch (thrown) {
      log.warn({ error: errorText(thrown) }, 'VPP does not tell what its tables keep open');
      return new Map();
    }
  }

  #followUp(ctx: Pick<ChangeContext, 'followUp'>, { renderer }: PolicyState): void {
    const owners = renderer.takeNewTables();
    if (owners.length > 0) ctx.followUp(NewPolicyTables.event({ owners }));
  }

  async #keepConnections(
    ctx: UpdateContext,
    { attached, renderer }: PolicyState,
    owners: readonly TableOwner[],
  ): Promise<UpdateResult> {
    const open = new OpenConnections(this.#deps, attached, renderer);
    const found = await Promise.all(owners.map((owner) => open.toKeep(ctx, owner)));
    for (const [position, owner] of owners.entries())
      renderer.keep(ctx, owner, found[position] ?? []);
    const count = found.flat().filter((one) => one !== unread).length;
    return count === 0 ? {} : { change: `policies keep ${count} open connections` };
  }

  async #forgetClosed(ctx: ResyncContext, { attached, renderer }: PolicyState): Promise<void> {
    const open = new OpenConnections(this.#deps, attached, renderer);
    const kept = [...renderer.kept()];
    const still = await Promise.all(
      kept.map(([owner, connections]) => open.stillOpen(ctx, owner, connections)),
    );
    for (const [position, [owner, connections]] of kept.entries()) {
      const left = still[position] ?? [];
      if (left.length < connections.length) renderer.keep(ctx, owner, left);
    }
  }

  #logProblems({ processor, renderer }: PolicyState, ctx: Pick<ChangeContext, 'log'>): void {
    this.#problemLog.set(ctx, processor.problems(), renderer.limits());
  }
}

/** Those without an interface are not rendered. */
function renderedPods(
  attached: PolicyState['attached'],
  policies: ReadonlyMap<AttachmentId, PodPolicy | undefined>,
): Map<AttachmentId, RenderedPod | undefined> {
  const pods = new Map<AttachmentId, RenderedPod | undefined>();
  for (const [id, policy] of policies) {
    const name = attached.get(id)?.interface;
    pods.set(id, policy && name !== undefined ? { policy, interface: name } : undefined);
  }
  return pods;
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
  const textOf = ({ policies, rules }: RuleList): object => ({
    policies,
    rules: rules.map(({ peers, ports, policy, rule, tier, action }) => [
      tier,
      action,
      policy,
      rule ?? null,
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
