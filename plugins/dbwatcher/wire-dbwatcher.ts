/** Wiring of the datastore watcher: its status and its metrics. */

import type { Registry } from 'prom-client';
import type { Component } from '#infra/process/lifecycle.ts';
import type { StatusCheck } from '#infra/status/status.ts';
import type { DbWatcher } from './api.ts';
import { createDbWatcher, type DbWatcherDeps } from './dbwatcher.ts';
import { DbWatcherMetrics } from './metrics.ts';

export interface DbWatcherWiringDeps extends Omit<DbWatcherDeps, 'reportState'> {
  readonly registry: Registry;
  readonly status: StatusCheck;
}

export interface WiredDbWatcher {
  readonly watcher: DbWatcher;
  readonly component: Component;
}

export function wireDbWatcher({ registry, status, ...deps }: DbWatcherWiringDeps): WiredDbWatcher {
  const watcher = createDbWatcher({ ...deps, reportState: status.register('etcd', 'readiness') });
  new DbWatcherMetrics(registry, () => watcher.status);
  return {
    watcher,
    component: {
      name: 'dbwatcher',
      afterInit: () => watcher.start(),
      close: () => watcher.close(),
    },
  };
}
