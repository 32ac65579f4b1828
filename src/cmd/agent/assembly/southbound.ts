/** VPP and Linux. */
import type { Component } from '#infra/process/lifecycle.ts';
import { type WiredLinux, wireLinux } from '#linux/wire-linux.ts';
import { podFamilies } from '#plugins/contivconf/api.ts';
import type { EventRecord } from '#plugins/controller/event-record.ts';
import { isAgentKey } from '#plugins/ipv4net/agent-keys.ts';
import { podLinkNaming } from '#plugins/ipv4net/link-naming.ts';
import { type WiredVpp, wireVpp } from '#vpp/wire-vpp.ts';
import { OwnKeyStore } from '#vpp/wireguard/own-keys.ts';
import { queueBalance } from '#vpp/workers/queue-balance.ts';
import { lostPartsProblem } from '../lost-parts.ts';
import { ResyncedTable } from '../resynced-table.ts';
import { registerSocketServicesMetrics } from '../socket-services-metrics.ts';
import type { AgentPart, PartDeps } from './agent-part.ts';
import type { NodeStores } from './node-stores.ts';

export interface Southbound extends AgentPart {
  readonly vpp: WiredVpp;
  readonly linux: WiredLinux;
  readonly ownKeys: OwnKeyStore;
  /** Waits until VPP is connected. */
  readonly connection: Component;
  /** Start after the connection: without VPP nothing is changed on the machine. */
  readonly connected: readonly Component[];
  /** To be called after each event. */
  readonly onProcessed: (record: EventRecord) => void;
}

export function southbound(deps: PartDeps, stores: NodeStores): Southbound {
  const { settings, environment, status, registry, clock, random, loggers } = deps;
  const { label, contiv } = settings;
  const linux = wireLinux({
    host: environment.linux,
    socketTable: environment.socketTable,
    prepare: () =>
      environment.prepareHost({ tap: contiv.useTAPInterfaces, families: podFamilies(contiv) }),
    label,
    log: loggers.get('linux'),
  });
  const ownKeys = new OwnKeyStore({
    node: label,
    file: environment.keyFile,
    clock,
    random,
    log: loggers.get('wireguard'),
  });
  const vpp = wireVpp({
    config: settings.govpp,
    connect: environment.connectVpp,
    telemetry: settings.telemetry,
    statistics: environment.vppStatistics,
    namespaces: environment.vppNamespaces,
    label,
    lostTapLinks: linux.lostTapLinks,
    tapLinks: linux.tapLinks,
    wireguardKeys: ownKeys,
    store: stores.local,
    isAgentKey,
    status,
    registry,
    clock,
    random,
    log: loggers.get('vpp'),
  });
  const balance = queueBalance({
    client: vpp.client,
    statistics: vpp.statistics,
    isPodLink: (tag) => podLinkNaming.ofVppInterface(tag) !== undefined,
    clock,
    random,
    log: loggers.get('vpp'),
  });
  const { socketTable, socketFault } = environment;
  const resynced =
    socketTable && new ResyncedTable({ table: socketTable, log: loggers.get('linux') });
  if (resynced || socketFault !== undefined)
    status.registerProblem(
      'socket-services',
      'none',
      () => resynced?.fault ?? socketFault ?? lostPartsProblem(socketTable),
    );
  registerSocketServicesMetrics(registry, environment);
  return {
    vpp,
    linux,
    ownKeys,
    components: [vpp.component],
    connection: vpp.connection,
    connected: [linux.component, vpp.telemetry, balance],
    routes: vpp.routes,
    onProcessed: (record) => void resynced?.observe(record),
  };
}
