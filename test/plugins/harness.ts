/**
 * A node without its surroundings: the event handlers in their order, run one event at a time as the
 * controller does it, over stores in memory. What the last transaction of every key wanted is the
 * configuration.
 */
import type { KvStore } from '#datastore/api.ts';
import { FaultyStore } from '#datastore/faulty.ts';
import { MemoryStore } from '#datastore/memory.ts';
import { AbortEventError, FatalError } from '#eventloop/errors.ts';
import {
  Direction,
  type Event,
  EventMethod,
  type NonBlockingEvent,
  TransactionType,
} from '#eventloop/event.ts';
import type { EventHandler, EventLoop } from '#eventloop/handler.ts';
import type { UpdateTransaction, Value } from '#eventloop/transaction.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { parseConfig } from '#infra/config/load.ts';
import { silentLogger } from '#infra/log/log.ts';
import { nodeModel } from '#models/kube/node.ts';
import { podModel } from '#models/kube/pod.ts';
import { vppNodeModel } from '#models/kube/vppnode.ts';
import type { HostLink, HostView } from '#nodeview/host.ts';
import type { StnView, StolenInterface } from '#nodeview/stn.ts';
import type { DhcpLease, VppInterfaceInfo, VppView } from '#nodeview/vpp.ts';
import { type ContivConfig, contivConfigSchema } from '#plugins/contivconf/config.ts';
import { createContivConf } from '#plugins/contivconf/plugin.ts';
import { DbResync, HealingResync, KubeStateChange } from '#plugins/controller/api.ts';
import type { IpamApi } from '#plugins/ipam/api.ts';
import { createIpam, type IpamDeps } from '#plugins/ipam/plugin.ts';
import { createIpv4Net } from '#plugins/ipv4net/plugin.ts';
import { createNodeSync } from '#plugins/nodesync/plugin.ts';
import { AddPod, type AddPodReply, DeletePod } from '#plugins/podmanager/api.ts';
import { createPodManager } from '#plugins/podmanager/plugin.ts';
import type { CniState } from '#plugins/podmanager/service.ts';
import { resources } from '#resources/resources.ts';

export type Keyword = keyof typeof resources;

/** A transaction in memory. */
export class MemoryTxn implements UpdateTransaction {
  /** null: to be deleted. */
  readonly values = new Map<string, Value | null>();

  put(key: string, value: Value): void {
    this.values.set(key, value);
  }

  get<V extends Value = Value>(key: string): V | undefined {
    return (this.values.get(key) as V | null | undefined) ?? undefined;
  }

  delete(key: string): void {
    this.values.set(key, null);
  }
}

/** The agent around a CNI service that nobody asks for its state. */
export const idleState: CniState = {
  readiness: () => ({ ready: true, limited: false, reason: '' }),
  podCidr: () => undefined,
  addresses: () => [],
  faults: () => [],
};

/** What became of an event. */
export interface Outcome {
  readonly txn: MemoryTxn;
  readonly replies: readonly unknown[];
  readonly changes: readonly string[];
  readonly questions: readonly string[];
  /** In the order in which they were sent; they have been run by now. */
  readonly followUps: readonly NonBlockingEvent[];
  readonly error: Error | undefined;
  /** What went wrong while it was reverted. */
  readonly reverts: readonly Error[];
}

/** Runs events through handlers the way the controller does. */
export class Bench {
  readonly handlers: readonly EventHandler[];
  readonly kubeState = new Map<string, Map<string, Value>>();
  /** What has been committed, by key. */
  config = new Map<string, Value>();
  /** Whether the southbound refuses a transaction. */
  refuses: (values: ReadonlyMap<string, Value | null>) => boolean = () => false;
  resyncCount = 0;
  clock: Clock = new ManualClock();

  constructor(handlers: readonly EventHandler[]) {
    this.handlers = handlers;
  }

