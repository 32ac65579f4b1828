/** Wiring of the removal of idle NAT sessions. */
import type { Registry } from 'prom-client';
import type { Clock } from '#infra/clock/clock.ts';
import type { Loggers } from '#infra/log/loggers.ts';
import type { Component } from '#infra/process/lifecycle.ts';
import type { NatSessionPort } from '#plugins/controller/api/ports/nat-sessions.ts';
import type { StatsCollectorApi } from '#plugins/statscollector/api.ts';
import { IdleSessions } from './nat-sessions/idle-sessions.ts';
import { NatSessionMetrics } from './nat-sessions/metrics.ts';

export interface NatSessionWiringDeps {
  readonly port: NatSessionPort;
  /** Whether idle sessions are removed. */
  readonly isEnabled: boolean;
  /** As long as the timeout of the sessions that expire first. */
  readonly intervalMs: number;
  readonly registry: Registry;
  readonly stats: StatsCollectorApi;
  readonly clock: Clock;
  readonly loggers: Loggers;
}

/** Its metrics exist also if it is disabled. */
export function wireNatSessions(deps: NatSessionWiringDeps): Component {
  const metrics = new NatSessionMetrics(deps.registry, deps.stats);
  if (!deps.isEnabled) return { name: 'no removal of idle NAT sessions' };
  const { port, intervalMs, clock, loggers } = deps;
  return new IdleSessions({ port, intervalMs, metrics, clock, log: loggers.get('service') });
}
