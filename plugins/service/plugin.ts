/** Event handler of services: what the processor computes from Kubernetes objects, a renderer configures. */
import type { Clock } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import { abortedBy } from '#plugins/controller/api/errors.ts';
import { type Event, EventMethod } from '#plugins/controller/api/event.ts';
import type {
  EventHandler,
  KubeState,
  ResyncContext,
  RevertContext,
  UpdateContext,
  UpdateResult,
} from '#plugins/controller/api/event-handler.ts';
import { KubeStateChange, Shutdown } from '#plugins/controller/api/events.ts';
import type { UpdateTransaction } from '#plugins/controller/api/transaction.ts';
import { NodeUpdate, type NodeUpdatePayload } from '#plugins/nodesync/api.ts';
import {
  AddPod,
  type AttachmentId,
  DeletePod,
  type PodId,
  type PodManagerApi,
  podIdText,
} from '#plugins/podmanager/api.ts';
import { type HealthCheckListener, type ServiceApi, serviceInputs } from './api.ts';
import type { ServiceConfig } from './config.ts';
import { nodeInterfaces, podInterfaces } from './local-interfaces.ts';
import { type LocalNodeDeps, localNode, otherNode } from './local-node.ts';
import { createNat44Renderer } from './nat44/renderer.ts';
import { type PlannedServices, planServices } from './planned-services.ts';
import type { ProcessorChange } from './processor/processor-change.ts';
import type { ServiceDescription } from './processor/service-description.ts';
import { ServiceProcessor } from './processor/service-processor.ts';
import type { HealthCheck } from './processor/service-state.ts';
import type { RenderedService, ServiceName } from './rendered-service.ts';
import type { RenderedChange, ServiceRenderer } from './renderer.ts';
import { ServiceProblems } from './service-problems.ts';

export interface ServiceDeps extends LocalNodeDeps {
  readonly pods: PodManagerApi;
  readonly config: ServiceConfig;
}

export function createService(deps: ServiceDeps): EventHandler & ServiceApi {
  return new Services(deps);
}

const noServices: RenderedChange['services'] = new Map();
const noInterfaces: RenderedChange['interfaces'] = new Map();

class Services implements EventHandler, ServiceApi {
  readonly name = 'service';
  readonly #deps: ServiceDeps;
  readonly #renderer: ServiceRenderer;
  readonly #problems = new ServiceProblems();
  #processor = new ServiceProcessor();
  #onHealthChecks: HealthCheckListener = () => undefined;
  /** The last update that has changed services, and these. */
  #changed: { readonly event: Event; readonly services: RenderedChange['services'] } | undefined;
  /** Whether services are carried: after the first resync, if the pods have addresses of IPv4. */
  #isActive = false;
  /** Interfaces of wired pods. */
  #podInterfaces = new Map<AttachmentId, string>();
  /** The interface of an attachment before the last Add Pod, needed to revert it. */
  #undo: { readonly id: AttachmentId; readonly interface: string | undefined } | undefined;

  constructor(deps: ServiceDeps) {
    this.#deps = deps;
    this.#renderer = createNat44Renderer(deps);
  }