  /** @throws nothing: errors are in the outcome */
  async run(event: Event): Promise<Outcome> {
    this.#takeIn(event);
    const method = event.kind.method(event.payload);
    const update = method === EventMethod.Update;
    if (!update) this.resyncCount++;
    const reverting =
      update && event.kind.transactionType(event.payload) === TransactionType.RevertOnFailure;
    const handlers = this.handlers.filter((handler) => handler.handlesEvent(event));
    if (update && event.kind.direction(event.payload) === Direction.Reverse) handlers.reverse();

    const txn = new MemoryTxn();
    const followUps: NonBlockingEvent[] = [];
    const questions: string[] = [];
    const replies: unknown[] = [];
    const changes: string[] = [];
    const done: EventHandler[] = [];
    const reverts: Error[] = [];
    let error: Error | undefined;
    let blocked = false;
    const ctx = {
      event,
      kubeState: this.kubeState,
      clock: this.clock,
      random: seededRandom(1),
      log: silentLogger,
      signal: new AbortController().signal,
      txn,
      resyncCount: this.resyncCount,
      replies,
      followUp: (one: NonBlockingEvent) => void followUps.push(one),
      ask: async <T>(question: string, port: () => Promise<T> | T): Promise<T> => {
        questions.push(question);
        const answer = await port();
        // what is recorded is JSON: an answer that is none would be another one at a replay
        return answer === undefined ? answer : (JSON.parse(JSON.stringify(answer)) as T);
      },
    };
    for (const handler of handlers) {
      try {
        if (update) {
          const result = (await handler.update(ctx)) ?? {};
          if (result.reply !== undefined) replies.push(result.reply);
          if (result.change !== undefined) changes.push(`${handler.name}: ${result.change}`);
        } else await handler.resync(ctx);
        done.push(handler);
      } catch (thrown) {
        error ??= thrown as Error;
        blocked = reverting || thrown instanceof FatalError || thrown instanceof AbortEventError;
        if (blocked) break;
        done.push(handler);
      }
    }
    if (!blocked && this.refuses(txn.values)) {
      error ??= new Error('the southbound refuses');
      blocked = reverting;
    }
    if (error && reverting)
      for (const handler of done.reverse())
        await Promise.resolve(handler.revert(ctx)).catch((thrown: Error) => reverts.push(thrown));
    if (!blocked) this.#commit(txn, update);
    const outcome = { txn, replies, changes, questions, followUps, error, reverts };
    for (const followUp of followUps) await this.run(followUp);
    return outcome;
  }

  #commit(txn: MemoryTxn, update: boolean): void {
    if (!update) this.config = new Map();
    for (const [key, value] of txn.values)
      if (value === null) this.config.delete(key);
      else this.config.set(key, value);
  }

  #takeIn(event: Event): void {
    if (DbResync.is(event)) {
      this.kubeState.clear();
      for (const [keyword, values] of Object.entries(event.payload.kubeState))
        this.kubeState.set(keyword, new Map(Object.entries(values)));
    } else if (KubeStateChange.is(event)) {
      const { resource, key, current } = event.payload;
      const values = this.kubeState.get(resource) ?? new Map<string, Value>();
      this.kubeState.set(resource, values);
      if (current) values.set(key, current);
      else values.delete(key);
    }
  }
}

/** A queue of one after the other in front of a bench, for producers of blocking events. */
export function loopOf(bench: Bench): EventLoop & { readonly seen: Event[] } {
  const seen: Event[] = [];
  let last: Promise<unknown> = Promise.resolve();
  const enqueue = (event: Event, signal?: AbortSignal): Promise<Outcome> => {
    const run = last.then(() => {
      signal?.throwIfAborted();
      seen.push(event);
      return bench.run(event);
    });
    last = run.catch(() => undefined);
    return run;
  };
  return {
    seen,
    push: (event) => void enqueue(event),
    pushAndWait: async <P, R>(event: Event<P, R>, signal?: AbortSignal): Promise<R[]> => {
      const { error, replies } = await enqueue(event as Event, signal);
      if (error) throw error;
      return [...replies] as R[];
    },
  };
}

export class FakeHost implements HostView {
  boot = 'boot-1';
  hostLinks: HostLink[] = [{ name: 'eth0', mtu: 1500, addresses: ['172.16.0.5/24'] }];
  ipv6 = false;
  /** Namespaces in which IPv6 was switched on. */
  readonly withIpv6: string[] = [];
  /** Path to inode; a path that is not there leads nowhere. */
  readonly namespaces = new Map<string, number>();
  failing: Error | undefined;

  async links(): Promise<readonly HostLink[]> {
    if (this.failing) throw this.failing;
    return this.hostLinks;
  }

  async hasIpv6(): Promise<boolean> {
    return this.ipv6;
  }

  async enableIpv6(path: string): Promise<void> {
    if (path.endsWith('bad')) throw new Error('no such sysctl');
    this.withIpv6.push(path);
  }

