/** Wiring of the external configuration by gRPC: its store, its services, its status. */
import type { Registry } from 'prom-client';
import type { KvStore } from '#datastore/api.ts';
import type { DiskStore } from '#datastore/disk-store.ts';
import type { Clock } from '#infra/clock/clock.ts';
import type { GrpcService } from '#infra/grpc/connection-server.ts';
import type { Loggers } from '#infra/log/loggers.ts';
import type { Component } from '#infra/process/lifecycle.ts';
import type { StatusCheck } from '#infra/status/status.ts';
import type { EventLoop } from '#plugins/controller/api/event-handler.ts';
import type { ExternalConfigSource } from '#plugins/controller/api/events.ts';
import { ConfigWriter } from './config-writer.ts';
import { externalConfigServices } from './grpc-services.ts';
import { RequestMetrics } from './metrics.ts';
import { StoredConfig } from './stored-config.ts';

export interface ExternalConfigWiringDeps {
  readonly store: KvStore;
  /** undefined: it is in memory. */
  readonly disk: Pick<DiskStore, 'loss' | 'resolveLoss'> | undefined;
  readonly loop: Pick<EventLoop, 'pushAndWait'>;
  readonly registry: Registry;
  readonly status: StatusCheck;
  readonly clock: Clock;
  readonly loggers: Loggers;
}

export interface WiredExternalConfig {
  readonly source: ExternalConfigSource;
  readonly services: readonly GrpcService[];
  /** For other services that set values of gRPC clients. */
  readonly writer: Pick<ConfigWriter, 'put' | 'delete' | 'resync'>;
  /** Starts before the event loop, and is closed after it. */
  readonly component: Component;
}

export function wireExternalConfig(deps: ExternalConfigWiringDeps): WiredExternalConfig {
  const { store, disk, loop, registry, status, clock, loggers } = deps;
  const log = loggers.get('extconfig');
  const stored = new StoredConfig({ store, clock, log });
  const metrics = new RequestMetrics(registry, () => stored.size);
  const onReplaced = async () => {
    if (!disk?.loss) return;
    await disk
      .resolveLoss()
      .catch((error) => log.warn({ err: error }, 'the loss of external values stays recorded'));
  };
  const writer = new ConfigWriter({ loop, stored, onReplaced, log });
  status.registerProblem('external-config', 'readiness', () => {
    const { length } = stored.unreadableKeys;
    if (length > 0) return `${length} stored values cannot be read: ${stored.unreadableKeys[0]}, …`;
    return disk?.loss && disk.loss.history !== 'new'
      ? `values of external configuration are lost: ${disk.loss.detail}. The client has to send all of them (Resync)`
      : undefined;
  });
  return {
    source: stored,
    writer,
    services: externalConfigServices({ writer, metrics, clock, log }),
    component: {
      name: 'extconfig',
      init: async () => {
        await stored.load();
        // A database that never had values has lost none.
        if (disk?.loss?.history === 'new') await onReplaced();
      },
      close: () => writer.idle(),
    },
  };
}
