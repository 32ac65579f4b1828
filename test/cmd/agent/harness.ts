import { join } from 'node:path';
import { type Agent, createAgent } from '#cmd/agent/agent.ts';
import type { Environment } from '#cmd/agent/environment.ts';
import { parseFlags } from '#cmd/agent/flags.ts';
import { readSettings, type Settings } from '#cmd/agent/settings.ts';
import type { KvStore } from '#datastore/api.ts';
import { addressIn, CniClient } from '#demonstration/cni-client.ts';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { Loggers } from '#infra/log/loggers.ts';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import type { CNIReply } from '#models/cni/cni.gen.ts';
import type { ExternalConfigSource } from '#plugins/controller/api/events.ts';
import { SimLinux } from '#simulator/linux/linux.ts';
import { SimVpp } from '#simulator/vpp/vpp.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { temporaryFolder } from '#test/support/temporary-folder.ts';
import { type KeyFile, keysInMemory } from '#vpp/wireguard/key-file.ts';

/** A node without its agent: the state that survives a restart of the agent. */
export interface Node {
  readonly cluster: KvStore;
  readonly local: KvStore;
  readonly mirror: KvStore;
  /** External configuration of gRPC clients; undefined: they are not served. */
  readonly external?: KvStore;
  readonly linux: SimLinux;
  readonly vpp: SimVpp;
}

export function makeNode(): Node {
  const linux = new SimLinux(systemRandom);
  const vpp = new SimVpp({
    host: linux,
    clock: systemClock,
    random: systemRandom,
    log: silentLogger,
  });
  return {
    cluster: new MemoryStore(),
    local: new MemoryStore(),
    mirror: new MemoryStore(),
    linux,
    vpp,
  };
}

export interface RunningAgent extends AsyncDisposable {
  readonly node: Node;
  readonly agent: Agent;
  readonly client: CniClient;
  /** Local socket of the REST server, for mutating routes. */
  readonly localSocket: string;
  /** Of the CNI service. */
  readonly socket: string;
  readonly loggers: Loggers;
  readonly printed: string[];
  readonly logged: Record<string, unknown>[];
  get(path: string): Promise<{ status: number; body: unknown }>;
  stop(): Promise<void>;
}

export interface AgentOptions {
  /** Stores and southbound as this agent sees them; default: those of the node. */
  readonly environment?: Pick<Environment, 'cluster' | 'local' | 'linux' | 'connectVpp'> &
    Partial<
      Pick<
        Environment,
        | 'localDisk'
        | 'mirror'
        | 'mirrorFault'
        | 'vppStatistics'
        | 'external'
        | 'externalDisk'
        | 'socketTable'
        | 'socketFault'
        | 'flowSource'
        | 'flowFault'
        | 'agentAddress'
      >
    >;
  readonly contiv?: Partial<Settings['contiv']>;
  readonly controller?: Partial<Settings['controller']>;
  readonly service?: Partial<Settings['service']>;
  readonly kvscheduler?: Partial<Settings['kvscheduler']>;
  readonly ipam?: Partial<Settings['contiv']['ipamConfig']>;
  readonly http?: Partial<Settings['http']>;
  readonly kafka?: Settings['kafka'];
  /** Serves external configuration; needs `external` of the node. */
  readonly grpc2?: Settings['grpc2'];
  /** Name of the node; default: node1. */
  readonly label?: string;
  readonly externalSources?: readonly ExternalConfigSource[];
  /** Environment variables. */
  readonly env?: Settings['env'];
  /** The agent waits for something before its startup resync. */
  readonly waits?: boolean;
  /** Of all loggers; default: info. */
  readonly logLevel?: 'debug';
  /** Default: keys that end with the agent. */
  readonly keyFile?: KeyFile;
}