  async bootId(): Promise<string> {
    return this.boot;
  }

  async namespaceIdentity(path: string) {
    const inode = this.namespaces.get(path);
    return inode === undefined ? undefined : { device: 4, inode };
  }
}

export class FakeVpp implements VppView {
  nics: VppInterfaceInfo[] = [];
  dhcp: DhcpLease[] = [];
  traces = 0;
  failing: Error | undefined;

  async interfaces(): Promise<readonly VppInterfaceInfo[]> {
    if (this.failing) throw this.failing;
    return this.nics;
  }

  async tracePackets(): Promise<readonly string[]> {
    if (this.failing) throw this.failing;
    this.traces++;
    return [];
  }

  async leases(): Promise<readonly DhcpLease[]> {
    if (this.failing) throw this.failing;
    return this.dhcp;
  }
}

export class FakeStn implements StnView {
  /** By the name of the NIC; empty stands for the first one. */
  readonly stolen = new Map<string, StolenInterface>();
  readonly asked: string[] = [];

  async stolenInterface(name: string): Promise<StolenInterface> {
    this.asked.push(name);
    const found = this.stolen.get(name);
    if (!found) throw new Error(`${name} is not stolen`);
    return found;
  }
}

export function contivConfig(yaml = ''): ContivConfig {
  return parseConfig(contivConfigSchema, yaml, 'contiv.conf').value;
}

export type MakeIpam = (deps: IpamDeps) => EventHandler & IpamApi;

export interface TestNodeOptions {
  readonly name?: string;
  readonly yaml?: string;
  /** Shared by the nodes of a test. */
  readonly cluster?: KvStore;
  readonly local?: KvStore;
  readonly host?: FakeHost;
  readonly vpp?: FakeVpp;
  readonly stn?: FakeStn;
  /** Default: the one that agents have; another one has no more than its api.ts asks for. */
  readonly createIpam?: MakeIpam;
}

const defaultYaml = 'ipamConfig:\n  nodeInterconnectCIDR: 192.168.16.0/24\n';

/** The five core handlers of one run of an agent; stores and host outlive it. */
export class TestNode extends Bench {
  readonly name: string;
  readonly options: TestNodeOptions;
  readonly cluster: FaultyStore;
  readonly local: FaultyStore;
  readonly clusterBelow: KvStore;
  readonly localBelow: KvStore;
  readonly host: FakeHost;
  readonly vpp: FakeVpp;
  readonly stn: FakeStn;
  readonly conf;
  readonly nodes;
  readonly pods;
  readonly ipam;
  readonly net;

  constructor(options: TestNodeOptions = {}) {
    const name = options.name ?? 'node-a';
    const clusterBelow = options.cluster ?? new MemoryStore();
    const localBelow = options.local ?? new MemoryStore();
    const cluster = new FaultyStore(clusterBelow);
    const local = new FaultyStore(localBelow);
    const host = options.host ?? new FakeHost();
    const vpp = options.vpp ?? new FakeVpp();
    const stn = options.stn ?? new FakeStn();
    const config = contivConfig(options.yaml ?? defaultYaml);
    const conf = createContivConf({ nodeName: name, config, vpp, stn });
    const nodes = createNodeSync({ nodeName: name, cluster, local, conf });
    const pods = createPodManager({ store: local, host });
    const makeIpam = (options.createIpam ?? createIpam) as typeof createIpam;
    const ipam = makeIpam({ conf, nodes, pods, store: local });
    const net = createIpv4Net({ nodeName: name, conf, nodes, pods, ipam, host, vpp });
    super([conf, nodes, pods, ipam, net]);
    this.name = name;
    this.options = options;
    this.cluster = cluster;
    this.local = local;
    this.clusterBelow = clusterBelow;
    this.localBelow = localBelow;
    this.host = host;
    this.vpp = vpp;
    this.stn = stn;
    this.conf = conf;
    this.nodes = nodes;
    this.pods = pods;
    this.ipam = ipam;
    this.net = net;
  }

  /** The next run of the agent on the same machine. */
  restart(change: TestNodeOptions = {}): TestNode {
    return new TestNode({
      ...this.options,
      name: this.name,
      cluster: this.clusterBelow,
      local: this.localBelow,
      host: this.host,
      vpp: this.vpp,
      stn: this.stn,
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
