/** Event handler of services: what the processor computes from Kubernetes objects becomes values of those that carry it. */
import type { Clock } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import type { DesiredValues } from '#plugins/controller/api/desired-values.ts';
import { type Event, EventMethod } from '#plugins/controller/api/event.ts';
import type {
  EventHandler,
  KubeState,
  ResyncContext,
  UpdateContext,
  UpdateResult,
} from '#plugins/controller/api/event-handler.ts';
import { KubeStateChange } from '#plugins/controller/api/events.ts';
import { HandlerState } from '#plugins/controller/api/handler-state.ts';
import type { HostPort } from '#plugins/controller/api/ports/host.ts';
import type { VppPort } from '#plugins/controller/api/ports/vpp.ts';
import { type Node, NodeUpdate, type NodeUpdatePayload } from '#plugins/nodesync/api.ts';
import {
  AddPod,
  type Attachment,
  type AttachmentId,
  attachmentId,
  DeletePod,
  type PodId,
  type PodManagerApi,
  podIdText,
} from '#plugins/podmanager/api.ts';
import {
  type HealthCheckListener,
  type ServiceApi,
  type SocketServices,
  serviceInputs,
} from './api.ts';
import type { ServiceConfig } from './config.ts';
import { ServicesNotCarriedError } from './errors.ts';
import { podInterface, podInterfaces } from './local-interfaces.ts';
import {
  addressedNodes,
  type LocalNodeDeps,
  localNode,
  nodePortAddresses,
  otherNode,
} from './local-node.ts';
import { type PlannedServices, plannedServices } from './planned-services.ts';
import type { LocalNode } from './processor/local-node.ts';
import { absentNode } from './processor/other-nodes.ts';
import type { ProcessorChange } from './processor/processor-change.ts';
import type { ServiceDescription } from './processor/service-description.ts';
import { ServiceIndex } from './processor/service-index.ts';
import { ServiceProcessor } from './processor/service-processor.ts';
import type { HealthCheck } from './processor/service-state.ts';
import {
  podsWithClientsOutside,
  type RenderedService,
  type ServiceAddress,
  type ServiceName,
} from './rendered-service.ts';
import {
  type AddressCarrier,
  addressCarriers,
  type Carriers,
  type CarrierTraits,
  carrierKeys,
  carrierLimits,
  carrierValues,
  hasEdgeOfIpv6,
  isExempt,
  linkCarrierValues,
  type NodeCarriers,
  nodeCarrierValues,
  podCarrierValues,
  readCarriers,
  rendererName,
  type ServiceTranslation,
  translationOf,
} from './service-carriers.ts';
import { ServiceProblems } from './service-problems.ts';
import type { AddressedNode } from './socket/node-addresses.ts';
import { type CarrierInput, valueGroup, valueGroups } from './value-groups.ts';

export interface ServiceDeps extends LocalNodeDeps {
  readonly pods: PodManagerApi;
  readonly config: ServiceConfig;
  readonly desired: Pick<DesiredValues, 'value'>;
  readonly host: Pick<HostPort, 'hasSocketServices'>;
  readonly vpp: Pick<VppPort, 'hasCnat'>;
}

export function createService(deps: ServiceDeps): EventHandler & ServiceApi {
  return new Services(deps);
}

const noServices: ProcessorChange['services'] = new Map();
const noHealthChecks: ReadonlyMap<ServiceName, HealthCheck> = new Map();
const NOT_CARRIED =
  'the pods have addresses of IPv6 alone, which NAT44 of VPP does not translate, and nothing is translated at sockets';

/** The events that change it are never reverted. */
interface NodeServices {
  readonly processor: ServiceProcessor;
  /** Changes with the addresses of this node. */
  carriers: Carriers;
}

/** undefined: services are not carried, because the pods have addresses of IPv6 alone and nothing is translated at sockets. */
type State = NodeServices | undefined;

class Services implements EventHandler<State>, ServiceApi {
  readonly name = 'service';
  readonly state = new HandlerState<State>(this.name);
  readonly #deps: ServiceDeps;
  readonly #problems = new ServiceProblems();
  #onHealthChecks: HealthCheckListener = () => undefined;
  /** Whether the log says that no service is carried. */
  #hasReported = false;
  /** The last update that has changed services, and these. */
  #changed: { readonly event: Event; readonly services: ProcessorChange['services'] } | undefined;

  constructor(deps: ServiceDeps) {
    this.#deps = deps;
  }

