import type { Registry } from 'prom-client';
import type { Clock } from '../clock/clock.ts';
import type { Route } from '../http/route.ts';

/** Metrics are collected at most once in this time, however many clients read them. */
const COLLECTION_MS = 1_000;

/**
 * Serves a Prometheus registry under its own path, as the Go agent does.
 * @param refresh updates the metrics that are read on demand
 */
export function metricsRoute(
  path: string,
  registry: Registry,
  clock: Clock,
  refresh?: () => Promise<void>,
): Route {
  let collected = Number.NEGATIVE_INFINITY;
  let isCollecting = false;
  let text: Promise<Buffer> | undefined;
  const collect = async (): Promise<Buffer> => {
    await refresh?.();
    // One buffer for all replies: a text is copied for each client that reads slowly.
    return Buffer.from(await registry.metrics());
  };
  const latest = (): Promise<Buffer> => {
    const now = clock.monotonic();
    // A slow collection is shared, too: two at the same time would both add to the same counters.
    if (text && (isCollecting || now - collected < COLLECTION_MS)) return text;
    collected = now;
    isCollecting = true;
    text = collect().finally(() => {
      isCollecting = false;
    });
    // The next request tries again.
    text.catch(() => {
      text = undefined;
    });
    return text;
  };
  return {
    method: 'GET',
    path,
    mutating: false,
    summary: 'metrics for Prometheus, collected at most once a second',
    replyTypes: ['text/plain'],
    handle: async () => ({
      status: 200,
      body: await latest(),
      contentType: registry.contentType,
    }),
  };
}
