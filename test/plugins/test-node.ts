/**
 * A node with the core event handlers on a `HandlerBench`, with stores in memory and fake ports. Its
 * configuration is the sum of the committed transactions.
 */
import { createPlugins, type MakeIpam } from '#cmd/agent/plugins.ts';
import type { KvStore } from '#datastore/api.ts';
import { parseConfig } from '#infra/config/load.ts';
import { nodeModel } from '#kubernetes/models/node.ts';
import { podModel } from '#kubernetes/models/pod.ts';
import { vppNodeModel } from '#kubernetes/models/vpp-node.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import { type ContivConfig, contivConfigSchema } from '#plugins/contivconf/config.ts';
import { AbortEventError } from '#plugins/controller/api/errors.ts';
import type { Event } from '#plugins/controller/api/event.ts';
import type { EventHandler } from '#plugins/controller/api/event-handler.ts';
import { DbResync, HealingResync, KubeStateChange } from '#plugins/controller/api/events.ts';
import { DesiredState } from '#plugins/controller/desired-state.ts';
import { AddPod, type AddPodReply, DeletePod } from '#plugins/podmanager/api.ts';
import type { CniState } from '#plugins/podmanager/cni-service.ts';
import type { PodManagerDeps } from '#plugins/podmanager/plugin.ts';
import { type ServiceConfig, serviceDefaults } from '#plugins/service/config.ts';
import { FaultInjectingStore } from '#test/support/fault-injecting-store.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import type { OwnKeyStore } from '#vpp/wireguard/own-keys.ts';
import { FakeHost, FakeStn, FakeVpp } from './fake-ports.ts';
import { HandlerBench, type Outcome } from './handler-bench.ts';
import { TestSessions, testKeys } from './test-keys.ts';

export type Keyword = keyof typeof resources;

/** State of an agent that is ready and has no addresses. */
export const idleCniState: CniState = {
  readiness: () => ({ ready: true, limited: false, reason: '' }),
  startBlocked: () => undefined,
  podCidr: () => undefined,
  addresses: () => [],
  faults: async () => [],
  namespaceIdentity: async () => undefined,
};

export function contivConfig(yaml = ''): ContivConfig {
  return parseConfig(contivConfigSchema, yaml, 'contiv.conf').value;
}

export interface TestNodeOptions {
  readonly etcdEndpoints?: readonly string[];
  readonly name?: string;
  readonly yaml?: string;
  /** Shared by the nodes of a test. */
  readonly cluster?: KvStore;
  readonly local?: KvStore;
  readonly host?: FakeHost;
  readonly vpp?: FakeVpp;
  readonly stn?: FakeStn;
  /** Default: those of its name. */
  readonly ownKeys?: OwnKeyStore;
  /** Default: none. */
  readonly sessions?: TestSessions;
  /** Loss of the local store. */
  readonly disk?: PodManagerDeps['disk'];
  /** Default: the IPAM of the agent; another one implements its api.ts. */
  readonly createIpam?: MakeIpam;
  /** Settings of services that differ from the defaults. */
  readonly service?: Partial<ServiceConfig>;
  /** Default: no. */
  readonly recordsFlows?: boolean;
}

const DEFAULT_YAML = 'ipamConfig:\n  nodeInterconnectCIDR: 192.168.16.0/24\n';

/** The event handlers of one agent process; stores and host persist across restarts. */
export class TestNode extends HandlerBench {
  readonly name: string;
  readonly options: TestNodeOptions;
  readonly cluster: FaultInjectingStore;
  readonly local: FaultInjectingStore;
  readonly clusterStore: KvStore;
  readonly localStore: KvStore;
  readonly host: FakeHost;
  readonly vpp: FakeVpp;
  readonly stn: FakeStn;
  readonly ownKeys: OwnKeyStore;
  readonly sessions: TestSessions;
  readonly conf;
  readonly nodes;
  readonly pods;
  readonly ipam;
  readonly net;
  readonly services;
  readonly policies;
  readonly flowProbe;

  constructor(options: TestNodeOptions = {}) {
    const name = options.name ?? 'node-a';
    const clusterBelow = options.cluster ?? new MemoryStore();
    const localBelow = options.local ?? new MemoryStore();
    const cluster = new FaultInjectingStore(clusterBelow);
    const local = new FaultInjectingStore(localBelow);
    const host = options.host ?? new FakeHost();
    const vpp = options.vpp ?? new FakeVpp();
    const stn = options.stn ?? new FakeStn();
    const desired = new DesiredState();
    const settings = {
      contiv: contivConfig(options.yaml ?? DEFAULT_YAML),
      service: { ...serviceDefaults, ...options.service },
      etcdEndpoints: options.etcdEndpoints,
      recordsFlows: options.recordsFlows,
    };
    const ownKeys = options.ownKeys ?? testKeys(name);
    const sessions = options.sessions ?? new TestSessions();
    const ports = {
      cluster,
      local,
      localDisk: options.disk,
      vpp,
      host,
      stn,
      ownKeys,
      sessions,
      desired,
    };
    const plugins = createPlugins(name, settings, ports, {
      makeIpam: options.createIpam,
    });
    super(plugins.handlers, desired);
    this.name = name;
    this.options = options;
    this.cluster = cluster;
    this.local = local;
    this.clusterStore = clusterBelow;
    this.localStore = localBelow;
    this.host = host;
    this.vpp = vpp;
    this.stn = stn;
    this.ownKeys = ownKeys;
    this.sessions = sessions;
    this.conf = plugins.conf;
    this.nodes = plugins.nodes;
    this.pods = plugins.pods;
    this.ipam = plugins.ipam;
    this.net = plugins.ipv4net;
    this.services = plugins.services;
    this.policies = plugins.policies;
    this.flowProbe = plugins.flowProbe;
  }

