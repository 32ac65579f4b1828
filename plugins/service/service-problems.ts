import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '#infra/log/log.ts';
import { ownerText, type ServiceName } from './rendered-service.ts';

type Log = Pick<Logger, 'info' | 'warn'>;

/** Why services are not carried as their objects want it. Each change of the reasons is logged once. */
export class ServiceProblems {
  readonly #reasons = new Map<ServiceName, readonly string[]>();

  all(): ReadonlyMap<ServiceName, readonly string[]> {
    return this.#reasons;
  }

  /** Replaces the problems of one service. */
  set(log: Log, service: ServiceName, reasons: readonly string[]): void {
    const before = this.#reasons.get(service);
    if (reasons.length > 0) this.#reasons.set(service, reasons);
    else this.#reasons.delete(service);
    if (reasons.length > 0 && !isDeepStrictEqual(before, reasons))
      log.warn({ service, reasons }, `${ownerText(service)} is not carried as it is defined`);
    else if (reasons.length === 0 && before !== undefined)
      log.info({ service }, `${ownerText(service)} has no problem any more`);
  }
}
