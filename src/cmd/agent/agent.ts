/**
 * contiv-agent, wired from top to bottom: stores, southbound, scheduler, event handlers, event
 * loop, watcher of the datastore, and the servers that operators and kubelet talk to.
 */
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Clock, Random } from '#infra/clock/clock.ts';
import { durationMs } from '#infra/config/duration.ts';
import type { Route } from '#infra/http/route.ts';
import { type HttpServer, startHttpServer } from '#infra/http/server.ts';
import { silentLogger } from '#infra/log/log.ts';
import { type Loggers, logRoutes } from '#infra/log/loggers.ts';
import { metricsRoute } from '#infra/metrics/routes.ts';
import { Lifecycle, type Part } from '#infra/process/lifecycle.ts';
import { agentPrefix } from '#infra/service-label/service-label.ts';
import { probeRoutes } from '#infra/status/routes.ts';
import { type BuildInfo, StatusCheck } from '#infra/status/status.ts';
import { SchedulerMetrics } from '#kvscheduler/history/metrics.ts';
import { schedulerRoutes } from '#kvscheduler/rest/routes.ts';
import { createScheduler, type Scheduler } from '#kvscheduler/scheduler.ts';
import { linuxDescriptors } from '#linux/descriptors/linux-descriptors.ts';
import { hostPort } from '#linux/host-port.ts';
import type { HostFacts } from '#linux/iproute/prepare-host.ts';
import { mergeValues } from '#models/merge.ts';
import type { DHCPLease } from '#models/vpp/interface-state.ts';
import { Controller, type ControllerDeps } from '#plugins/controller/controller.ts';
import { ControllerMetrics } from '#plugins/controller/metrics.ts';
import { RunRecorder } from '#plugins/controller/recording/recorder.ts';
import { controllerRoutes } from '#plugins/controller/routes.ts';
import { createDbWatcher } from '#plugins/dbwatcher/dbwatcher.ts';
import { DbWatcherMetrics } from '#plugins/dbwatcher/metrics.ts';
import { watchLeases } from '#plugins/ipv4net/leases.ts';
import { ipamRoutes } from '#plugins/ipv4net/routes.ts';
import { NodeSyncMetrics } from '#plugins/nodesync/metrics.ts';
import { cniService } from '#plugins/podmanager/service.ts';
import { type CniServer, serveCni } from '#plugins/podmanager/socket.ts';
import { stnDaemonClient } from '#stn/daemon-client.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';
import { vppDescriptors } from '#vpp/descriptors/vpp-descriptors.ts';
import { InterfaceWatch } from '#vpp/interface-watch.ts';
import { vppRoutes } from '#vpp/routes.ts';
import { VppMetrics } from '#vpp/stats/metrics.ts';
import { SegmentStatistics } from '#vpp/stats/statistics.ts';
import { vppView } from '#vpp/vpp-view.ts';
import { cniState } from './cni-state.ts';
import type { Environment } from './environment.ts';
import { traceRoutes } from './node-document.ts';
import { parseValue } from './parse-value.ts';
import { createPlugins } from './plugins.ts';
import type { RecordedSettings } from './replay.ts';
import type { Settings } from './settings.ts';

const STOP_LIMIT_MS = 5_000;
/** How long CNI calls may go on after the end was asked for. */
const CNI_GRACE_MS = 2_000;
const MINUTE = 60_000;
/** Name of the descriptor of leases. */
const DHCP_LEASES = 'vpp-dhcp-lease';
/** Under which everything stands that an agent keeps for itself. */
const LOCAL_PREFIX = 'local/';

export interface AgentParts {
  readonly settings: Settings;
  readonly environment: Environment;
  readonly clock: Clock;
  readonly random: Random;
  readonly loggers: Loggers;
  readonly build: BuildInfo;
  /** Where the log boxes go. */
  readonly print: (text: string) => void;
}

export interface Agent {
  /** Port of the REST server. */
  readonly port: number;
  readonly controller: Controller;
  start(): Promise<void>;
  /** Ends the agent; what it has configured stays. */
  stop(): Promise<void>;
  /**
   * In place of `start`: removes everything that an agent of this label has configured in VPP and
   * Linux, and what it has remembered of it. Rejects, naming it, when something could not be
   * removed; calling again goes on from there.
   */
  undeploy(): Promise<void>;
}

