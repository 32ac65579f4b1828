import type { Registry } from 'prom-client';
import type { Route } from '../http/route.ts';

/** A registry of Prometheus under a path of its own, as the Go agent serves them. */
export function metricsRoute(path: string, registry: Registry): Route {
  return {
    method: 'GET',
    path,
    mutating: false,
    summary: `metrics for Prometheus`,
    handle: async () => ({
      status: 200,
      body: await registry.metrics(),
      contentType: registry.contentType,
    }),
  };
}