  handlesEvent(event: Event): boolean {
    if (event.kind.method(event.payload) !== EventMethod.Update) return true;
    if (KubeStateChange.is(event)) return serviceInputs.has(event.payload.resource);
    return NodeUpdate.is(event) || AddPod.is(event) || DeletePod.is(event);
  }

  async resync(ctx: ResyncContext): Promise<State> {
    const traits = await this.#carrierTraits(ctx);
    const node = localNode(this.#deps, hasEdgeOfIpv6(this.#deps, traits));
    const carriers = readCarriers(this.#deps, node, traits);
    if (!carriers.nat && !carriers.sockets) return this.#withoutCarrier(ctx);
    const slices = new Slices(ctx.clock);
    const processor = await ServiceProcessor.read(ctx.kubeState, node, slices);
    const input = await this.#carrierInput(node, processor, ctx.kubeState, carriers, slices);
    for (const [group, values] of valueGroups(input)) {
      ctx.txn.replace(group, values);
      if (slices.dueNow()) await slices.turn();
    }
    const state: NodeServices = { processor, carriers: input.carriers };
    const problems = new Map<ServiceName, readonly string[]>();
    for (const name of new Set([...this.#problems.all().keys(), ...processor.names()])) {
      problems.set(name, problemsOf(state, name));
      if (slices.due()) await slices.turn();
    }
    ctx.onSuccess(() => {
      for (const [name, reasons] of problems) this.#problems.set(ctx.log, name, reasons);
      this.#onHealthChecks(state.processor.healthChecks());
    });
    return state;
  }

  #withoutCarrier(ctx: ResyncContext): undefined {
    const err = new ServicesNotCarriedError(NOT_CARRIED);
    ctx.onSuccess(() => {
      for (const name of this.#problems.all().keys()) this.#problems.set(ctx.log, name, []);
      this.#onHealthChecks(noHealthChecks);
      if (!this.#hasReported) ctx.log.warn({ err }, 'no service is carried');
      this.#hasReported = true;
    });
    return undefined;
  }

  async update(ctx: UpdateContext, state: State): Promise<UpdateResult> {
    if (!state) return {};
    const { event } = ctx;
    if (AddPod.is(event)) return this.#addPod(ctx, state, this.#deps.pods.idOf(event.payload));
    if (DeletePod.is(event)) {
      ctx.txn.replace(valueGroup.pod(this.#deps.pods.idOf(event.payload)), []);
      return {};
    }
    if (NodeUpdate.is(event)) return this.#nodeUpdate(ctx, state, event.payload);
    if (!KubeStateChange.is(event)) return {};
    if (event.payload.resource === 'pod') this.#putPod(ctx, state, event.payload.key);
    const slices = new Slices(ctx.clock);
    return this.#apply(ctx, state, await state.processor.change(event.payload, slices), slices);
  }

  rendererName(): string | undefined {
    const { known } = this.state;
    return known && rendererName(known.carriers);
  }

  socketServices(): SocketServices {
    const { known } = this.state;
    if (!known?.carriers.sockets) return { services: 0, exemptPods: 0 };
    const attachments = [...this.#deps.pods.attachments().values()];
    const exempt = attachments.filter((one) => isExempt(one, this.#deps.desired));
    return {
      services: known.processor.rendered().size,
      // a sandbox may have several interfaces
      exemptPods: new Set(exempt.map(({ containerId }) => containerId)).size,
    };
  }

  whyNoneIsCarried(): string | undefined {
    return this.state.isKnown && !this.state.known ? NOT_CARRIED : undefined;
  }

  podsWithoutServices(): readonly string[] {
    const { known } = this.state;
    if (!known) return [];
    const { nat, sockets, hasIpv6 } = known.carriers;
    const without = [...this.#deps.pods.attachments().values()].flatMap((one) => {
      const isLeftAlone = !sockets || isExempt(one, this.#deps.desired);
      if (!hasIpv6 || !isLeftAlone) return [];
      return nat ? `${podIdText(one.pod)} (IPv6)` : podIdText(one.pod);
    });
    return [...new Set(without)].sort();
  }

  serviceProblems(): ReadonlyMap<ServiceName, readonly string[]> {
    return this.#problems.all();
  }

  serviceNames(): readonly ServiceName[] {
    return this.state.known?.processor.names() ?? [];
  }

  servicesOfPod(pod: PodId): readonly ServiceName[] {
    return [...(this.state.known?.processor.ofLocalPod(podIdText(pod)) ?? [])].sort();
  }

  describeService(name: ServiceName): ServiceDescription | undefined {
    return this.state.known?.processor.describe(name);
  }

  renderedServices(): ReadonlyMap<ServiceName, RenderedService> {
    return this.state.known?.processor.rendered() ?? new Map();
  }

  translationOf(attachment: Pick<Attachment, 'containerId'>): ServiceTranslation | undefined {
    const { known } = this.state;
    return known && translationOf(attachment, known.carriers, this.#deps.desired);
  }

  carriersOf(address: ServiceAddress): readonly AddressCarrier[] {
    const { known } = this.state;
    return known ? addressCarriers(address, known.carriers) : [];
  }

  valuesOf(service: ServiceName): ReadonlyMap<string, Value> {
    const { known } = this.state;
    const rendered = known?.processor.rendered().get(service);
    const keys = known && rendered ? carrierKeys(rendered, known.carriers) : [];
    return new Map(
      keys.flatMap((key) => {
        const value = this.#deps.desired.value(key);
        return value === undefined ? [] : [[key, value] as const];
      }),
    );
  }

  async plannedServices(kube: KubeState, clock: Clock): Promise<PlannedServices | undefined> {
    const { known } = this.state;
    if (!known) return undefined;
    const slices = new Slices(clock);
    const { carriers } = known;
    const node = localNode(this.#deps, carriers.cnat !== undefined);
    const processor = await ServiceProcessor.read(kube, node, slices);
    const input = await this.#carrierInput(node, processor, kube, carriers, slices);
    return plannedServices(processor, input, slices);
  }

  healthChecks(): ReadonlyMap<ServiceName, HealthCheck> {
    const { known } = this.state;
    return known ? known.processor.healthChecks() : noHealthChecks;
  }

  watchHealthChecks(listener: HealthCheckListener): void {
    this.#onHealthChecks = listener;
  }

  changedBy(event: Event): ProcessorChange['services'] {
    return this.#changed?.event === event ? this.#changed.services : noServices;
  }

  describeInternalData(): string {
    const rendered = [...this.renderedServices().values()];
    return JSON.stringify({ services: rendered.sort((a, b) => (a.name < b.name ? -1 : 1)) });
  }

  /** Only a node that is configured for them is asked: the answers are part of a recording. */
  async #carrierTraits(ctx: ResyncContext): Promise<CarrierTraits> {
    const { config, host, vpp, ipam } = this.#deps;
    const hasSockets =
      config.socketServices !== '' &&
      (await ctx.callPort('host/has services at sockets', () => host.hasSocketServices()));
    const hasCnat =
      hasSockets &&
      ipam.families().some(({ family }) => family === 6) &&
      (await ctx.callPort('vpp/has cnat', () => vpp.hasCnat()));
    return { hasSockets, hasCnat };
  }

  async #carrierInput(
    node: LocalNode,
    processor: ServiceProcessor,
    kubeState: KubeState,
    nodeCarriers: NodeCarriers,
    slices: Slices,
  ): Promise<CarrierInput> {
    const clientsOutside = new ServiceIndex();
    for (const service of processor.rendered().values()) {
      clientsOutside.replace(service.name, podsWithClientsOutside(service));
      if (slices.due()) await slices.turn();
    }
    return {
      carriers: { ...nodeCarriers, clientsOutside },
      nodes: addressedNodes(this.#deps, node),
      net: this.#deps.net,
      podInterfaces: podInterfaces(this.#deps, kubeState),
      services: processor.rendered().values(),
    };
  }

  #addPod(ctx: UpdateContext, state: NodeServices, id: AttachmentId): UpdateResult {
    const added = podInterface(this.#deps, ctx.kubeState, id);
    const values = added ? podCarrierValues(added, state.carriers) : [];
    // optional: pods are attached while NAT44 fails
    ctx.txn.replace(valueGroup.pod(id), values, { optional: true, evenUnchanged: true });
    return {};
  }

  /** The record of a pod says whether its packets are to be translated. */
  #putPod(ctx: UpdateContext, state: NodeServices, key: string): void {
    const pod = resources.pod.parseKey(key);
    for (const attachment of pod ? this.#deps.pods.attachmentsOf(pod) : []) {
      const found = podInterface(this.#deps, ctx.kubeState, attachmentId(attachment));
      if (!found) continue;
      const values = podCarrierValues(found, state.carriers);
      ctx.txn.replace(valueGroup.pod(found.attachment), values, { optional: true });
    }
  }

  async #nodeUpdate(
    ctx: UpdateContext,
    state: NodeServices,
    { nodeName }: NodeUpdatePayload,
  ): Promise<UpdateResult> {
    const { processor } = state;
    const slices = new Slices(ctx.clock);
    if (nodeName !== this.#deps.nodeName) {
      const others = this.#otherNodes(ctx.event);
      for (const [name, node] of others) {
        const addresses = node ? nodePortAddresses(this.#deps.net, node) : [];
        replaceAddresses(ctx, state.carriers, { name, addresses });
      }
      const changed = others.map(([name, node]) =>
        node ? otherNode(this.#deps.net, node) : absentNode(name),
      );
      return this.#apply(ctx, state, await processor.setOtherNodes(changed, slices), slices);
    }
    const { carriers } = state;
    const hasCnat = carriers.cnat !== undefined;
    const node = localNode(this.#deps, hasCnat);
    const change = await processor.setNode(node, slices);
    state.carriers = {
      ...carriers,
      ...readCarriers(this.#deps, node, { hasSockets: carriers.sockets !== undefined, hasCnat }),
    };
    for (const one of addressedNodes(this.#deps, node)) replaceAddresses(ctx, state.carriers, one);
    ctx.txn.replace(valueGroup.links, linkCarrierValues(this.#deps.net, state.carriers));
    const [before, after] = [carriers, state.carriers].map(({ nat }) => nat?.ownAddresses);
    const sourcesOf = ({ sockets }: Carriers) => sockets?.hostSources.join();
    const hasOtherSources = sourcesOf(carriers) !== sourcesOf(state.carriers);
    const isChanged = ({ address }: ServiceAddress) => before?.has(address) !== after?.has(address);
    for (const service of processor.rendered().values())
      if (hasOtherSources || service.addresses.some(isChanged))
        ctx.txn.replace(valueGroup.service(service.name), carrierValues(service, state.carriers));
    return this.#apply(ctx, state, change, slices);
  }

  /** The other nodes that an update has changed: the addresses of one may be those of another, too. */
  #otherNodes(event: Event): (readonly [name: string, node: Node | undefined])[] {
    const { net, nodes, nodeName } = this.#deps;
    const all = nodes.allNodes();
    const others = [...net.nodesChangedBy(event)].filter((name) => name !== nodeName);
    return others.map((name) => [name, all.get(name)]);
  }

  async #apply(
    ctx: UpdateContext,
    state: NodeServices,
    { services, problems, hasOtherHealthChecks }: ProcessorChange,
    slices: Slices,
  ): Promise<UpdateResult> {
    const { carriers } = state;
    if (services.size > 0) this.#changed = { event: ctx.event, services };
    const pods = new Set<string>();
    for (const [name, service] of services) {
      if (slices.dueNow()) await slices.turn();
      ctx.txn.replace(valueGroup.service(name), service ? carrierValues(service, carriers) : []);
      const answering = service ? podsWithClientsOutside(service) : [];
      for (const address of carriers.clientsOutside.replace(name, answering)) pods.add(address);
    }
    this.#putPodInterfaces(ctx, state, pods);
    // the limits change with the rendering
    for (const name of new Set([...services.keys(), ...problems.keys()]))
      this.#problems.set(ctx.log, name, problemsOf(state, name));
    if (hasOtherHealthChecks) this.#onHealthChecks(state.processor.healthChecks());
    return services.size === 0 ? {} : { change: changeText(services) };
  }

  /** @param addresses of pods that have begun or ceased to answer clients outside */
  #putPodInterfaces(ctx: UpdateContext, state: NodeServices, addresses: ReadonlySet<string>): void {
    if (addresses.size === 0) return;
    for (const one of podInterfaces(this.#deps, ctx.kubeState))
      if (one.addresses.some((address) => addresses.has(address)))
        ctx.txn.replace(valueGroup.pod(one.attachment), podCarrierValues(one, state.carriers), {
          optional: true,
        });
  }
}

function replaceAddresses(ctx: UpdateContext, carriers: Carriers, node: AddressedNode): void {
  ctx.txn.replace(valueGroup.addresses(node.name), nodeCarrierValues(node, carriers));
}

function problemsOf({ processor, carriers }: NodeServices, name: ServiceName): string[] {
  const limits = carrierLimits(processor.rendered().get(name), carriers);
  return [...processor.problemsOf(name), ...limits];
}

/** Services that a description of a change names. */
const NAMED = 5;

function changeText(services: ProcessorChange['services']): string {
  const names = [...services].map(([name, service]) =>
    service === undefined ? `${name} is not rendered` : name,
  );
  const more = names.length > NAMED ? [`${names.length - NAMED} more`] : [];
  return `services: ${[...names.slice(0, NAMED), ...more].join(', ')}`;
}
