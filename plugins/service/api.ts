/** Services on this node for other plugins and for operators. */

import type { Clock } from '#infra/clock/clock.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import type { Event } from '#plugins/controller/api/event.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import type { Attachment, PodId } from '#plugins/podmanager/api.ts';
import type { PlannedServices } from './planned-services.ts';
import type { ServiceDescription } from './processor/service-description.ts';
import type { HealthCheck } from './processor/service-state.ts';
import type { RenderedService, ServiceAddress, ServiceName } from './rendered-service.ts';
import type { AddressCarrier, ServiceTranslation } from './service-carriers.ts';

export type { PlannedServices } from './planned-services.ts';
export {
  type Backend,
  hostPortsName,
  ownerText,
  type RenderedService,
  type ServiceAddress,
  type ServiceName,
} from './rendered-service.ts';

export interface ServiceApi {
  /** Name of the renderer that carries services; undefined: none does. */
  rendererName(): string | undefined;
  /** Why this node carries no service at all; undefined: it does, or it is not configured yet. */
  whyNoneIsCarried(): string | undefined;
  /** `<namespace>/<name>` of attached pods that reach no service, or none of one family, although services are carried; sorted. */
  podsWithoutServices(): readonly string[];
  /** Numbers of what the kernel translates at sockets; 0 if it cannot, or is not configured to. */
  socketServices(): SocketServices;
  /** Names of all services of the cluster, also of those that are not rendered. */
  serviceNames(): readonly ServiceName[];
  /** Services with addresses, and with an endpoint in a pod of this node, sorted. */
  servicesOfPod(pod: PodId): readonly ServiceName[];
  /** undefined: there is no such service. */
  describeService(name: ServiceName): ServiceDescription | undefined;
  /** Services with at least one address on this node. */
  renderedServices(): ReadonlyMap<ServiceName, RenderedService>;
  /** Why services are not carried as their objects define it; without those that are. */
  serviceProblems(): ReadonlyMap<ServiceName, readonly string[]>;
  /** Translation of the packets of an attached pod to services; undefined: its services are not carried. */
  translationOf(attachment: Pick<Attachment, 'containerId'>): ServiceTranslation | undefined;
  /** The carriers of an address of a service; none: services are not carried. */
  carriersOf(address: ServiceAddress): readonly AddressCarrier[];
  /** The values that carry a service, by key; empty if it is not rendered. */
  valuesOf(service: ServiceName): ReadonlyMap<string, Value>;
  /**
   * The services of this node in another state of Kubernetes, with the node as it is; nothing is changed.
   * undefined: services are not carried.
   */
  plannedServices(kube: KubeState, clock: Clock): Promise<PlannedServices | undefined>;
  /** Health checks that this node serves for load balancers. */
  healthChecks(): ReadonlyMap<ServiceName, HealthCheck>;
  /** Calls back with all health checks whenever one may have changed. For one listener. */
  watchHealthChecks(listener: HealthCheckListener): void;
  /**
   * The services that an update has rendered otherwise, for handlers that follow this one: also those that it does not
   * name, for example one that gets the address of a deleted service. undefined: it is not rendered any more.
   */
  changedBy(event: Event): ReadonlyMap<ServiceName, RenderedService | undefined>;
}

export interface SocketServices {
  /** Number of services that the kernel translates. */
  readonly services: number;
  /** Number of pods of this node whose sockets are left alone. */
  readonly exemptPods: number;
}

export type HealthCheckListener = (checks: ReadonlyMap<ServiceName, HealthCheck>) => void;

/** Resources of Kubernetes that decide about services. */
export const serviceInputs: ReadonlySet<string> = new Set(['service', 'endpoints', 'node', 'pod']);
