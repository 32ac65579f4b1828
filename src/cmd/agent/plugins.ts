/** The event handlers, wired to each other: the same for a running agent and for a replay. */
import type { KvStore } from '#datastore/api.ts';
import type { DiskStore } from '#datastore/disk-store.ts';
import type { ContivConfApi } from '#plugins/contivconf/api.ts';
import type { ContivConfig } from '#plugins/contivconf/config.ts';
import { createContivConf } from '#plugins/contivconf/plugin.ts';
import type { DesiredValues } from '#plugins/controller/api/desired-values.ts';
import type { EventHandler } from '#plugins/controller/api/event-handler.ts';
import type { HostPort } from '#plugins/controller/api/ports/host.ts';
import type { StnPort } from '#plugins/controller/api/ports/stn.ts';
import type { VppPort } from '#plugins/controller/api/ports/vpp.ts';
import type { WireguardSessionPort } from '#plugins/controller/api/ports/wireguard.ts';
import type { OwnKeysPort } from '#plugins/controller/api/ports/wireguard-keys.ts';
import type { FlowProbeApi } from '#plugins/flowprobe/api.ts';
import { createFlowProbe } from '#plugins/flowprobe/plugin.ts';
import { type IpamApi, podAddressOwner } from '#plugins/ipam/api.ts';
import { createIpam, type IpamDeps } from '#plugins/ipam/plugin.ts';
import type { Ipv4NetApi } from '#plugins/ipv4net/api.ts';
import { podLinkNaming } from '#plugins/ipv4net/link-naming.ts';
import { createIpv4Net } from '#plugins/ipv4net/plugin.ts';
import { createNodeSync, type NodeSyncHandler } from '#plugins/nodesync/plugin.ts';
import { createPodManager, type PodManager } from '#plugins/podmanager/plugin.ts';
import type { PolicyApi } from '#plugins/policy/api.ts';
import { createPolicy } from '#plugins/policy/plugin.ts';
import type { ServiceApi } from '#plugins/service/api.ts';
import type { ServiceConfig } from '#plugins/service/config.ts';
import { createService } from '#plugins/service/plugin.ts';
import { createStatsCollector, type StatsCollector } from '#plugins/statscollector/plugin.ts';
import { handlersOf } from './plugin-modules/handlers-of.ts';
import type { PluginModule } from './plugin-modules/plugin-host.ts';

/** The configuration files of the handlers. */
export interface PluginSettings {
  readonly contiv: ContivConfig;
  readonly service: ServiceConfig;
  /** Of etcd; absent: there is none. */
  readonly etcdEndpoints?: readonly string[] | undefined;
  /** Whether flows are recorded; default: false. */
  readonly recordsFlows?: boolean | undefined;
}

/** The inputs of the handlers, besides their events and the clock. */
export interface Ports {
  /** The store that all nodes share. */
  readonly cluster: KvStore;
  /** The store of this node. */
  readonly local: KvStore;
  /** Loss of the local store; undefined: it is in memory. */
  readonly localDisk: Pick<DiskStore, 'loss' | 'resolveLoss'> | undefined;
  readonly vpp: VppPort;
  readonly host: HostPort;
  readonly stn: StnPort;
  readonly ownKeys: OwnKeysPort;
  readonly sessions: Pick<WireguardSessionPort, 'read'>;
  /** The desired values of the handlers by group. */
  readonly desired: DesiredValues;
}

export interface Plugins {
  /** In the order in which they handle an event: each may use those before it, none after it. */
  readonly handlers: readonly EventHandler[];
  readonly conf: EventHandler & ContivConfApi;
  readonly nodes: NodeSyncHandler;
  readonly pods: PodManager;
  readonly ipam: EventHandler & IpamApi;
  readonly ipv4net: EventHandler & Ipv4NetApi;
  readonly services: EventHandler & ServiceApi;
  readonly policies: EventHandler & PolicyApi;
  readonly flowProbe: EventHandler & FlowProbeApi;
  readonly stats: StatsCollector;
}

/** An IPAM of one's own takes the place of that of the agent. */
export type MakeIpam = (deps: IpamDeps) => EventHandler & IpamApi;

export interface Extensions {
  readonly makeIpam?: MakeIpam | undefined;
  /** Their handlers follow all others. */
  readonly modules?: readonly PluginModule[] | undefined;
}

export function createPlugins(
  nodeName: string,
  settings: PluginSettings,
  ports: Ports,
  { makeIpam = createIpam, modules = [] }: Extensions = {},
): Plugins {
  const { cluster, local, localDisk, vpp, host, stn, ownKeys, sessions, desired } = ports;
  const conf = createContivConf({
    nodeName,
    config: settings.contiv,
    vpp,
    stn,
    host,
    store: local,
  });
  const nodes = createNodeSync({ nodeName, conf, cluster, local, host });
  const pods = createPodManager({
    store: local,
    host,
    vpp,
    naming: podLinkNaming,
    isLocalAddress: (address) => podAddressOwner(conf.ipam())(address) === nodes.thisNode().id,
    disk: localDisk,
  });
  const ipam = makeIpam({ conf, nodes, pods, store: local });
  const ipv4net = createIpv4Net({
    nodeName,
    conf,
    nodes,
    pods,
    ipam,
    host,
    vpp,
    ownKeys,
    sessions,
    desired,
  });
  const config = settings.service;
  const services = createService({
    nodeName,
    etcdEndpoints: settings.etcdEndpoints ?? [],
    config,
    conf,
    nodes,
    pods,
    ipam,
    net: ipv4net,
    desired,
    host,
    vpp,
  });
  const policies = createPolicy({
    nodeName,
    conf,
    nodes,
    pods,
    ipam,
    net: ipv4net,
    services,
    desired,
    host,
    vpp,
  });
  const flowProbe = createFlowProbe({
    isOn: settings.recordsFlows ?? false,
    net: ipv4net,
    vpp,
    desired,
  });
  const stats = createStatsCollector({ nodeName, net: ipv4net });
  const apis = { conf, nodes, pods, ipam, net: ipv4net, services, policies };
  const own = [conf, nodes, pods, ipam, ipv4net, services, policies, flowProbe, stats];
  const added = handlersOf(modules, { nodeName, ...apis, vpp, host, cluster, local }, own);
  return {
    handlers: [...own, ...added],
    conf,
    nodes,
    pods,
    ipam,
    ipv4net,
    services,
    policies,
    flowProbe,
    stats,
  };
}
