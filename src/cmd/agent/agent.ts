/**
 * contiv-agent from top to bottom: VPP and Linux, scheduler, event handlers, event loop, watcher of
 * the datastore, and the servers for operators and for kubelet. This file lists the components in
 * start order; each `wire…()` is in the folder of the code that it wires.
 */
import { collectDefaultMetrics, Registry } from 'prom-client';
import { genericServices } from '#compatibility/generic/services.ts';
import type { KvStore } from '#datastore/api.ts';
import type { Clock, Random } from '#infra/clock/clock.ts';
import { grpcConfigCheck, wireGrpcServer } from '#infra/grpc/wire-grpc-server.ts';
import { wireHttpServer } from '#infra/http/wire-http-server.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Loggers } from '#infra/log/loggers.ts';
import { wireMessaging } from '#infra/messaging/wire-messaging.ts';
import { registerBuildInfo } from '#infra/metrics/build-info.ts';
import { Lifecycle } from '#infra/process/lifecycle.ts';
import { agentPrefix } from '#infra/service-label/service-label.ts';
import { type BuildInfo, StatusCheck } from '#infra/status/status.ts';
import { wireStatus } from '#infra/status/wire-status.ts';
import { wireScheduler } from '#kvscheduler/wire-scheduler.ts';
import { wireLinux } from '#linux/wire-linux.ts';
import { mergeValues } from '#models/merge.ts';
import type { DHCPLease } from '#models/vpp/interface-state.ts';
import { wireNodeConfig } from '#plugins/contivconf/wire-node-config.ts';
import type { ExternalConfigSource } from '#plugins/controller/api/events.ts';
import type { Controller } from '#plugins/controller/controller.ts';
import { DesiredState } from '#plugins/controller/desired-state.ts';
import { problemText } from '#plugins/controller/problems.ts';
import { type WiredController, wireController } from '#plugins/controller/wire-controller.ts';
import { type WiredDbWatcher, wireDbWatcher } from '#plugins/dbwatcher/wire-dbwatcher.ts';
import { wireExternalConfig } from '#plugins/extconfig/wire-extconfig.ts';
import { isAgentKey } from '#plugins/ipv4net/agent-keys.ts';
import { wireLeaseWatch } from '#plugins/ipv4net/wire-lease-watch.ts';
import { IdReleaser } from '#plugins/nodesync/id-releaser.ts';
import { NodeSyncMetrics } from '#plugins/nodesync/metrics.ts';
import { PodManagerMetrics } from '#plugins/podmanager/metrics.ts';
import { wireCniServer } from '#plugins/podmanager/wire-cni-server.ts';
import { sessionTimeouts } from '#plugins/service/config.ts';
import { wireHealthChecks } from '#plugins/service/wire-health-checks.ts';
import { wireNatSessions } from '#plugins/service/wire-nat-sessions.ts';
import { wireStats } from '#plugins/statscollector/wire-stats.ts';
import { stnDaemonClient } from '#stn/daemon-client.ts';
import { wireInterfaceWatch, wireVpp } from '#vpp/wire-vpp.ts';
import { cniState } from './cni-state.ts';
import { wireDisks } from './disks.ts';
import { earlyCopy } from './early-copy.ts';
import type { Environment } from './environment.ts';
import { registerFeatureProblems } from './feature-problems.ts';
import { interfaceFaults } from './interface-faults.ts';
import { createNotifications } from './notifications.ts';
import { createPlugins } from './plugins.ts';
import { interfaceNames, restRoutes } from './rest-routes.ts';
import type { Settings } from './settings.ts';
import { undeploy } from './undeploy.ts';

const STOP_LIMIT_MS = 5_000;
/** Name of the descriptor of leases. */
const DHCP_LEASES = 'vpp-dhcp-lease';

export interface AgentDeps {
  readonly settings: Settings;
  readonly environment: Environment;
  readonly clock: Clock;
  readonly random: Random;
  readonly loggers: Loggers;
  readonly build: BuildInfo;
  /** Prints the boxes of events and transactions. */
  readonly print: (text: string) => void;
  /** Sources of external configuration besides the datastore; the last one has precedence. */
  readonly externalSources?: readonly ExternalConfigSource[];
}

export interface Agent {
  /** Port of the REST server. */
  readonly port: number;
  /** Port of the gRPC services of grpc2.conf; undefined: not served, or on a unix socket. */
  readonly grpcPort: number | undefined;
  readonly controller: Controller;
  start(): Promise<void>;
  /** Stops the agent; its configuration of VPP and Linux stays. */
  stop(): Promise<void>;
  /**
   * Instead of `start`: removes everything that an agent of this label has configured in VPP and
   * Linux, and then what it has stored about it. Rejects, with the keys, when something could not
   * be removed; a second call continues from there.
   */
  undeploy(): Promise<void>;
}

