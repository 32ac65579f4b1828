/** Wiring of the datastore watcher: its status and its metrics. */

import type { Registry } from 'prom-client';
import type { Component } from '#infra/process/lifecycle.ts';
import type { StatusCheck } from '#infra/status/status.ts';
import { AgentInstances } from './agent-instances.ts';
import type { DbWatcher } from './api.ts';
import { createDbWatcher, type DbWatcherDeps } from './dbwatcher.ts';
import { DbWatcherMetrics } from './metrics.ts';

export interface DbWatcherWiringDeps extends Omit<DbWatcherDeps, 'reportState'> {
  readonly registry: Registry;
  readonly status: StatusCheck;
  /** Whether other agents use the store, too. */
  readonly isShared: boolean;
  /** Name or address of the host, for messages. */
  readonly host: string;
}

export interface WiredDbWatcher {
  readonly watcher: DbWatcher;
  readonly component: Component;
}

export function wireDbWatcher(all: DbWatcherWiringDeps): WiredDbWatcher {
  const { registry, status, isShared, host, ...deps } = all;
  const watcher = createDbWatcher({ ...deps, reportState: status.register('etcd', 'readiness') });
  new DbWatcherMetrics(registry, () => watcher.status);
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
        await Promise.all([watcher.close(), instances?.close()]);
      },
    },
  };
}