  handlesEvent(event: Event): boolean {
    if (event.kind.method(event.payload) !== EventMethod.Update) return true;
    if (Shutdown.is(event)) return true;
    // changes before the first successful resync are part of the input of that resync
    if (!this.#isActive) return false;
    if (KubeStateChange.is(event)) return serviceInputs.has(event.payload.resource);
    return NodeUpdate.is(event) || AddPod.is(event) || DeletePod.is(event);
  }

  async resync(ctx: ResyncContext): Promise<void> {
    try {
      await this.#resync(ctx);
    } catch (thrown) {
      throw abortedBy(thrown, 'cannot calculate the services of this node');
    }
  }

  async #resync(ctx: ResyncContext): Promise<void> {
    const { net, pods } = this.#deps;
    const node = localNode(this.#deps);
    this.#isActive = false;
    if (node.family !== 4) return;
    const slices = new Slices(ctx.clock);
    const processor = new ServiceProcessor();
    await processor.resync(ctx.kubeState, node, slices);
    this.#processor = processor;
    this.#podInterfaces = podInterfaces(net, pods);
    await this.#renderer.resync(ctx, {
      services: processor.rendered(),
      interfaces: new Set([...nodeInterfaces(net), ...this.#podInterfaces.values()]),
    });
    this.#isActive = true;
    for (const name of this.#problems.all().keys())
      if (!processor.has(name)) this.#problems.set(ctx.log, name, []);
    for (const name of processor.names()) {
      this.#setProblemsOf(ctx.log, name);
      if (slices.due()) await slices.turn();
    }
    this.#onHealthChecks(processor.healthChecks());
  }

  async update(ctx: UpdateContext): Promise<UpdateResult> {
    const { event } = ctx;
    if (AddPod.is(event)) return this.#addPod(ctx, this.#deps.pods.idOf(event.payload));
    if (DeletePod.is(event)) return this.#deletePod(ctx, this.#deps.pods.idOf(event.payload));
    if (KubeStateChange.is(event))
      return this.#apply(ctx, await this.#processor.change(event.payload, new Slices(ctx.clock)));
    if (NodeUpdate.is(event)) return this.#nodeUpdate(ctx, event.payload);
    if (Shutdown.is(event) && event.payload.cleanup) {
      this.#renderer.deleteAll(ctx);
      return { change: 'remove all services' };
    }
    return {};
  }

  revert(ctx: RevertContext): void {
    const undo = this.#undo;
    this.#undo = undefined;
    if (!undo || !AddPod.is(ctx.event)) return;
    if (this.#deps.pods.idOf(ctx.event.payload) !== undo.id) return;
    this.#setPodInterface({ txn: discarded, log: ctx.log }, undo.id, undo.interface);
  }

  rendererName(): string | undefined {
    return this.#isActive ? this.#renderer.name : undefined;
  }

  serviceProblems(): ReadonlyMap<ServiceName, readonly string[]> {
    return this.#problems.all();
  }

  serviceNames(): readonly ServiceName[] {
    return this.#isActive ? this.#processor.names() : [];
  }

  servicesOfPod(pod: PodId): readonly ServiceName[] {
    return this.#isActive ? [...this.#processor.ofLocalPod(podIdText(pod))].sort() : [];
  }

  describeService(name: ServiceName): ServiceDescription | undefined {
    return this.#isActive ? this.#processor.describe(name) : undefined;
  }

  renderedServices(): ReadonlyMap<ServiceName, RenderedService> {
    return this.#isActive ? this.#processor.rendered() : new Map();
  }

  valuesOf(service: ServiceName): ReadonlyMap<string, Value> {
    return this.#renderer.valuesOf(service);
  }

  async plannedServices(kube: KubeState, clock: Clock): Promise<PlannedServices | undefined> {
    if (!this.#isActive) return undefined;
    const interfaces = new Set([
      ...nodeInterfaces(this.#deps.net),
      ...this.#podInterfaces.values(),
    ]);
    const renderer = createNat44Renderer(this.#deps);
    return await planServices(kube, localNode(this.#deps), renderer, interfaces, clock);
  }

  healthChecks(): ReadonlyMap<ServiceName, HealthCheck> {
    return this.#isActive ? this.#processor.healthChecks() : new Map();
  }

  watchHealthChecks(listener: HealthCheckListener): void {
    this.#onHealthChecks = listener;
  }

  changedBy(event: Event): RenderedChange['services'] {
    return this.#changed?.event === event ? this.#changed.services : noServices;
  }

  describeInternalData(): string {
    const rendered = [...this.renderedServices().values()];
    return JSON.stringify({
      services: rendered.sort((a, b) => (a.name < b.name ? -1 : 1)),
      pods: [...this.#podInterfaces].sort(([a], [b]) => (a < b ? -1 : 1)),
    });
  }

  async #nodeUpdate(ctx: UpdateContext, payload: NodeUpdatePayload): Promise<UpdateResult> {
    const { nodeName, current } = payload;
    if (nodeName === this.#deps.nodeName) {
      const slices = new Slices(ctx.clock);
      const change = await this.#processor.setNode(localNode(this.#deps), slices);
      // before the changed services, which it renders with the same addresses
      this.#renderer.changeNode(ctx, this.#processor.rendered());
      return this.#apply(ctx, change);
    }
    const node = current ? otherNode(current) : { name: nodeName, addresses: [], vppAddresses: [] };
    return this.#apply(ctx, this.#processor.setOtherNode(node));
  }

  #addPod(ctx: UpdateContext, id: AttachmentId): UpdateResult {
    this.#undo = { id, interface: this.#podInterfaces.get(id) };
    this.#setPodInterface(ctx, id, this.#deps.net.podInterfaces(id)?.vpp);
    return {};
  }

  #deletePod(ctx: UpdateContext, id: AttachmentId): UpdateResult {
    this.#setPodInterface(ctx, id, undefined);
    return {};
  }

  #setPodInterface(
    ctx: Parameters<ServiceRenderer['update']>[0],
    id: AttachmentId,
    name: string | undefined,
  ): void {
    const before = this.#podInterfaces.get(id);
    if (before === undefined && name === undefined) return;
    const interfaces = new Map<string, boolean>();
    if (before !== undefined) interfaces.set(before, false);
    if (name !== undefined) interfaces.set(name, true);
    if (name === undefined) this.#podInterfaces.delete(id);
    else this.#podInterfaces.set(id, name);
    this.#renderer.update(ctx, { services: noServices, interfaces });
  }

  #apply(ctx: UpdateContext, change: ProcessorChange): UpdateResult {
    const { services, problems, hasOtherHealthChecks } = change;
    if (services.size > 0) {
      this.#changed = { event: ctx.event, services };
      this.#renderer.update(ctx, { services, interfaces: noInterfaces });
    }
    // the limits of the renderer change with the rendering
    for (const name of new Set([...services.keys(), ...problems.keys()]))
      this.#setProblemsOf(ctx.log, name);
    if (hasOtherHealthChecks) this.#onHealthChecks(this.#processor.healthChecks());
    return services.size === 0 ? {} : { change: changeText(services) };
  }

  #setProblemsOf(log: Pick<Logger, 'info' | 'warn'>, name: ServiceName): void {
    const limits = this.#renderer.limitsOf(name);
    this.#problems.set(log, name, [...this.#processor.problemsOf(name), ...limits]);
  }
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

/** Takes the changes of a renderer whose transaction was not committed. */
const discarded: UpdateTransaction = { replace() {}, put() {}, delete() {}, get: () => undefined };
