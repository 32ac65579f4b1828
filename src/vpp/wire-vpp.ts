/** Wiring of VPP: its API connection, descriptors, port, statistics and the interface watch. */
import type { Registry } from 'prom-client';
import type { Clock, Random } from '#infra/clock/clock.ts';
import { durationMs } from '#infra/config/duration.ts';
import type { Route } from '#infra/http/route.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Component } from '#infra/process/lifecycle.ts';
import type { StatusCheck } from '#infra/status/status.ts';
import type { AnyDescriptor } from '#kvscheduler/api/descriptor.ts';
import type { InterfaceState } from '#models/vpp/interface-state.ts';
import type { NatSessionPort } from '#plugins/controller/api/ports/nat-sessions.ts';
import type { StatsPort } from '#plugins/controller/api/ports/stats.ts';
import type { VppPort } from '#plugins/controller/api/ports/vpp.ts';
import type { WireguardKeys } from '#plugins/controller/api/ports/wireguard.ts';
import type { Connect } from './binapi/api.ts';
import { BinapiClient } from './binapi/client/client.ts';
import { registerCallMetrics } from './calls/metrics.ts';
import { callRoutes } from './calls/routes.ts';
import type { GovppConfig } from './config.ts';
import type { LostTapLinks, NamespaceSight, TapLinks } from './descriptors/options.ts';
import { vppDescriptors } from './descriptors/vpp-descriptors.ts';
import { InterfaceStateReports } from './interface-state-reports.ts';
import { InterfaceWatch, type InterfaceWatchOptions } from './interface-watch.ts';
import { namespaceSight } from './namespace-sight.ts';
import { natSessionPort } from './nat-session-port.ts';
import { ObjectRecords, type RecordStore } from './object-records.ts';
import { PcapTrace } from './packets/pcap-trace.ts';
import { vppRoutes } from './routes.ts';
import { AclSessionTable } from './stats/acl-sessions.ts';
import { ConnectedProcess } from './stats/connected-process.ts';
import { VppMetrics } from './stats/metrics.ts';
import { SegmentStatistics } from './stats/statistics.ts';
import type { TelemetryConfig } from './telemetry/config.ts';
import { telemetryRoutes } from './telemetry/routes.ts';
import { wireTelemetry } from './telemetry/wire-telemetry.ts';
import { vppPort } from './vpp-port.ts';
import { WireguardSessions } from './wireguard-sessions.ts';

export interface VppWiringDeps {
  readonly config: GovppConfig;
  readonly connect: Connect;
  readonly telemetry: TelemetryConfig;
  /** Of a simulated VPP, which has no statistics segment. */
  readonly statistics: StatsPort | undefined;
  /** Of a simulated VPP, which has no process. */
  readonly namespaces: NamespaceSight | undefined;
  /** Service label. */
  readonly label: string;
  readonly lostTapLinks: LostTapLinks;
  readonly tapLinks: TapLinks;
  /** Absent: no interface of WireGuard can be created. */
  readonly wireguardKeys?: WireguardKeys | undefined;
  readonly store: RecordStore;
  readonly isAgentKey: (key: string) => boolean;
  readonly status: StatusCheck;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export interface WiredVpp {
  readonly client: BinapiClient;
  readonly descriptors: readonly AnyDescriptor[];
  readonly port: VppPort;
  readonly natSessions: NatSessionPort;
  readonly wireguardSessions: WireguardSessions;
  readonly routes: readonly Route[];
  readonly statistics: StatsPort;
  readonly metrics: VppMetrics;
  readonly pcapTrace: PcapTrace;
  /** Polls VPP's telemetry. */
  readonly telemetry: Component;
  /** Calls the listener each time VPP is connected again. */
  onReconnect(listener: () => void): void;
  /** Starts to connect. */
  readonly component: Component;
  /** Waits until VPP is connected. */
  readonly connection: Component;
}

export function wireVpp(deps: VppWiringDeps): WiredVpp {
  const { config, connect, lostTapLinks, registry, clock, random, log } = deps;
  const { store, isAgentKey, label, status } = deps;
  const calls = registerCallMetrics(registry, () => client);
  const client: BinapiClient = new BinapiClient({
    observer: calls,
    connect,
    clock,
    random,
    log,
    replyTimeoutMs: durationMs(config['reply-timeout']),
    health: {
      intervalMs: durationMs(config['health-check-probe-interval']),
      timeoutMs: durationMs(config['health-check-reply-timeout']),
      maxMisses: config['health-check-threshold'],
    },
  });
  const process = new ConnectedProcess(client);
  const wireguardSessions = new WireguardSessions({ client, clock, log });
  const segment = new SegmentStatistics(process, clock);
  const statistics = deps.statistics ?? segment;
  const report = status.register('vpp', 'state');
  const reconnectListeners: (() => void)[] = [];
  return {
    client,
    descriptors: vppDescriptors({
      client,
      clock,
      log,
      lostTapLinks,
      tapLinks: deps.tapLinks,
      namespaces: deps.namespaces ?? namespaceSight(process),
      managedKeys: new ObjectRecords({ store, isAgentKey, log }),
      wireguardKeys: deps.wireguardKeys,
      peerSessions: wireguardSessions,
    }),
    port: vppPort(client),
    natSessions: natSessionPort(client),
    wireguardSessions,
    routes: [
      ...vppRoutes(client),
      ...callRoutes(calls, client),
      ...telemetryRoutes({ client, statistics, clock }),
    ],
    statistics,
    metrics: new VppMetrics({
      statistics,
      aclTable: new AclSessionTable({ client, clock, log }),
      registry,
      agent: label,
      log,
    }),
    pcapTrace: new PcapTrace({ client, rootOf: (pid) => `/proc/${pid}/root` }),
    telemetry: wireTelemetry({
      config: deps.telemetry,
      client,
      statistics,
      label,
      registry,
      clock,
      log,
    }),
    onReconnect: (listener) => void reconnectListeners.push(listener),
    component: {
      name: 'vpp',
      init: () => {
        client.onStateChange((state) => {
          if (state === 'connected') {
            report('ok');
            if (client.generation > 1) for (const listener of reconnectListeners) listener();
          } else if (state === 'disconnected') report('error', 'VPP disconnected');
        });
        client.start();
      },
      close: async () => {
        segment.close();
        await client.close();
      },
    },
    connection: { name: 'VPP connection', init: () => client.whenConnected() },
  };
}

export interface InterfaceWatchDeps extends Omit<InterfaceWatchOptions, 'reports'> {
  /** Called with the state of an interface when it has changed. */
  readonly onStateChange?: ((state: InterfaceState) => void) | undefined;
}

export function wireInterfaceWatch({ onStateChange, ...deps }: InterfaceWatchDeps): Component {
  const reports = onStateChange && new InterfaceStateReports(deps.clock, onStateChange);
  const watch = new InterfaceWatch({ ...deps, reports });
  return { name: 'interface watch', init: () => watch.start(), close: () => watch.close() };
}
