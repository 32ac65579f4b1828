import type { RenderedService, ServiceName } from '../rendered-service.ts';

/** The effect of a change of the input. */
export class ProcessorChange {
  /** undefined: the service is not rendered any more. */
  readonly services = new Map<ServiceName, RenderedService | undefined>();
  /** Services whose problems have changed, with their present problems. */
  readonly problems = new Map<ServiceName, readonly string[]>();
  /** Whether a health check has come or gone, or has another port or number of endpoints. */
  hasOtherHealthChecks = false;
}
