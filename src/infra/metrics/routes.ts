import type { Registry } from 'prom-client';
import type { Route } from '../http/route.ts';

/**
 * Serves a Prometheus registry under its own path, as the Go agent does.
 * @param refresh updates the metrics that are read on demand
 */
export function metricsRoute(
  path: string,
  registry: Registry,
  refresh: () => Promise<void>,
): Route {
  return {
    method: 'GET',
    path,
    mutating: false,
    summary: 'metrics for Prometheus',
    handle: async () => {
      await refresh();
      return { status: 200, body: await registry.metrics(), contentType: registry.contentType };
    },
  };
}
