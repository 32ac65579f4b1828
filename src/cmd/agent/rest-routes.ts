/** All routes of the REST server, in the order of their components in `agent.ts`. */
import { join } from 'node:path';
import type { Registry } from 'prom-client';
import { encodeOriginal } from '#compatibility/dumped-value.ts';
import { compatibilityRoutes } from '#compatibility/routes.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { pageRoutes } from '#infra/http/page-routes.ts';
import type { Route } from '#infra/http/route.ts';
import { type Loggers, logRoutes } from '#infra/log/loggers.ts';
import { metricsRoute } from '#infra/metrics/routes.ts';
import { probeRoutes } from '#infra/status/routes.ts';
import type { BuildInfo, StatusCheck } from '#infra/status/status.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { schedulerRoutes } from '#kvscheduler/rest/scheduler-routes.ts';
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import type { LinuxHost } from '#linux/api.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import type { Controller } from '#plugins/controller/controller.ts';
import { controllerRoutes } from '#plugins/controller/routes.ts';
import type { WiredDbWatcher } from '#plugins/dbwatcher/wire-dbwatcher.ts';
import { podRoutes } from '#plugins/ipv4net/pod-routes.ts';
import { ipamRoutes } from '#plugins/ipv4net/routes.ts';
import { nodeRoutes } from '#plugins/nodesync/node-routes.ts';
import { createAclRenderer } from '#plugins/policy/acl/renderer.ts';
import { connectivityRoutes } from '#plugins/policy/connectivity/routes.ts';
import { policyRoutes } from '#plugins/policy/rest.ts';
import { serviceRoutes } from '#plugins/service/rest.ts';
import type { wireHealthChecks } from '#plugins/service/wire-health-checks.ts';
import type { WiredStats } from '#plugins/statscollector/wire-stats.ts';
import type { WiredVpp } from '#vpp/wire-vpp.ts';
import { nodeSnapshot, traceRoutes } from './node-snapshot.ts';
import { pairTraceRoutes } from './pair-trace/routes.ts';
import { parseValue } from './parse-value.ts';
import type { Plugins } from './plugins.ts';
import { reflectedObject } from './reflected-object.ts';
import type { Settings } from './settings.ts';
import { valueStateReader } from './value-state-reader.ts';
import { valuesInVpp } from './values-in-vpp.ts';

/** The web page, as npm ci builds it. */
const pageFolder = join(import.meta.dirname, '../../../dist/ui');

export interface RestRoutesDeps {
  readonly settings: Settings;
  readonly build: BuildInfo;
  readonly linux: LinuxHost;
  readonly status: StatusCheck;
  readonly plugins: Plugins;
  readonly controller: Controller;
  readonly watcher: WiredDbWatcher['watcher'];
  readonly scheduler: Scheduler;
  readonly vpp: WiredVpp;
  readonly healthChecks: ReturnType<typeof wireHealthChecks>;
  readonly interfaceStats: WiredStats;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly loggers: Loggers;
}

/** Names and indexes of the configured interfaces of VPP. */
export function interfaceNames(scheduler: Scheduler) {
  return scheduler.metadataMap<VppInterfaceMetadata>('vpp-interface');
}

export function restRoutes(deps: RestRoutesDeps): Route[] {
  const { settings, build, linux, plugins, controller, scheduler, vpp, interfaceStats } = deps;
  const { registry, clock } = deps;
  const { label } = settings;
  const { nodes, pods, ipam, ipv4net, services, policies } = plugins;
  const values = valueStateReader(scheduler);
  const traced = { label, scheduler, ipam, net: ipv4net, client: vpp.client, linux };
  return [
    ...probeRoutes(deps.status),
    ...pageRoutes(pageFolder),
    ...logRoutes(deps.loggers),
    ...controllerRoutes({
      clock,
      history: controller.history,
      verification: controller.verification,
      verificationEnabled: settings.controller.enableVerification,
      transaction: (seqNum) => scheduler.record(seqNum),
      requestResync: (request) => deps.watcher.requestResync(request),
    }),
    ...schedulerRoutes({ scheduler, clock, parseValue, encodeOriginal }),
    ...ipamRoutes({ nodes, ipam, net: ipv4net }),
    ...podRoutes({
      pods,
      ipam,
      net: ipv4net,
      services,
      policies,
      values,
      swIfIndexOf: (name) => interfaceNames(scheduler)?.getValue(name)?.swIfIndex,
      clock,
    }),
    ...nodeRoutes({
      nodeName: label,
      nodes,
      net: ipv4net,
      values,
      samples: interfaceStats.samples,
      clock,
    }),
    ...serviceRoutes({
      services,
      clock,
      healthCheckFailures: deps.healthChecks.failures,
      ...valuesInVpp(scheduler, 'vpp-nat44-dnat'),
    }),
    ...policyRoutes({ policies, clock, ...valuesInVpp(scheduler, 'vpp-acl') }),
    ...connectivityRoutes({
      policies,
      createRenderer: createAclRenderer,
      kubeState: () => controller.kubeState,
      services,
      serviceSubnet: () => ipam.serviceSubnet(),
      reflectObject: reflectedObject,
      clock,
    }),
    ...traceRoutes({ ...traced, clock }),
    ...pairTraceRoutes({
      ...traced,
      nodes,
      services,
      pods: () => controller.kubeState.get(resources.pod.keyword),
      readSnapshot: (view) => nodeSnapshot(traced, view),
      clock,
    }),
    ...vpp.routes(),
    ...compatibilityRoutes({ scheduler, linux, build, clock }),
    metricsRoute('/metrics', registry, clock, async () => {
      await vpp.metrics.refresh();
      await interfaceStats.refresh();
    }),
    ...interfaceStats.routes,
  ];
}
