/**
 * A process with one agent on simulated VPP and Linux, a real etcd, and stores on disk. It attaches the pods of its
 * node, and reports on request what it has processed.
 */
import { join } from 'node:path';
import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { createAgent } from '#cmd/agent/agent.ts';
import { parseFlags } from '#cmd/agent/flags.ts';
import { readSettings } from '#cmd/agent/settings.ts';
import { EtcdStore } from '#datastore/etcd/store.ts';
import { LevelStore } from '#datastore/level-store.ts';
import { addressIn, CniClient } from '#demonstration/cni-client.ts';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { Loggers } from '#infra/log/loggers.ts';
import { Output } from '#infra/log/output.ts';
import { SimLinux } from '#simulator/linux/linux.ts';
import { SimVpp } from '#simulator/vpp/vpp.ts';
import { NIC, section } from '#test/cmd/agent/scenario.ts';
import { keysInMemory } from '#vpp/wireguard/key-file.ts';
import { largeIpam, nodeName, OWN_NODE, podAddress, podName, podsOf } from './large-records.ts';
import type {
  LargeAgentArgs,
  LargeAgentReady,
  LargeAgentReport,
  LargeAgentRequest,
} from './messages.ts';
import { OwnPods } from './own-pods.ts';

const TICK_MS = 10;
const START_POLL_MS = 100;
const STANDARD_OUTPUT = 1;

const { etcdPorts, folder }: LargeAgentArgs = JSON.parse(process.argv[2]!);
const label = nodeName(OWN_NODE);

const base = readSettings(
  parseFlags(['--embedded', '--config-dir', folder, '--microservice-label', label], {}),
  {},
);
const settings = {
  ...base,
  contiv: {
    ...base.contiv,
    nodeConfig: [{ ...section({}), nodeName: label }],
    ipamConfig: { ...base.contiv.ipamConfig, ...largeIpam },
  },
  http: { ...base.http, endpoint: '127.0.0.1:0', 'local-socket': join(folder, 'agent.sock') },
  grpc: { ...base.grpc, endpoint: join(folder, 'cni.sock') },
} as typeof base;
const output = new Output(STANDARD_OUTPUT, systemClock);
const loggers = new Loggers(settings.logs, undefined, output);
const linux = new SimLinux(systemRandom);
linux.addNic(NIC);
const vpp = new SimVpp({
  host: linux,
  clock: systemClock,
  random: systemRandom,
  log: loggers.get('sim-vpp'),
  keepsRequests: false,
});
const agent = createAgent({
  settings,
  environment: {
    cluster: new EtcdStore(
      { endpoints: etcdPorts.map((port) => `127.0.0.1:${port}`) },
      systemClock,
    ),
    local: await LevelStore.open({ folder: join(folder, 'local') }),
    mirror: await LevelStore.open({ folder: join(folder, 'mirror') }),
    localDisk: undefined,
    mirrorDisk: undefined,
    connectVpp: vpp.connect(),
    vppStatistics: vpp.statistics,
    vppNamespaces: vpp.namespaces,
    linux,
    keyFile: keysInMemory(),
    prepareHost: async () => ({ ipv6: true }),
    addNamespace: (path) => linux.addNamespace(path),
    close: async () => undefined,
  },
  clock: systemClock,
  random: systemRandom,
  loggers,
  build: { version: 'v0', date: '', commit: '' },
  print: (text) => output.write(text),
});
const { controller } = agent;

/** An agent whose start has failed stays, for its logs; the measurement must not wait for it. */
async function ensureAlive(): Promise<void> {
  const reply = await fetch(`http://127.0.0.1:${agent.port}/liveness`);
  const text = await reply.text();
  if (!reply.ok) throw new Error(`the agent has not started: ${text}`);
}

async function attachPods(): Promise<number> {
  const client = new CniClient(settings.grpc.endpoint);
  const pods = podsOf(OWN_NODE);
  for (const pod of pods) {
    const { name, namespace } = podName(pod);
    const netns = `/run/netns/${name}`;
    linux.addNamespace(netns);
    const reply = await client.add({
      container_id: pod.toString(16).padStart(8, '0').padEnd(64, '0'),
      network_namespace: netns,
      interface_name: 'eth0',
      extra_arguments: `K8S_POD_NAME=${name};K8S_POD_NAMESPACE=${namespace}`,
    });
    const address = addressIn(reply);
    if (address !== podAddress(pod))
      throw new Error(`${name} has ${address ?? reply.error}, its record ${podAddress(pod)}`);
  }
  client.close();
  return pods.length;
}

/** Processor time of the main thread between two ticks of a timer, so that other load of the machine does not count. */
class Stretches {
  longestMs = 0;
  #cpu = threadMs();

  constructor() {
    setInterval(() => {
      const cpu = threadMs();
      this.longestMs = Math.max(this.longestMs, cpu - this.#cpu);
      this.#cpu = cpu;
    }, TICK_MS);
  }

  take(): number {
    const { longestMs } = this;
    this.longestMs = 0;
    return longestMs;
  }

  /** Leaves out the time until now. */
  skip(): void {
    this.#cpu = threadMs();
  }
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

interface NodeGCPerformanceEntry extends PerformanceEntry {
  readonly detail: { readonly kind: number };
}

const collections = { ms: 0, minor: 0, major: 0 };
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    collections.ms += entry.duration;
    const { kind } = (entry as NodeGCPerformanceEntry).detail;
    if (kind === constants.NODE_PERFORMANCE_GC_MAJOR) collections.major++;
    if (kind === constants.NODE_PERFORMANCE_GC_MINOR) collections.minor++;
  }
}).observe({ entryTypes: ['gc'] });

let reported = 0;

function report(stretches: Stretches): LargeAgentReport {
  const { history } = controller;
  const processed: [string, number][] = [];
  let transactions = 0;
  for (let at = history.records.length - 1; at >= 0; at--) {
    const { seqNum, trace, end } = history.records[at]!;
    if (seqNum < reported) break;
    if (trace.origin?.key !== undefined) processed.push([trace.origin.key, end]);
    if (trace.commitMs !== undefined) transactions++;
  }
  reported = history.nextSeqNum;
  return {
    processed: processed.reverse(),
    transactions,
    longestMs: stretches.take(),
    mainMs: threadMs(),
    gcMs: collections.ms,
    minorCollections: collections.minor,
    majorCollections: collections.major,
    heapBytes: process.memoryUsage().heapUsed,
    historyBytes: history.bytes,
    resyncs: controller.resyncCount,
  };
}

await agent.start();
while (history().length === 0) {
  await ensureAlive();
  await systemClock.sleep(START_POLL_MS);
}
const readyMs = performance.now();
const attachedPods = await attachPods();
const stretches = new Stretches();

function history() {
  return controller.history.records;
}

let ownPods: OwnPods | undefined;
process.on('message', (request: LargeAgentRequest) => {
  if (request === 'storm') {
    ownPods ??= new OwnPods(controller);
    process.send!(ownPods.report());
    return;
  }
  if (request === 'collect') {
    globalThis.gc?.();
    stretches.skip();
  }
  process.send!(report(stretches));
});
process.on('disconnect', () => process.exit());
const ready: LargeAgentReady = { port: agent.port, attachedPods, readyMs };
process.send!(ready);
