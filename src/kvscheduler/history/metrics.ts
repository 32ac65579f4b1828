import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Clock } from '#infra/clock/clock.ts';
import { RecentSummary } from '#infra/metrics/recent-summary.ts';
import type { Scheduler } from '../scheduler.ts';
import type { Observer, Phase } from './observer.ts';
import type { TxnType } from './record.ts';

/** Of the quantiles. */
const MAX_AGE_MS = 30_000;
const percentiles = [0.5, 0.9, 0.99];
const buckets = [0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60];

/** Metrics of the scheduler; the names up to `txn_duration_seconds` are those of the Go agent. */
export class SchedulerMetrics implements Observer {
  readonly #processed: Counter;
  readonly #dropped: Counter;
  readonly #waits: RecentSummary<'txn_type'>;
  readonly #phases: RecentSummary<'slice'>;
  readonly #durations: Histogram;
  readonly #commits: Histogram;

  constructor(registry: Registry, scheduler: () => Scheduler, clock: Clock) {
    const registers = [registry];
    const quantiles = { percentiles, maxAgeMs: MAX_AGE_MS, registers, clock };
    this.#processed = new Counter({
      name: 'ligato_kvscheduler_txn_processed',
      help: 'Transactions that were processed.',
      registers,
    });
    this.#dropped = new Counter({
      name: 'ligato_kvscheduler_txn_dropped',
      help: 'Transactions that were refused because the queue was full.',
      registers,
    });
    this.#waits = new RecentSummary({
      name: 'ligato_kvscheduler_queue_wait_seconds',
      help: 'Time that a transaction waits for its turn.',
      label: 'txn_type',
      ...quantiles,
    });
    this.#phases = new RecentSummary({
      name: 'ligato_kvscheduler_txn_process_duration_seconds',
      help: 'Time that parts of the processing of a transaction take.',
      label: 'slice',
      ...quantiles,
    });
    this.#durations = new Histogram({
      name: 'ligato_kvscheduler_txn_duration_seconds',
      help: 'Time from the start of processing of a transaction to its end.',
      labelNames: ['txn_type'],
      buckets,
      registers,
    });
    this.#commits = new Histogram({
      name: 'ligato_kvscheduler_commit_seconds',
      help: 'Time from the commit of a transaction to its answer, with its time in the queue.',
      buckets,
      registers,
    });
    addGauges(registry, scheduler);
  }

  dropped(): void {
    this.#dropped.inc();
  }

  waited(type: TxnType, ms: number): void {
    this.#waits.add(type, ms / 1000);
  }

  took(phase: Phase, ms: number): void {
    this.#phases.add(phase, ms / 1000);
  }

  worked(): void {}

  processed(type: TxnType, ms: number): void {
    this.#processed.inc();
    this.#durations.observe({ txn_type: type }, ms / 1000);
  }

  committed(ms: number): void {
    this.#commits.observe(ms / 1000);
  }

  called(): void {}
}

/** Gauges that are read from the scheduler when the metrics are collected. */
function addGauges(registry: Registry, scheduler: () => Scheduler): void {
  const registers = [registry];
  new Gauge({
    name: 'ligato_kvscheduler_queue_capacity',
    help: 'Transactions that may wait for their turn.',
    registers,
    collect() {
      this.set(scheduler().load.queueCapacity);
    },
  });
  new Gauge({
    name: 'ligato_kvscheduler_queue_length',
    help: 'Transactions that wait for their turn.',
    registers,
    collect() {
      this.set(scheduler().load.queueLength);
    },
  });
  new Gauge({
    name: 'ligato_kvscheduler_operations_in_flight',
    help: 'Operations that the southbound has not answered yet.',
    registers,
    collect() {
      this.set(scheduler().load.inFlight);
    },
  });
  new Gauge({
    name: 'ligato_kvscheduler_longest_stretch_seconds',
    help: 'Longest time since the start for which work in slices, of the scheduler or of others, held the main thread.',
    registers,
    collect() {
      this.set(scheduler().load.longestStretch / 1000);
    },
  });
  new Gauge({
    name: 'ligato_kvscheduler_values',
    help: 'Values that the scheduler knows, by their state.',
    labelNames: ['state'],
    registers,
    collect() {
      for (const [state, count] of scheduler().timeline.states) this.set({ state }, count);
    },
  });
  new Gauge({
    name: 'ligato_kvscheduler_history_bytes',
    help: 'Estimated memory of the records of transactions and of the past of the graph.',
    registers,
    collect() {
      this.set(scheduler().load.historyBytes);
    },
  });
}
