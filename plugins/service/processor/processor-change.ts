import type { RenderedService, ServiceName } from '../rendered-service.ts';

/** The effect of a change of the input. */
export interface ProcessorChange {
  /** undefined: the service is not rendered any more. */
  readonly services: ReadonlyMap<ServiceName, RenderedService | undefined>;
  /** Addresses of pods of this node that have become backends (true), or are none any more (false). */
  readonly localPods: ReadonlyMap<string, boolean>;
  /** Services whose problems have changed, with their present problems. */
  readonly problems: ReadonlyMap<ServiceName, readonly string[]>;
}
