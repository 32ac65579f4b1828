import type { KvStore } from '#datastore/api.ts';
import type { ContivConfApi } from '#plugins/contivconf/api.ts';
import type { EventHandler } from '#plugins/controller/api/event-handler.ts';
import type { HostPort } from '#plugins/controller/api/ports/host.ts';
import type { VppPort } from '#plugins/controller/api/ports/vpp.ts';
import type { IpamApi } from '#plugins/ipam/api.ts';
import type { Ipv4NetApi } from '#plugins/ipv4net/api.ts';
import type { NodeSyncApi } from '#plugins/nodesync/api.ts';
import type { PodManagerApi } from '#plugins/podmanager/api.ts';
import type { PolicyApi } from '#plugins/policy/api.ts';
import type { ServiceApi } from '#plugins/service/api.ts';

/**
 * The parts of an agent that a plugin reads. The state of the handlers is that after the current event, because they come
 * first. Calls of `vpp`, `host` and the stores belong into `callPort` of the context, so that a recording contains
 * their results.
 */
export interface PluginHost {
  /** Of the node in Kubernetes. */
  readonly nodeName: string;
  /** `options` of the module in plugins.conf. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly conf: ContivConfApi;
  readonly nodes: NodeSyncApi;
  readonly pods: PodManagerApi;
  readonly ipam: IpamApi;
  readonly net: Ipv4NetApi;
  readonly services: ServiceApi;
  readonly policies: PolicyApi;
  readonly vpp: VppPort;
  readonly host: HostPort;
  /** The store that all nodes share. */
  readonly cluster: KvStore;
  /** The store of this node. */
  readonly local: KvStore;
}

/**
 * The default export of a module of plugins.conf.
 * @throws what stops the start of the agent
 */
export type MakePlugin = (host: PluginHost) => EventHandler | readonly EventHandler[];

/** A module of plugins.conf. */
export interface PluginModule {
  readonly path: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly make: MakePlugin;
}
