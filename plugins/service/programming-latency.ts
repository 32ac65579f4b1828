import { Histogram, type Registry } from 'prom-client';
import type { Clock } from '#infra/clock/clock.ts';
import type { Endpoints } from '#kubernetes/models/endpoints.ts';
import type { Event } from '#plugins/controller/api/event.ts';
import { KubeStateChange } from '#plugins/controller/api/events.ts';

/** Those of kube-proxy: up to a minute by seconds, up to five minutes by steps of 5 s and 30 s. */
const buckets = [0.25, 0.5, ...steps(1, 1, 59), ...steps(60, 5, 12), ...steps(120, 30, 7)];

/**
 * Time from the change of a pod or a service until VPP has acknowledged the endpoints that it changed, under
 * the name that kube-proxy gives it. The two times are of two machines.
 */
export class ProgrammingLatency {
  readonly #clock: Clock;
  readonly #seconds: Histogram;

  constructor(registry: Registry, clock: Clock) {
    this.#clock = clock;
    this.#seconds = new Histogram({
      name: 'kubeproxy_network_programming_duration_seconds',
      help: 'Time from the change of a pod or service until VPP carries the endpoints that it changed, as kube-proxy measures it. Without the field of time in the records (ksr.conf: readers) nothing is observed.',
      buckets,
      registers: [registry],
    });
  }

  /** A resync repeats changes that were observed before, or that nothing waited for. */
  observe(event: Event, error: Error | undefined): void {
    if (error !== undefined || !KubeStateChange.is(event)) return;
    const { resource, previous, current } = event.payload;
    if (resource !== 'endpoints' || current === undefined) return;
    const time = triggerTime(current as Endpoints);
    if (time === undefined || time === triggerTime(previous as Endpoints | undefined)) return;
    this.#seconds.observe(Math.max(0, this.#clock.wallTime() - time) / 1000);
  }
}

/** Milliseconds since 1970. */
function triggerTime(endpoints: Endpoints | undefined): number | undefined {
  const time = Date.parse(endpoints?.last_change_trigger_time ?? '');
  return Number.isNaN(time) ? undefined : time;
}

function steps(start: number, width: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => start + i * width);
}
