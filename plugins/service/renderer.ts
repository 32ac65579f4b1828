/** A renderer of services: it converts rendered services to configuration values. */
import type { Logger } from '#infra/log/log.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import type { ResyncContext } from '#plugins/controller/api/event-handler.ts';
import type { UpdateTransaction } from '#plugins/controller/api/transaction.ts';
import type { RenderedService, ServiceName } from './rendered-service.ts';

export interface RenderedState {
  readonly services: ReadonlyMap<ServiceName, RenderedService>;
  /** Interfaces through which packets of clients and of backends arrive, by their logical names in VPP. */
  readonly interfaces: ReadonlySet<string>;
}

/** Only what changed. */
export interface RenderedChange {
  /** undefined: the service is not rendered any more. */
  readonly services: ReadonlyMap<ServiceName, RenderedService | undefined>;
  /** true: packets of clients and backends arrive through it; false: none do any more. */
  readonly interfaces: ReadonlyMap<string, boolean>;
}

/** The part of a handler's context that a change needs. */
export interface RendererContext {
  readonly txn: UpdateTransaction;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/**
 * A renderer keeps no state that a resync does not replace. It puts all values of a resync, and for a
 * change only the values that the change touches.
 */
export interface ServiceRenderer {
  /** Names the renderer in documents, for example `nat44`. */
  readonly name: string;
  resync(ctx: Pick<ResyncContext, 'txn' | 'clock'>, state: RenderedState): Promise<void>;
  update(ctx: RendererContext, change: RenderedChange): void;
  /** The addresses of this node may have changed. @param services all that are rendered */
  changeNode(ctx: RendererContext, services: RenderedState['services']): void;
  /** Deletes all values. */
  deleteAll(ctx: RendererContext): void;
  /** Reasons for which a service is not carried as rendered, for example too many backends. */
  limitsOf(service: ServiceName): readonly string[];
  /** The values that carry a service, by key; empty if it is not rendered. */
  valuesOf(service: ServiceName): ReadonlyMap<string, Value>;
}
