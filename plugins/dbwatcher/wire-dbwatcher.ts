/** Wiring of the datastore watcher: its status and its metrics. */

import type { Registry } from 'prom-client';
import type { Component } from '#infra/process/lifecycle.ts';
import type { StatusCheck } from '#infra/status/status.ts';
import { AgentInstances } from './agent-instances.ts';
import type { DbWatcher } from './api.ts';
import { type ConfigStatusDeps, ConfigStatusPublisher } from './config-status/publisher.ts';
import { createDbWatcher, type DbWatcherDeps } from './dbwatcher.ts';
import { DbWatcherMetrics } from './metrics.ts';

export interface DbWatcherWiringDeps
  extends Omit<DbWatcherDeps, 'reportState' | 'onExternalConfig'> {
  readonly registry: Registry;
  readonly status: StatusCheck;
  /** Whether other agents use the store, too. */
  readonly isShared: boolean;
  /** State of the values of external configuration. */
  readonly valueStates: Pick<ConfigStatusDeps, 'statesOf' | 'isSettled'>;
  /** Name or address of the host, for messages. */
  readonly host: string;
}

export interface WiredDbWatcher {
  readonly watcher: DbWatcher;
  readonly component: Component;
  /** To be called after each transaction with the keys of values whose states may have changed. */
  readonly statesChanged: ConfigStatusPublisher['statesChanged'];
}

export function wireDbWatcher(all: DbWatcherWiringDeps): WiredDbWatcher {
  const { registry, status, isShared, host, valueStates, ...deps } = all;
  const watcher: DbWatcher = createDbWatcher({
    ...deps,
    onExternalConfig: {
      changed: (key) => statuses?.statesChanged([key]),
      read: () => statuses?.valuesRead(),
    },
    reportState: status.register('etcd', 'readiness'),
  });
  // Without other programs on the store, no program reads them.
  const statuses = isShared
    ? new ConfigStatusPublisher({
        ...valueStates,
        store: deps.cluster,
        agentPrefix: deps.agentPrefix,
        values: () => watcher.externalValues(),
        clock: deps.clock,
        random: deps.random,
        log: deps.log,
      })
    : undefined;
  new DbWatcherMetrics(
    registry,
    () => watcher.status,
    () => statuses?.failures ?? 0,
  );
  const instances = isShared
    ? new AgentInstances({
        store: deps.cluster,
        label: deps.nodeName,
        instance: `${host}-${deps.clock.now()}`,
        host,
        clock: deps.clock,
        log: deps.log,
        reportState: status.register('label', 'state'),
      })
    : undefined;
  return {
    watcher,
    component: {
      name: 'dbwatcher',
      afterInit: () => {
        watcher.start();
        instances?.start();
      },
      close: async () => {
        await Promise.all([watcher.close(), statuses?.close(), instances?.close()]);
      },
    },
    statesChanged: (keys) => statuses?.statesChanged(keys),
  };
}