  /** Restarts the agent on the same machine. */
  restart(change: TestNodeOptions = {}): TestNode {
    return new TestNode({
      ...this.options,
      name: this.name,
      cluster: this.clusterStore,
      local: this.localStore,
      host: this.host,
      vpp: this.vpp,
      stn: this.stn,
      ownKeys: this.ownKeys,
      sessions: this.sessions,
      ...change,
    });
  }

  /** A resync from the database; the kube state stays what it is unless given. */
  resync(state: readonly KubeValue[] = this.state(), local = false): Promise<Outcome> {
    const kubeState: Record<string, Record<string, object>> = {};
    for (const { resource, key, value } of state) {
      kubeState[resource] ??= {};
      kubeState[resource][key] = value;
    }
    return this.run(DbResync.event({ local, kubeState, externalConfig: {} }));
  }

  heal(): Promise<Outcome> {
    return this.run(HealingResync.event({ type: 'after-error', error: 'test' }));
  }

  /** Resyncs are aborted by one of the last handlers, or by another one. @returns ends that */
  abortResyncs(handler: object = this.policies): () => void {
    const { resync } = handler as EventHandler;
    const aborting = () => {
      throw new AbortEventError('test');
    };
    Object.assign(handler, { resync: aborting });
    return () => void Object.assign(handler, { resync });
  }

  /** The present kube state. */
  state(): KubeValue[] {
    return [...this.kubeState].flatMap(([resource, values]) =>
      [...values].map(([key, value]) => ({ resource: resource as Keyword, key, value })),
    );
  }

  /** A value of the kube state appears or changes. */
  put({ resource, key, value }: KubeValue): Promise<Outcome> {
    const previous = this.kubeState.get(resource)?.get(key);
    return this.run(KubeStateChange.event({ resource, key, previous, current: value }));
  }

  remove({ resource, key }: Pick<KubeValue, 'resource' | 'key'>): Promise<Outcome> {
    const previous = this.kubeState.get(resource)?.get(key);
    return this.run(KubeStateChange.event({ resource, key, previous, current: undefined }));
  }

  add(pod: string, containerId: string, interfaceName = 'eth0'): Promise<Outcome> {
    const path = `/run/netns/${containerId}`;
    if (!this.host.namespaces.has(path))
      this.host.namespaces.set(path, this.host.namespaces.size + 1);
    return this.run(
      AddPod.event({
        pod: { namespace: 'default', name: pod },
        containerId,
        interfaceName,
        networkNamespace: path,
        ipamType: '',
        ipamData: '',
      }) as Event,
    );
  }

  del(pod: string, containerId: string, interfaceName = 'eth0'): Promise<Outcome> {
    return this.run(
      DeletePod.event({ pod: { namespace: 'default', name: pod }, containerId, interfaceName }),
    );
  }

  /** The value under a key of the configuration. */
  at<V = Record<string, unknown>>(key: string): V {
    const value = this.config.get(key);
    if (!value) throw new Error(`nothing under ${key}; there is ${[...this.config.keys()].sort()}`);
    return value as V;
  }
}

/** The address that an Add Pod has answered, plain. */
export function addressOf(outcome: Outcome): string {
  if (outcome.error) throw outcome.error;
  const [reply] = outcome.replies as AddPodReply[];
  return reply!.interfaces![0]!.addresses[0]!.address.split('/')[0]!;
}

export interface KubeValue {
  readonly resource: Keyword;
  readonly key: string;
  readonly value: object;
}

export function podValue(name: string, address: string, hostAddress = '172.16.0.5'): KubeValue {
  const value = podModel.canonical({
    name,
    namespace: 'default',
    ip_address: address,
    host_ip_address: hostAddress,
  });
  return { resource: 'pod', key: resources.pod.key(name, 'default'), value };
}

export function nodeValue(name: string, ...addresses: string[]): KubeValue {
  const value = nodeModel.canonical({
    name,
    addresses: [
      { type: 'NodeHostName', address: name },
      ...addresses.map((address) => ({ type: 'NodeInternalIP' as const, address })),
    ],
  });
  return { resource: 'node', key: resources.node.key(name, ''), value };
}

export function vppNodeValue(id: number, name: string, ...addresses: string[]): KubeValue {
  const value = vppNodeModel.canonical({ id, name, ip_addresses: addresses });
  return { resource: 'vppnode', key: resources.vppnode.key(String(id), ''), value };
}

/** Keys and values of a configuration in the order of the keys. */
export function sorted(config: ReadonlyMap<string, Value>): [string, Value][] {
  return [...config].sort(([a], [b]) => (a < b ? -1 : 1));
}
