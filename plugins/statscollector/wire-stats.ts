/** Wiring of the statistics of interfaces: the route `/stats`, and counters on `/metrics`. */
import type { Registry } from 'prom-client';
import type { Clock } from '#infra/clock/clock.ts';
import type { Route } from '#infra/http/route.ts';
import { metricsRoute } from '#infra/metrics/routes.ts';
import { registerInterfaceMetrics } from './interface-metrics.ts';
import type { StatsCollector, StatsSource } from './plugin.ts';

export interface StatsWiringDeps extends StatsSource {
  readonly collector: StatsCollector;
  /** false: the figures of interfaces are not read (`DISABLE_INTERFACE_STATS`). */
  readonly isEnabled: boolean;
  /** Of `/metrics`. */
  readonly registry: Registry;
  readonly clock: Clock;
}

export interface WiredStats {
  readonly routes: readonly Route[];
  /** Call it before each scrape of `/metrics`. */
  readonly refresh: () => Promise<void>;
}

export function wireStats(deps: StatsWiringDeps): WiredStats {
  const { collector, isEnabled, registry, clock } = deps;
  registerInterfaceMetrics(registry, () => collector.entries());
  const refresh = async () => {
    if (isEnabled) await collector.collect(deps);
  };
  return { routes: [metricsRoute('/stats', collector.registry, refresh, clock)], refresh };
}
