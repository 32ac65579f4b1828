/** Wiring of the poll of VPP's telemetry. */
import type { Registry } from 'prom-client';
import type { Clock } from '#infra/clock/clock.ts';
import { durationMs } from '#infra/config/duration.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Component } from '#infra/process/lifecycle.ts';
import type { StatsPort } from '#plugins/controller/api/ports/stats.ts';
import type { VppClient } from '../binapi/api.ts';
import { metricGroups, type TelemetryConfig } from './config.ts';
import { TelemetryMetrics } from './metrics.ts';
import { TelemetryPoll } from './poll.ts';

export interface TelemetryWiringDeps {
  readonly config: TelemetryConfig;
  readonly client: VppClient;
  readonly statistics: StatsPort;
  /** Service label. */
  readonly label: string;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The metrics exist also if they are not read. */
export function wireTelemetry(deps: TelemetryWiringDeps): Component {
  const { config, client, statistics, label, registry, clock, log } = deps;
  const groups = metricGroups.filter((group) => !config.skipped.includes(group));
  const metrics = new TelemetryMetrics(statistics, new Set(groups), registry, label);
  if (config.disabled || config['prometheus-disabled']) return { name: 'no telemetry' };
  return new TelemetryPoll({
    metrics,
    onConnection: (listener) => {
      client.onStateChange((state) => {
        if (state === 'connected' || state === 'disconnected') listener(state === 'connected');
      });
      listener(client.state === 'connected');
    },
    intervalMs: durationMs(config['polling-interval']),
    clock,
    log,
  });
}