export function createAgent(parts: AgentParts): Agent {
  const { settings, environment, clock, random, loggers, build, print } = parts;
  const { cluster, local, mirror, linux } = environment;
  const log = loggers.get('agent');
  const status = new StatusCheck(clock, build);
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });

  // Southbound: the connection to VPP, and what the scheduler can do with VPP and Linux.
  const vpp = new BinapiClient({
    connect: environment.connectVpp,
    clock,
    random,
    log: loggers.get('vpp'),
    replyTimeoutMs: durationMs(settings.govpp['reply-timeout']),
    health: {
      intervalMs: durationMs(settings.govpp['health-check-probe-interval']),
      limitMs: durationMs(settings.govpp['health-check-reply-timeout']),
      misses: settings.govpp['health-check-threshold'],
    },
  });
  const statistics = new SegmentStatistics(
    { pid: async () => (await vpp.request('control_ping', {})).vpe_pid },
    clock,
  );
  // A simulated VPP has no statistics, which is no news.
  const statisticsLog = settings.embedded ? silentLogger : loggers.get('vpp');
  const vppMetrics = new VppMetrics(statistics, registry, statisticsLog);
  const schedulerMetrics: SchedulerMetrics = new SchedulerMetrics(registry, () => scheduler);
  const scheduler: Scheduler = createScheduler({
    descriptors: [
      ...vppDescriptors({ client: vpp, clock, log: loggers.get('vpp') }),
      ...linuxDescriptors({ host: linux, label: settings.label, log: loggers.get('linux') }),
    ],
    clock,
    log: loggers.get('kvscheduler'),
    history: {
      ageMs: settings.kvscheduler['transaction-history-age-limit'] * MINUTE,
      initMs: settings.kvscheduler['permanently-recorded-init-period'] * MINUTE,
    },
    verify: Boolean(settings.env['KVSCHED_VERIFY_MODE']),
    observer: schedulerMetrics,
    ...(settings.kvscheduler['print-txn-summary'] && { writer: { write: print } }),
  });

  const interfaceWatch = new InterfaceWatch({
    client: vpp,
    scheduler,
    clock,
    log: loggers.get('vpp'),
  });

  // Event handlers.
  let hostFacts: HostFacts = { ipv6: false };
  const { handlers, conf, nodes, pods, ipam, ipv4net } = createPlugins(
    settings.label,
    settings.contiv,
    {
      cluster,
      local,
      vpp: vppView(vpp),
      host: hostPort(linux, () => hostFacts.ipv6),
      stn: stnDaemonClient(settings.contiv.stnSocketFile, clock),
      wanted: { getConfig: (key) => controller.getConfig(key) },
    },
  );

  // The event loop, and what feeds it.
  const metrics: ControllerMetrics = new ControllerMetrics(registry, () => controller);
  const recorder = recorderOf(parts);
  const loop: ControllerDeps = {
    config: settings.controller,
    handlers,
    sink: scheduler,
    merge: mergeValues,
    southboundLife: () => (vpp.state === 'connected' ? vpp.generation : undefined),
    clock,
    random,
    log: loggers.get('controller'),
    reportState: status.register('controller', 'liveness'),
    print,
    onProcessed: metrics.observe,
  };
  const controller: Controller = new Controller(recorder ? recorder.tap(loop) : loop);
  const reportStore = status.register('etcd', 'readiness');
  const watcher = createDbWatcher({
    loop: controller,
    cluster,
    mirror,
    agentPrefix: agentPrefix(settings.label),
    config: settings.controller,
    clock,
    random,
    log: loggers.get('dbwatcher'),
    reportState: reportStore,
  });
  new DbWatcherMetrics(registry, () => watcher.status);
  new NodeSyncMetrics(registry, nodes);

  // Servers.
  const routes: Route[] = [
    ...probeRoutes(status),
    ...logRoutes(loggers),
    ...controllerRoutes({
      clock,
      history: controller.history,
      verification: controller.verification,
      verifies: settings.controller.enableVerification,
      transaction: (seqNum) => scheduler.record(seqNum),
      requestResync: () => watcher.requestResync(),
    }),
    ...schedulerRoutes({ scheduler, clock, parseValue }),
    ...ipamRoutes({ nodes, ipam, conf, net: ipv4net }),
    ...traceRoutes({ label: settings.label, scheduler, ipam, net: ipv4net }),
    ...vppRoutes(vpp),
    metricsRoute('/metrics', registry, vppMetrics.refresh),
  ];
  let http: HttpServer | undefined;
  let cni: Promise<CniServer> | undefined;

  const limits = { startMs: settings.startLimitMs, stopMs: STOP_LIMIT_MS };
  const connection: Part = { name: 'connection to VPP', init: () => vpp.whenConnected() };
  const lifecycle = new Lifecycle(
    [
      {
        name: 'http',
        init: async () => {
          http = await startHttpServer(settings.http, routes, loggers.get('http'));
          if (!settings.http.disabled) log.info({ port: http.port }, 'REST server is listening');
        },
        close: () => http?.close(),
      },
      vppPart(),
      // The startup resync reads VPP's interfaces; its deadline does not count the wait for VPP.
      connection,
      // Nothing is set on a machine whose VPP is not there.
      {
        name: 'host',
        init: async () => {
          hostFacts = await environment.prepareHost({
            tap: conf.interfaces().useTap,
            family: conf.useIpv6() ? 6 : 4,
          });
        },
      },
      { name: 'kvscheduler', close: () => scheduler.close() },
      {
        name: 'watch over interfaces',
        init: () => interfaceWatch.start(),
        close: () => interfaceWatch.close(),
      },
      {
        name: 'controller',
        init: () => controller.start(),
        close: async () => {
          await controller.close({ cleanup: false });
          await recorder?.close();
        },
      },
      leasesPart(),
      {
        name: 'dbwatcher',
        afterInit: () => watcher.start(),
        close: () => watcher.close(),
      },
      {
        name: 'cni',
        afterInit: async () => {
          cni = serveCni({
            service: cniService({
              loop: controller,
              pods,
              state: cniState({ status, scheduler, ipam, net: ipv4net }),
              log: loggers.get('cni'),
            }),
            socketPath: settings.grpc.endpoint,
            mode: Number.parseInt(String(settings.grpc.permission), 8),
            replaceStale: settings.grpc['force-socket-removal'],
            clock,
            log: loggers.get('cni'),
          });
          await cni;
        },
        close: async () => (await cni?.catch(() => undefined))?.close(CNI_GRACE_MS),
      },
    ],
    limits,
    clock,
    log,
  );

  function leasesPart(): Part {
    let end: () => void = () => undefined;
    return {
      name: 'watch over DHCP leases',
      init: () => {
        const leases = scheduler.metadataMap<DHCPLease>(DHCP_LEASES)!;
        end = watchLeases({
          leases,
          net: ipv4net,
          loop: controller,
          clock,
          log: loggers.get('dhcp'),
        });
      },
      close: () => end(),
    };
  }

  /** VPP that comes back is empty or half configured: everything is held against it at once. */
  function vppPart(): Part {
    const report = status.register('vpp', 'readiness');
    return {
      name: 'vpp',
      init: () => {
        vpp.onStateChange((state) => {
          if (state === 'connected') {
            report('ok');
            if (vpp.generation > 1) controller.scheduleHealing('VPP reconnected', 0);
          } else if (state === 'disconnected') report('error', 'VPP disconnected');
        });
        vpp.start();
      },
      close: async () => {
        statistics.close();
        await vpp.close();
      },
    };
  }

  return {
    controller,
    get port() {
      return http?.port ?? 0;
    },
    start: async () => {
      for (const warning of settings.warnings) log.warn(warning);
      await lifecycle.start();
    },
    stop: () => lifecycle.stop(),
    undeploy: async () => {
      vpp.start();
      try {
        await new Lifecycle([connection], limits, clock, log).start();
        controller.start();
        await controller.close({ cleanup: true });
        // Only now: what is remembered is how a second attempt would know its own.
        const { entries } = await local.list(LOCAL_PREFIX);
        await local.putAll(new Map(entries.map(({ key }) => [key, undefined])));
      } finally {
        await scheduler.close();
        await vpp.close();
      }
    },
  };
}

/** Present where `record-run` asks for it. */
function recorderOf({ settings, clock, loggers, build }: AgentParts): RunRecorder | undefined {
  const { label, contiv, controller } = settings;
  const folder = controller['record-run'];
  if (folder === '') return undefined;
  const recorded: RecordedSettings = { contiv };
  const log = loggers.get('recording');
  return new RunRecorder({
    folder,
    version: build.version,
    label,
    settings: recorded,
    clock,
    log,
  });
}
