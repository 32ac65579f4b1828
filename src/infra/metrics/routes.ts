import type { Registry } from 'prom-client';
import type { Route } from '../http/route.ts';

/**
 * A registry of Prometheus under a path of its own, as the Go agent serves them.
 * @param refresh brings what is read on demand up to date
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
