/** Wiring of the scheduler: its options from the configuration, and its metrics. */
import type { Registry } from 'prom-client';
import type { Clock } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Component } from '#infra/process/lifecycle.ts';
import type { StatusCheck } from '#infra/status/status.ts';
import type { AnyDescriptor } from './api/descriptor.ts';
import type { KvSchedulerConfig } from './config.ts';
import type { TransactionListener } from './executor/transactor.ts';
import { SchedulerMetrics } from './history/metrics.ts';
import { createScheduler } from './kv-scheduler.ts';
import { QueueProblem } from './queue-problem.ts';
import type { Scheduler } from './scheduler.ts';

const MINUTE_MS = 60_000;

export interface SchedulerWiringDeps {
  readonly config: KvSchedulerConfig;
  readonly descriptors: readonly AnyDescriptor[];
  /** Read back what each transaction touched. */
  readonly verify: boolean;
  readonly registry: Registry;
  readonly status: StatusCheck;
  readonly clock: Clock;
  readonly log: Logger;
  readonly print: (text: string) => void;
}

export interface WiredScheduler {
  readonly scheduler: Scheduler;
  /** Calls the listener after each transaction. */
  onTransaction(listener: TransactionListener): void;
  readonly component: Component;
}

export function wireScheduler(deps: SchedulerWiringDeps): WiredScheduler {
  const { config, descriptors, verify, registry, status, clock, log, print } = deps;
  const listeners: TransactionListener[] = [];
  const metrics: SchedulerMetrics = new SchedulerMetrics(registry, () => scheduler, clock);
  const scheduler: Scheduler = createScheduler({
    descriptors,
    clock,
    log,
    history: {
      ageMs: config['transaction-history-age-limit'] * MINUTE_MS,
      initMs: config['permanently-recorded-init-period'] * MINUTE_MS,
    },
    verify,
    observer: metrics,
    onTransaction: (changed) => {
      for (const listener of listeners) listener(changed);
    },
    writer: { write: print },
    // a transaction of a pod is 10 kB of text, one of a resync megabytes
    writesTransactions: () => config['print-txn-summary'] && log.isLevelEnabled('debug'),
  });
  const queue = new QueueProblem(scheduler, clock);
  status.registerProblem('kvscheduler', 'state', () => queue.text());
  return {
    scheduler,
    onTransaction: (listener) => void listeners.push(listener),
    component: { name: 'kvscheduler', close: () => scheduler.close() },
  };
}