export function createAgent(deps: AgentDeps): Agent {
  const { settings, environment, clock, random, loggers, build, print } = deps;
  const { label, contiv } = settings;
  const { cluster, local, localDisk, mirror, external, externalDisk } = environment;
  /** Without etcd the store is that of this node alone. */
  const isShared = cluster !== local;
  const log: Logger = loggers.get('agent');
  const status = new StatusCheck(clock, build);
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  registerBuildInfo(registry, build);

  const messaging = wireMessaging({
    config: settings.kafka,
    label,
    registry,
    status,
    clock,
    random,
    loggers,
  });
  const notifications = createNotifications(settings.kafka, label, messaging.notifier);

  const disks = wireDisks(environment, status, clock);

  // VPP, Linux, and the scheduler that configures them.
  const linux = wireLinux({ host: environment.linux, label, log: loggers.get('linux') });
  const vpp = wireVpp({
    config: settings.govpp,
    connect: environment.connectVpp,
    telemetry: settings.telemetry,
    statistics: environment.vppStatistics,
    label,
    lostTapLinks: linux.lostTapLinks,
    store: local,
    isAgentKey,
    registry,
    clock,
    random,
    log: loggers.get('vpp'),
  });
  const { scheduler, component: schedulerComponent } = wireScheduler({
    config: settings.kvscheduler,
    descriptors: [...vpp.descriptors, ...linux.descriptors],
    verify: Boolean(settings.env['KVSCHED_VERIFY_MODE']),
    registry,
    status,
    clock,
    log: loggers.get('kvscheduler'),
    print,
    onTransaction: (changed) => statesChanged(changed),
  });
  const interfaceWatch = wireInterfaceWatch({
    client: vpp.client,
    scheduler,
    clock,
    log: loggers.get('vpp'),
    onStateChange: notifications.interfaceState,
  });

  const nodeConfig = wireNodeConfig({
    nodeName: label,
    config: contiv,
    local,
    cluster,
    conf: () => conf,
    isConfigured: () => controller.isSynced,
    interfaceFaults: (name) => interfaceFaults(scheduler, name),
    problemText,
    status,
    clock,
    random,
    log: loggers.get('contivconf'),
  });
  const { gate } = nodeConfig;

  // The event handlers, the event loop, and the watcher that feeds it.
  const pluginSettings = { contiv, service: settings.service };
  const desired = new DesiredState();
  const plugins = createPlugins(label, pluginSettings, {
    cluster,
    local,
    localDisk,
    vpp: vpp.port,
    host: linux.port,
    stn: stnDaemonClient(contiv.stnSocketFile, clock),
    desired,
  });
  const { handlers, conf, nodes, pods, ipam, ipv4net, services, policies, stats } = plugins;
  const extconfig =
    external &&
    wireExternalConfig({
      store: external,
      disk: externalDisk,
      loop: { pushAndWait: (event, signal) => controller.pushAndWait(event, signal) },
      registry,
      status,
      clock,
      loggers,
    });
  const externalSources = [
    ...(deps.externalSources ?? []),
    ...(extconfig ? [extconfig.source] : []),
  ];
  const { controller, component: controllerComponent }: WiredController = wireController({
    config: settings.controller,
    handlers,
    desired,
    sink: scheduler,
    merge: mergeValues,
    failedValues: () => scheduler.failedValues(),
    southboundGeneration: () =>
      vpp.client.state === 'connected' ? vpp.client.generation : undefined,
    externalSources,
    onProcessed: notifications.event,
    isStartDelayed: () => gate.missing !== undefined,
    recorded: { version: build.version, label, settings: pluginSettings },
    registry,
    status,
    clock,
    random,
    loggers,
    print,
  });
  const {
    watcher,
    component: watcherComponent,
    statesChanged,
  }: WiredDbWatcher = wireDbWatcher({
    loop: controller,
    cluster,
    startGate: gate,
    mirror,
    isShared,
    nodeName: label,
    agentPrefix: agentPrefix(label),
    host: settings.env['HOST_IP'] || settings.env['HOSTNAME'] || 'unknown',
    config: settings.controller,
    valueStates: {
      statesOf: (key) => scheduler.status(key),
      isSettled: () => controller.isIdle && scheduler.load.isIdle,
    },
    registry,
    status,
    clock,
    random,
    log: loggers.get('dbwatcher'),
  });
  new NodeSyncMetrics(registry, nodes);
  new PodManagerMetrics(registry, pods);
  const idReleaser = new IdReleaser({
    nodeName: label,
    cluster,
    clock,
    random,
    log: loggers.get('nodesync'),
  });
  const { tcp, other } = sessionTimeouts(settings.service);
  const idleSessions = wireNatSessions({
    port: vpp.natSessions,
    isEnabled: settings.service.cleanupIdleNATSessions,
    intervalMs: Math.min(tcp, other) * 1_000,
    registry,
    stats,
    clock,
    loggers,
  });
  registerFeatureProblems(status, { ipv4net, services, policies });
  const leaseWatch = wireLeaseWatch(() => ({
    leases: scheduler.metadataMap<DHCPLease>(DHCP_LEASES)!,
    net: ipv4net,
    loop: controller,
    clock,
    log: loggers.get('dhcp'),
  }));

  const interfaceStats = wireStats({
    collector: stats,
    isEnabled: !settings.env['DISABLE_INTERFACE_STATS'],
    statistics: vpp.statistics,
    nameOf: (index) => interfaceNames(scheduler)?.listNames('swIfIndex', String(index))[0],
    registry,
    clock,
    log: loggers.get('statscollector'),
  });
  const healthChecks = wireHealthChecks({
    services,
    isSynced: () => controller.isSynced,
    clock,
    random,
    loggers,
  });

  const statusComponent = wireStatus({
    config: settings.statusCheck,
    status,
    target: isShared
      ? { prefix: agentPrefix(label), putAll: (entries) => cluster.putAll(entries) }
      : undefined,
    registry,
    clock,
    random,
    log: loggers.get('status'),
  });

  // The servers.
  const http = wireHttpServer(
    settings.http,
    restRoutes({
      settings,
      build,
      linux: environment.linux,
      status,
      plugins,
      controller,
      watcher,
      scheduler,
      vpp,
      healthChecks,
      interfaceStats,
      registry,
      clock,
      loggers,
    }),
    clock,
    loggers,
  );
  const cni = wireCniServer({
    config: settings.grpc,
    loop: controller,
    pods,
    state: cniState({ status, gate, scheduler, ipam, net: ipv4net, host: linux.port }),
    clock,
    loggers,
  });

  const grpc2 =
    settings.grpc2 &&
    wireGrpcServer({
      config: settings.grpc2,
      // Each component that has services on port 9111 adds them here.
      services: [
        ...(extconfig?.services ?? []),
        ...genericServices({
          scheduler,
          sink: extconfig?.writer,
          clock,
          log: loggers.get('grpc2'),
        }),
      ],
      clock,
      log: loggers.get('grpc2'),
    });

  const copyBeforeVpp = (copy: KvStore) =>
    earlyCopy({
      label,
      contiv,
      cluster,
      mirror: copy,
      gate,
      nodes,
      vppConnected: () => vpp.client.whenConnected(),
      clock,
      log: loggers.get('dbwatcher'),
    });

  const limits = { startMs: settings.startLimitMs, stopMs: STOP_LIMIT_MS };
  const lifecycle = new Lifecycle(
    [
      grpcConfigCheck(settings.grpc, settings.grpc2),
      http.component,
      ...messaging.components,
      ...disks,
      // Before everything that may wait: a starting agent publishes its state, too.
      statusComponent,
      vpp.component(status, () => controller.southboundReconnected()),
      nodeConfig.gateComponent,
      // VPP may start only when the node can do without the database.
      ...(mirror ? [copyBeforeVpp(mirror)] : []),
      // The startup resync reads VPP's interfaces; its deadline does not include the wait for VPP.
      vpp.connection,
      // After the connection: without VPP nothing is changed on the machine.
      linux.component(
        (needs) => environment.prepareHost(needs),
        () => ({
          tap: conf.interfaces().useTap,
          family: conf.useIpv6() ? 6 : 4,
        }),
      ),
      schedulerComponent,
      interfaceWatch,
      vpp.telemetry,
      healthChecks.component,
      ...(extconfig ? [extconfig.component] : []),
      controllerComponent,
      leaseWatch,
      idleSessions,
      watcherComponent,
      ...(isShared ? [idReleaser.component, nodeConfig.publisherComponent] : []),
      cni,
      ...(grpc2 ? [grpc2.component] : []),
    ],
    limits,
    clock,
    log,
  );

  return {
    controller,
    get port() {
      return http.port;
    },
    get grpcPort() {
      return grpc2?.port;
    },
    start: async () => {
      for (const warning of settings.warnings) log.warn(warning);
      await lifecycle.start();
      for (const name of loggers.unusedNames)
        log.warn({ name }, 'logs.conf sets the level of a logger that does not exist');
    },
    stop: () => lifecycle.stop(),
    undeploy: () =>
      undeploy({
        client: vpp.client,
        connection: new Lifecycle([vpp.connection], limits, clock, log),
        controller,
        scheduler,
        local,
        external,
      }),
  };
}
