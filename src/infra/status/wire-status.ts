/** Wiring of the status check: probes, metrics, and the publication in a store. */
import type { Registry } from 'prom-client';
import type { Clock, Random, Timer } from '../clock/clock.ts';
import { durationMs } from '../config/duration.ts';
import type { Logger } from '../log/log.ts';
import type { Component } from '../process/lifecycle.ts';
import type { StatusCheckConfig } from './config.ts';
import { registerStatusMetrics } from './metrics.ts';
import { type PublisherDeps, StatusPublisher } from './publisher.ts';
import type { StatusCheck } from './status.ts';

/** Interval in which the components that do not report their state are read. */
const PROBE_MS = 5_000;

export interface StatusWiringDeps {
  readonly config: StatusCheckConfig;
  readonly status: StatusCheck;
  /** The store in which the status is published; undefined: no other program reads it. */
  readonly target: Pick<PublisherDeps, 'prefix' | 'putAll'> | undefined;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export function wireStatus(deps: StatusWiringDeps): Component {
  const { config, status, target, registry, clock, random, log } = deps;
  const intervalMs = durationMs(config['publish-interval']);
  const publisher =
    target && intervalMs > 0
      ? new StatusPublisher({ ...target, status, intervalMs, clock, random, log })
      : undefined;
  registerStatusMetrics(registry, status, () => publisher?.failures ?? 0);
  let timer: Timer | undefined;
  const probe = (): void => {
    timer = clock.timer(PROBE_MS, () => {
      status.readProblems();
      probe();
    });
  };
  return {
    name: 'status',
    init: () => {
      publisher?.start();
      probe();
    },
    close: async () => {
      timer?.cancel();
      await publisher?.close();
    },
  };
}