/** An agent in this process on simulated VPP and Linux that is not started yet. */
export function prepareAgent(node: Node, options: AgentOptions = {}) {
  const folder = temporaryFolder('agent');
  const { label = 'node1' } = options;
  const base = readSettings(
    parseFlags(['--embedded', '--config-dir', folder, '--microservice-label', label], {}),
    options.env ?? {},
  );
  const settings: Settings = {
    ...base,
    contiv: {
      ...base.contiv,
      ...options.contiv,
      ipamConfig: { ...base.contiv.ipamConfig, ...options.ipam },
    },
    controller: { ...base.controller, ...options.controller },
    service: { ...base.service, ...options.service },
    kvscheduler: { ...base.kvscheduler, ...options.kvscheduler },
    kafka: options.kafka,
    grpc2: options.grpc2,
    http: {
      ...base.http,
      ...options.http,
      endpoint: '127.0.0.1:0',
      'local-socket': join(folder, 'agent.sock'),
    },
    grpc: { ...base.grpc, endpoint: join(folder, 'cni.sock') },
  };
  const printed: string[] = [];
  const logged: Record<string, unknown>[] = [];
  const loggers = new Loggers(
    { 'default-level': options.logLevel ?? 'info', loggers: [] },
    undefined,
    { write: (line: string) => void logged.push(JSON.parse(line)) },
  );
  const agent = createAgent({
    settings,
    environment: {
      mirror: node.mirror,
      localDisk: undefined,
      vppStatistics: node.vpp.statistics,
      vppNamespaces: node.vpp.namespaces,
      mirrorDisk: undefined,
      ...(options.environment ?? { ...node, connectVpp: node.vpp.connect() }),
      addNamespace: (path) => node.linux.addNamespace(path),
      prepareHost: async () => ({ ipv6: true }),
      keyFile: options.keyFile ?? keysInMemory(),
      close: async () => undefined,
    },
    clock: systemClock,
    random: systemRandom,
    loggers,
    build: { version: 'v0', date: '', commit: '' },
    print: (text) => printed.push(text),
    ...(options.externalSources && { externalSources: options.externalSources }),
  });
  return { agent, settings, loggers, printed, logged };
}

/** The whole agent, behind its real sockets. */
export async function startAgent(node: Node, options: AgentOptions = {}): Promise<RunningAgent> {
  const { agent, settings, loggers, printed, logged } = prepareAgent(node, options);
  await agent.start();
  // The startup resync runs after the start; it configures the node.
  if (!options.waits) await until(() => agent.controller.history.records.length > 0);
  const client = new CniClient(settings.grpc.endpoint);
  const stop = async () => {
    client.close();
    await agent.stop();
  };
  return {
    node,
    agent,
    client,
    localSocket: settings.http['local-socket'],
    socket: settings.grpc.endpoint,
    loggers,
    printed,
    logged,
    get: async (path) => {
      const response = await fetch(`http://127.0.0.1:${agent.port}${path}`);
      return { status: response.status, body: await response.json().catch(() => undefined) };
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

export interface TestPod {
  readonly name: string;
  readonly namespace?: string;
  readonly containerId: string;
  readonly netns: string;
}

export function cniRequest(pod: TestPod) {
  return {
    container_id: pod.containerId,
    network_namespace: pod.netns,
    interface_name: 'eth0',
    extra_arguments: `K8S_POD_NAME=${pod.name};K8S_POD_NAMESPACE=${pod.namespace ?? 'default'}`,
  };
}

export async function addPod(running: RunningAgent, pod: TestPod): Promise<CNIReply> {
  running.node.linux.addNamespace(pod.netns);
  return running.client.add(cniRequest(pod));
}

/** First address of a reply, without prefix length. */
export function replyAddress(reply: CNIReply): string {
  return addressIn(reply) ?? '';
}

/** Writes the record of a pod as the reflector does. */
export async function reflectPod(node: Node, pod: TestPod, address: string): Promise<void> {
  const { model } = resources.pod;
  const value = model.canonical({
    name: pod.name,
    namespace: pod.namespace ?? 'default',
    ip_address: address,
  });
  await node.cluster.put(REFLECTOR_PREFIX + model.key(value), valueText(resources.pod, value));
}

export async function unreflectPod(node: Node, pod: TestPod): Promise<void> {
  const key = resources.pod.key(pod.name, pod.namespace ?? 'default');
  await node.cluster.delete(REFLECTOR_PREFIX + key);
}

/** Polls until the condition holds; the test's own time limit ends it otherwise. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await systemClock.sleep(5);
}
