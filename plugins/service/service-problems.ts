import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '#infra/log/log.ts';
import type { ServiceName } from './rendered-service.ts';
import type { RendererLimit } from './renderer.ts';

type Log = Pick<Logger, 'info' | 'warn'>;
type Reasons = ReadonlyMap<ServiceName, readonly string[]>;

/** Why services are not carried as their objects want it. Each change of the reasons is logged once. */
export class ServiceProblems {
  #reasons: Reasons = new Map();

  all(): Reasons {
    return this.#reasons;
  }

  /** Replaces the problems of all services. */
  replace(log: Log, problems: Reasons, limits: readonly RendererLimit[]): void {
    const reasons = new Map<ServiceName, readonly string[]>();
    for (const [service, texts] of problems) if (texts.length > 0) reasons.set(service, texts);
    for (const { service, reason } of limits)
      reasons.set(service, [...(reasons.get(service) ?? []), reason]);
    const before = this.#reasons;
    this.#reasons = reasons;
    for (const [service, texts] of reasons) {
      if (isDeepStrictEqual(before.get(service), texts)) continue;
      log.warn({ service, reasons: texts }, `service ${service} is not carried as it is defined`);
    }
    for (const service of before.keys())
      if (!reasons.has(service))
        log.info({ service }, `service ${service} has no problem any more`);
  }
}
