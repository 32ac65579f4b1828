/** What a renderer of services is: it converts rendered services to configuration values. */
import type { ResyncContext, UpdateContext } from '#plugins/controller/api/event-handler.ts';
import type { RenderedService, ServiceName } from './rendered-service.ts';

/**
 * Traffic of clients enters by frontend interfaces, replies of backends by backend interfaces. An
 * interface may be both. Logical names of VPP.
 */
export interface ServiceInterfaces {
  readonly frontends: ReadonlySet<string>;
  readonly backends: ReadonlySet<string>;
}

export interface RenderedState {
  readonly services: ReadonlyMap<ServiceName, RenderedService>;
  readonly interfaces: ServiceInterfaces;
}

/** Only what changed. */
export interface RenderedChange {
  /** undefined: the service is not rendered any more. */
  readonly services: ReadonlyMap<ServiceName, RenderedService | undefined>;
  /** Interfaces whose role changed, with their new role; neither: it is gone, or has no role. */
  readonly interfaces: ReadonlyMap<string, InterfaceRole>;
}

export interface InterfaceRole {
  readonly isFrontend: boolean;
  readonly isBackend: boolean;
}

/** Why a renderer does not carry something as it was rendered. */
export interface RendererLimit {
  readonly service: ServiceName;
  /** A sentence for operators. */
  readonly reason: string;
}

/**
 * A renderer keeps no state that a resync does not replace. It puts all values of a resync, and for a
 * change only the values that the change touches.
 */
export interface ServiceRenderer {
  /** Names the renderer in documents, for example `nat44`. */
  readonly name: string;
  resync(ctx: ResyncContext, state: RenderedState): Promise<void>;
  update(ctx: UpdateContext, change: RenderedChange): void;
  /** Services that are not carried completely, for example because of too many backends. */
  limits(): readonly RendererLimit[];
  /** Keys of the values that carry a service; empty if it is not rendered. */
  keysOf(service: ServiceName): readonly string[];
}
