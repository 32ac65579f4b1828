import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Controller } from './controller.ts';
import type { ProcessedEvent } from './event-record.ts';

const secondBuckets = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60];
const operationBuckets = [0, 1, 10, 100, 1000, 10_000, 100_000];

/** Metrics of the event loop. */
export class ControllerMetrics {
  readonly #events: Counter;
  readonly #seconds: Histogram;
  readonly #total: Histogram;
  readonly #queue: Histogram;
  readonly #handlers: Histogram;
  readonly #planning: Histogram;
  readonly #execution: Histogram;
  readonly #operations: Histogram;

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
      buckets: secondBuckets,
      registers,
    });
    this.#total = new Histogram({
      name: 'contiv_controller_event_total_seconds',
      help: 'Time from when the agent received the cause of an event to the end of its processing.',
      labelNames: ['event'],
      buckets: secondBuckets,
      registers,
    });
    this.#queue = new Histogram({
      name: 'contiv_controller_event_queue_seconds',
      help: 'Time that an event waits in the queue.',
      labelNames: ['event'],
      buckets: secondBuckets,
      registers,
    });
    this.#handlers = new Histogram({
      name: 'contiv_controller_event_handler_seconds',
      help: 'Time that a handler takes for an event.',
      labelNames: ['event', 'handler'],
      buckets: secondBuckets,
      registers,
    });
    this.#planning = new Histogram({
      name: 'contiv_controller_event_planning_seconds',
      help: 'Time that the scheduler takes to plan the transaction of an event.',
      labelNames: ['event'],
      buckets: secondBuckets,
      registers,
    });
    this.#execution = new Histogram({
      name: 'contiv_controller_event_execution_seconds',
      help: 'Time that VPP and Linux take for the transaction of an event.',
      labelNames: ['event'],
      buckets: secondBuckets,
      registers,
    });
    this.#operations = new Histogram({
      name: 'contiv_controller_event_operations',
      help: 'Operations on VPP and Linux in the transaction of an event.',
      labelNames: ['event'],
      buckets: operationBuckets,
      registers,
    });
    addGauges(registry, controller);
  }

  readonly observe = ({ record, error }: ProcessedEvent): void => {
    const { start, end, trace, handlers } = record;
    const event = { event: record.id };
    this.#events.inc({ ...event, outcome: error ? 'error' : 'ok' });
    this.#seconds.observe(event, (end - start) / 1000);
    this.#total.observe(event, trace.totalMs / 1000);
    this.#queue.observe(event, trace.queuedMs / 1000);
    for (const { handler, tookMs } of handlers)
      this.#handlers.observe({ ...event, handler }, tookMs / 1000);
    if (!trace.transaction) return;
    const { planningMs, executionMs, operations } = trace.transaction;
    this.#planning.observe(event, planningMs / 1000);
    this.#execution.observe(event, executionMs / 1000);
    this.#operations.observe(event, operations);
  };
}

/** Metrics that are read from the event loop on each scrape. */
function addGauges(registry: Registry, controller: () => Controller): void {
  const registers = [registry];
  new Gauge({
    name: 'contiv_controller_queue_length',
    help: 'Number of queued events.',
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
  new Counter({
    name: 'contiv_controller_history_dropped_total',
    help: 'Records that were dropped from the event history, by reason (age, size).',
    labelNames: ['reason'],
    registers,
    collect() {
      const { byAge, bySize } = controller().history.dropped;
      this.reset();
      this.inc({ reason: 'age' }, byAge);
      this.inc({ reason: 'size' }, bySize);
    },
  });
  new Counter({
    name: 'contiv_controller_verification_resyncs_total',
    help: 'Number of verification resyncs.',
    registers,
    collect() {
      this.reset();
      this.inc(controller().verification.counts.resyncs);
    },
  });
  new Counter({
    name: 'contiv_controller_verification_differences_total',
    help: 'Differences that verification has found, by what was out of sync (internal-data, configuration).',
    labelNames: ['what'],
    registers,
    collect() {
      const { internalData, configuration } = controller().verification.counts;
      this.reset();
      this.inc({ what: 'internal-data' }, internalData);
      this.inc({ what: 'configuration' }, configuration);
    },
  });
}
