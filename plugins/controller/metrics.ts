import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Event } from '#eventloop/event.ts';
import type { Controller } from './controller.ts';

/** Metrics of the event loop. */
export class ControllerMetrics {
  readonly #events: Counter;
  readonly #seconds: Histogram;

  constructor(registry: Registry, controller: () => Controller) {
    const registers = [registry];
    this.#events = new Counter({
      name: 'contiv_controller_events_total',
      help: 'Processed events by kind and outcome (ok, error).',
      labelNames: ['event', 'outcome'],
      registers,
    });
    this.#seconds = new Histogram({
      name: 'contiv_controller_event_seconds',
      help: 'Time from the start of processing of an event to its end.',
      labelNames: ['event'],
      buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60],
      registers,
    });
    new Gauge({
      name: 'contiv_controller_queue_length',
      help: 'Events that wait for their turn.',
      registers,
      collect() {
        this.set(controller().queueLength);
      },
    });
    new Gauge({
      name: 'contiv_controller_history_bytes',
      help: 'Estimated memory of the event history.',
      registers,
      collect() {
        this.set(controller().history.bytes);
      },
    });
  }

  readonly observe = (event: Event, tookMs: number, error: Error | undefined): void => {
    this.#events.inc({ event: event.kind.id, outcome: error ? 'error' : 'ok' });
    this.#seconds.observe({ event: event.kind.id }, tookMs / 1000);
  };
}
