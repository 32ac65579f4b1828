/** Work beside the event loop, on the state of the event handlers. */
import type { DHCPLease } from '#models/vpp/interface-state.ts';
import { wireNodeConfigStatus } from '#plugins/contivconf/wire-node-config.ts';
import { hostAddressWatch } from '#plugins/ipv4net/host-address-watch.ts';
import { keyReplacement } from '#plugins/ipv4net/key-replacement.ts';
import { wireSessionWatch } from '#plugins/ipv4net/session-watch.ts';
import { wireLeaseWatch } from '#plugins/ipv4net/wire-lease-watch.ts';
import { IdReleaser } from '#plugins/nodesync/id-releaser.ts';
import { enforcementPublisher } from '#plugins/policy/enforcement/enforcement-publisher.ts';
import { enforcementRoute } from '#plugins/policy/enforcement/enforcement-route.ts';
import { NodeEnforcementReader } from '#plugins/policy/enforcement/node-enforcement.ts';
import { sessionTimeouts } from '#plugins/service/config.ts';
import { type HealthCheckStates, wireHealthChecks } from '#plugins/service/wire-health-checks.ts';
import { wireNatSessions } from '#plugins/service/wire-nat-sessions.ts';
import type { AgentPart, PartDeps } from './agent-part.ts';
import type { Control } from './control.ts';
import { interfaceFaults } from './interface-faults.ts';
import type { NodeStores } from './node-stores.ts';
import type { Scheduling } from './scheduling.ts';
import type { Southbound } from './southbound.ts';

/** Name of the descriptor of leases. */
const DHCP_LEASES = 'vpp-dhcp-lease';

export interface NodeTasks extends AgentPart {
  readonly healthChecks: HealthCheckStates;
}

export function nodeTasks(
  deps: PartDeps,
  { cluster, isShared, gate }: NodeStores,
  { vpp, linux, ownKeys }: Southbound,
  { scheduler }: Scheduling,
  { plugins, controller }: Control,
): NodeTasks {
  const { settings, registry, clock, random, loggers } = deps;
  const { label, service } = settings;
  const { conf, ipv4net, services, stats } = plugins;
  const leaseWatch = wireLeaseWatch({
    leases: scheduler.metadataMap<DHCPLease>(DHCP_LEASES)!,
    net: ipv4net,
    loop: controller,
    clock,
    log: loggers.get('dhcp'),
  });
  const hostAddresses = hostAddressWatch({
    host: linux.port,
    net: ipv4net,
    loop: controller,
    clock,
    random,
    log: loggers.get('ipv4net'),
  });
  const wireguard = [
    wireSessionWatch({
      sessions: vpp.wireguardSessions,
      loop: controller,
      clock,
      log: loggers.get('wireguard'),
    }),
    keyReplacement({
      ownKeys,
      net: ipv4net,
      nodes: plugins.nodes,
      sessions: () => vpp.wireguardSessions.sessions(),
      lifetime: settings.contiv.wireguardKeyLifetime,
      loop: controller,
      clock,
      random,
      log: loggers.get('wireguard'),
    }),
  ];
  const { tcp, other } = sessionTimeouts(service);
  const idleSessions = wireNatSessions({
    port: vpp.natSessions,
    isEnabled: service.cleanupIdleNATSessions,
    intervalMs: Math.min(tcp, other) * 1_000,
    registry,
    stats,
    clock,
    loggers,
  });
  const healthChecks = wireHealthChecks({
    services,
    isSynced: () => controller.isSynced,
    clock,
    random,
    loggers,
  });
  const idReleaser = new IdReleaser({
    nodeName: label,
    cluster,
    clock,
    random,
    log: loggers.get('nodesync'),
  });
  const nodeConfigStatus = wireNodeConfigStatus({
    nodeName: label,
    cluster,
    gate,
    conf,
    isConfigured: () => controller.isSynced,
    interfaceFaults: (name) => interfaceFaults(scheduler, name),
    clock,
    random,
    log: loggers.get('contivconf'),
  });
  const enforcement = new NodeEnforcementReader({
    policies: plugins.policies,
    kubeState: () => controller.kubeState,
    isSynced: () => controller.isSynced,
    unapplied: () => controller.unapplied,
    isSettled: () => controller.isIdle && scheduler.load.isIdle,
    failedValues: () => scheduler.failedValues(),
  });
  const enforcementRecord = enforcementPublisher({
    nodeName: label,
    cluster,
    read: () => enforcement.read(),
    clock,
    random,
    log: loggers.get('policy'),
  });
  return {
    healthChecks,
    components: [
      leaseWatch,
      hostAddresses,
      ...wireguard,
      idleSessions,
      healthChecks.component,
      ...(isShared ? [idReleaser.component, nodeConfigStatus, enforcementRecord] : []),
    ],
    routes: [enforcementRoute(enforcement)],
  };
}
