/**
 * Wiring of the statistics of interfaces: the route `/stats`, counters on `/metrics`, and documents about
 * interfaces.
 */
import type { Registry } from 'prom-client';
import type { Clock } from '#infra/clock/clock.ts';
import type { Route } from '#infra/http/route.ts';
import { metricsRoute } from '#infra/metrics/routes.ts';
import type { InterfaceSamples } from './api.ts';
import { registerInterfaceMetrics } from './interface-metrics.ts';
import { interfaceRoutes } from './interface-routes.ts';
import type { StatsCollector, StatsSource } from './plugin.ts';
import { SampleList } from './sample-list.ts';
import { SharedCollection } from './shared-collection.ts';

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
  /** Counters for documents: collected at most once a second. */
  readonly samples: () => Promise<InterfaceSamples>;
}

const disabled = SampleList.failed(
  'the counters are not read, because the environment variable DISABLE_INTERFACE_STATS is set',
);

export function wireStats(deps: StatsWiringDeps): WiredStats {
  const { collector, isEnabled, registry, clock } = deps;
  registerInterfaceMetrics(registry, () => collector.entries());
  const collection = new SharedCollection(clock, () => collector.collect(deps));
  const refresh = async () => {
    if (isEnabled) await collection.now();
  };
  const samples = async () => {
    if (!isEnabled) return disabled;
    await collection.recent();
    return collector.samples();
  };
  return {
    routes: [
      metricsRoute('/stats', collector.registry, clock, refresh),
      ...interfaceRoutes({ net: collector.net, samples, clock }),
    ],
    refresh,
    samples,
  };
}
