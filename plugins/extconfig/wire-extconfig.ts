/** Wiring of the external configuration by gRPC: first its store and status, then its services. */
import type { Registry } from 'prom-client';
import type { KvStore } from '#datastore/api.ts';
import type { DiskStore } from '#datastore/disk-store.ts';
import type { Clock } from '#infra/clock/clock.ts';
import type { GrpcService } from '#infra/grpc/connection-server.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Component } from '#infra/process/lifecycle.ts';
import type { StatusCheck } from '#infra/status/status.ts';
import type { EventLoop } from '#plugins/controller/api/event-handler.ts';
import { ConfigWriter } from './config-writer.ts';
import { externalConfigServices } from './grpc-services.ts';
import { RequestMetrics } from './metrics.ts';
import { StoredConfig } from './stored-config.ts';

type Disk = Pick<DiskStore, 'loss' | 'resolveLoss'>;

export interface StoredConfigWiringDeps {
  readonly store: KvStore;
  /** undefined: it is in memory. */
  readonly disk: Disk | undefined;
  readonly status: StatusCheck;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface WiredStoredConfig {
  /** A source of the event loop. */
  readonly stored: StoredConfig;
  /** All values are set again: those that were lost are no longer missing. */
  readonly onReplaced: () => Promise<void>;
  /** Starts before the event loop. */
  readonly component: Component;
}

export function wireStoredConfig(deps: StoredConfigWiringDeps): WiredStoredConfig {
  const { store, disk, status, clock, log } = deps;
  const stored = new StoredConfig({ store, clock, log });
  const onReplaced = async () => {
    if (!disk?.loss) return;
    await disk
      .resolveLoss()
      .catch((error) => log.warn({ err: error }, 'the loss of external values stays recorded'));
  };
  status.registerProblem('external-config', 'readiness', () => {
    const { length } = stored.unreadableKeys;
    if (length > 0) return `${length} stored values cannot be read: ${stored.unreadableKeys[0]}, …`;
    return disk?.loss && disk.loss.history !== 'new'
      ? `values of external configuration are lost: ${disk.loss.detail}. The client has to send all of them (Resync)`
      : undefined;
  });
  return {
    stored,
    onReplaced,
    component: {
      name: 'extconfig',
      init: async () => {
        await stored.load();
        // A database that never had values has lost none.
        if (disk?.loss?.history === 'new') await onReplaced();
      },
    },
  };
}

export interface ConfigServicesWiringDeps extends Pick<WiredStoredConfig, 'stored' | 'onReplaced'> {
  readonly loop: Pick<EventLoop, 'pushAndWait'>;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface WiredConfigServices {
  readonly services: readonly GrpcService[];
  /** For other services that set values of gRPC clients. */
  readonly writer: Pick<ConfigWriter, 'put' | 'delete' | 'resync'>;
  /** Is closed after the event loop, so it starts before it. */
  readonly component: Component;
}

export function wireConfigServices(deps: ConfigServicesWiringDeps): WiredConfigServices {
  const { stored, onReplaced, loop, registry, clock, log } = deps;
  const metrics = new RequestMetrics(registry, () => stored.size);
  const writer = new ConfigWriter({ loop, stored, onReplaced, log });
  return {
    services: externalConfigServices({ writer, metrics, clock, log }),
    writer,
    component: { name: 'extconfig clients', close: () => writer.idle() },
  };
}
