/** Routes about the state of the node: values, documents of the plugins, packet traces, statistics. */
import { encodeOriginal } from '#compatibility/dumped-value.ts';
import type { Route } from '#infra/http/route.ts';
import { metricsRoute } from '#infra/metrics/routes.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { schedulerRoutes } from '#kvscheduler/rest/scheduler-routes.ts';
import { IpamMetrics } from '#plugins/ipam/metrics.ts';
import { EncryptionMetrics } from '#plugins/ipv4net/encryption-metrics.ts';
import { encryptionRoutes } from '#plugins/ipv4net/encryption-routes.ts';
import { EncryptionStatus } from '#plugins/ipv4net/encryption-status.ts';
import { podRoutes } from '#plugins/ipv4net/pod-routes.ts';
import { ipamRoutes } from '#plugins/ipv4net/routes.ts';
import { NodeSyncMetrics } from '#plugins/nodesync/metrics.ts';
import { nodeRoutes } from '#plugins/nodesync/node-routes.ts';
import { PodManagerMetrics } from '#plugins/podmanager/metrics.ts';
import { connectivityRoutes } from '#plugins/policy/connectivity/routes.ts';
import { PolicyMetrics } from '#plugins/policy/metrics.ts';
import { policyRoutes } from '#plugins/policy/rest.ts';
import { serviceRoutes } from '#plugins/service/rest.ts';
import { SocketServiceMetrics } from '#plugins/service/socket/metrics.ts';
import { wireStats } from '#plugins/statscollector/wire-stats.ts';
import { captureRoutes } from '../capture/routes.ts';
import { nodeStatus, nodeStatusRoute } from '../cluster/node-status.ts';
import { clusterRoutes } from '../cluster/routes.ts';
import { nodeProbeRoutes } from '../node-probe/routes.ts';
import { nodeSnapshot, traceRoutes } from '../node-snapshot.ts';
import { pairTraceRoutes } from '../pair-trace/routes.ts';
import { parseValue } from '../parse-value.ts';
import { reflectedObject } from '../reflected-object.ts';
import { searchRoute } from '../search/routes.ts';
import { vppName } from '../vpp-interface-name.ts';
import { vppVersionRoute } from '../vpp-version.ts';
import type { PartDeps } from './agent-part.ts';
import type { Control } from './control.ts';
import { registerFeatureProblems } from './feature-problems.ts';
import { registerNodeProblems } from './node-problems.ts';
import type { NodeTasks } from './node-tasks.ts';
import type { Scheduling } from './scheduling.ts';
import type { Southbound } from './southbound.ts';
import { southboundValues } from './southbound-values.ts';
import { tracedNode } from './traced-node.ts';
import { valueStateReader } from './value-state-reader.ts';

export function stateRoutes(
  deps: PartDeps,
  south: Southbound,
  schedule: Scheduling,
  loop: Control,
  { healthChecks }: NodeTasks,
): Route[] {
  const { vpp } = south;
  const { scheduler, interfaces } = schedule;
  const { plugins, controller } = loop;
  const { settings, environment, status, registry, clock, loggers } = deps;
  const { label } = settings;
  const { nodes, pods, ipam, ipv4net: net, services, policies, stats } = plugins;
  new NodeSyncMetrics(registry, nodes, net.nodeProblems());
  new PodManagerMetrics(registry, pods);
  new IpamMetrics(registry, ipam);
  new PolicyMetrics(registry, policies);
  if (environment.socketTable !== undefined) new SocketServiceMetrics(registry, services);
  const sessions = () => vpp.wireguardSessions.sessions();
  const encryptionStatus = new EncryptionStatus({ nodeName: label, nodes, net, sessions, clock });
  const encryption = {
    ownKeys: south.ownKeys,
    net,
    status: encryptionStatus,
    lifetime: settings.contiv.wireguardKeyLifetime,
    clock,
  };
  const encryptionMetrics = new EncryptionMetrics(registry, encryption);
  registerFeatureProblems(status, plugins);
  registerNodeProblems(status, {
    ipam,
    ipv4net: net,
    encryption: encryptionStatus,
    pods,
    kubeState: () => controller.kubeState,
    clock,
  });
  const interfaceStats = wireStats({
    collector: stats,
    isEnabled: !settings.env['DISABLE_INTERFACE_STATS'],
    statistics: vpp.statistics,
    nameOf: (index) => interfaces.listNames('swIfIndex', String(index))[0],
    registry,
    clock,
    log: loggers.get('statscollector'),
  });
  const values = valueStateReader(scheduler);
  const ownStatus = () => nodeStatus({ label, status, nodes, net, vpp: vpp.client, clock });
  const traced = tracedNode(deps, south, schedule, loop);
  return [
    ...schedulerRoutes({
      scheduler,
      clock,
      parseValue,
      encodeOriginal,
      ownersOf: (key) => controller.ownersOf(key),
    }),
    ...ipamRoutes({ nodes, ipam, net }),
    ...encryptionRoutes(encryption),
    ...podRoutes({
      pods,
      ipam,
      net,
      services,
      policies,
      values,
      swIfIndexOf: (name) => interfaces.getValue(name)?.swIfIndex,
      clock,
    }),
    ...nodeRoutes({
      nodeName: label,
      nodes,
      net,
      values,
      sessions,
      samples: interfaceStats.samples,
      clock,
    }),
    ...serviceRoutes({
      services,
      clock,
      healthChecks,
      ...southboundValues(scheduler, [
        'vpp-nat44-dnat',
        'vpp-cnat-translation',
        ...(traced.hasSocketServices ? ['linux-socket-service'] : []),
      ]),
    }),
    ...policyRoutes({ policies, clock, ...southboundValues(scheduler, ['vpp-acl']) }),
    ...connectivityRoutes({
      policies,
      kubeState: () => controller.kubeState,
      services,
      serviceSubnet: () => plugins.conf.ipam().serviceCidr,
      reflectObject: reflectedObject,
      clock,
    }),
    vppVersionRoute(vpp.client),
    nodeStatusRoute(ownStatus),
    ...clusterRoutes({
      label,
      http: settings.http,
      nodes,
      net,
      addressOf: environment.agentAddress,
      ownStatus,
      clock,
    }),
    searchRoute({
      label,
      kubeState: () => controller.kubeState,
      nodes,
      isOwnAddress: (address) => ipam.allocations().has(address),
      events: () => controller.history.records,
      clock,
    }),
    ...captureRoutes({
      client: vpp.client,
      pcapTrace: vpp.pcapTrace,
      clock,
      isSimulated: environment.vppCliSocket === undefined,
    }),
    ...nodeProbeRoutes({
      label,
      conf: plugins.conf,
      ipam,
      net,
      nodes,
      vppNameOf: (name) => vppName(vpp.client, interfaces.getValue(name)?.swIfIndex),
      cliSocket: environment.vppCliSocket,
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
    metricsRoute('/metrics', registry, clock, async () => {
      await vpp.metrics.refresh();
      await interfaceStats.refresh();
      await encryptionMetrics.refresh();
    }),
    ...interfaceStats.routes,
  ];
}
