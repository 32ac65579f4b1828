/**
 * Ten thousand services with ten endpoints each, from the event to a configured VPP: a resync in a fresh
 * process and in a warm one, a changed endpoint among them, a rolling restart, and the memory. The
 * reference are the same requests, pipelined over a raw socket in the same run.
 */
import { endpointsModel } from '#kubernetes/models/endpoints.ts';
import { serviceModel } from '#kubernetes/models/service.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { Event } from '#plugins/controller/api/event.ts';
import { DbResync, type KubeSnapshot, KubeStateChange } from '#plugins/controller/api/events.ts';
import { VppProcess } from '#test/integration/support/vpp-process.ts';
import { nodeValue, vppNodeValue } from '#test/plugins/test-node.ts';
import { withoutVpp } from '#test/support/requirements.ts';
import { type Measurement, measure } from './lib/measure.ts';
import { RawClient, type RawRequest } from './lib/raw-client.ts';
import { type EventTimes, ServiceNode } from './lib/service-node.ts';
import { type Print, runInSubprocess } from './lib/subprocess.ts';

export const NAME = 'services: 10,000 with 10 endpoints on a real VPP';

const SERVICES = 10_000;
const ENDPOINTS = 10;
const NODES = 400;
const WINDOW = 100;
const ROUNDS = 5;
const CHANGES = 300;
const WARM_UP = 100;
const RESTARTED = 1_000;
const PLAN_TARGET_MS = 3_000;
const CHANGE_TARGET_MS = 2;
/** Of the rate of the raw socket. */
const TARGET_SHARE = 1 / 3;

type Step = (print: Print, node: ServiceNode, apiSocket: string) => Promise<void>;

const steps: Readonly<Record<string, Step>> = { resyncs, changes, memory };

export async function run(print: Print): Promise<void> {
  if (withoutVpp()) {
    print(`not measured: ${withoutVpp()}`);
    return;
  }
  for (const step of Object.keys(steps)) await runInSubprocess(import.meta.filename, step, print);
}

async function runStep(step: Step): Promise<void> {
  const vpp = new VppProcess();
  try {
    await vpp.start();
    await using node = await ServiceNode.connect(vpp.apiSocket);
    await step(console.log, node, vpp.apiSocket);
  } finally {
    await vpp.remove();
  }
}

/** The first one is that of a fresh process. */
async function resyncs(print: Print, node: ServiceNode, apiSocket: string): Promise<void> {
  const [empty, full] = [resyncOf(0), resyncOf(SERVICES)];
  const requests: RawRequest[] = [];
  node.onRequest = (request) => requests.push(request);
  const first = await timed(node, full);
  const additions = requests.filter(({ name }) => name === 'nat44_add_del_lb_static_mapping');
  node.onRequest = () => undefined;
  const deletions = additions.map(({ name, fields }) => ({
    name,
    fields: { ...fields, is_add: false },
  }));
  const raw = await RawClient.connect(apiSocket);
  const warm: TimedEvent[] = [];
  const references: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await node.process(empty);
    references.push(await raw.pipeline(additions, WINDOW));
    await raw.pipeline(deletions, WINDOW);
    warm.push(await timed(node, full));
  }
  const reference = median(references);
  print(`${additions.length} requests over a raw socket: ${text(reference)}`);
  printResync(print, 'resync in a fresh process', first, reference);
  const steady = warm.toSorted((a, b) => a.times.configured - b.times.configured);
  printResync(print, 'resync in a warm process', steady[ROUNDS >> 1]!, reference);
  const again = await timed(node, full);
  const { trace, configured } = again.times;
  print(`resync without a change: ${text(configured)}, ${trace.operations} operations`);
  raw.close();
}

interface TimedEvent {
  readonly times: EventTimes;
  readonly work: Measurement;
}

async function timed(node: ServiceNode, event: Event): Promise<TimedEvent> {
  let times: EventTimes | undefined;
  const work = await measure(async () => {
    times = await node.process(event);
  });
  return { times: times!, work };
}

function printResync(
  print: Print,
  what: string,
  { times, work }: TimedEvent,
  reference: number,
): void {
  const { handlers, planned, configured, trace } = times;
  const share = reference / trace.executionMs;
  print(`${what}:`);
  print(
    `    plan after ${text(planned)}${judged(planned <= PLAN_TARGET_MS, text(PLAN_TARGET_MS))}: ` +
      `handlers ${text(handlers)}, reading VPP ${text(trace.readingMs)}, planning ${text(trace.planningMs)}`,
  );
  print(
    `    VPP configured after ${text(configured)}: ${trace.operations} operations in ` +
      `${text(trace.executionMs)}, ${percent(share)} of the raw rate` +
      judged(share >= TARGET_SHARE, 'a third'),
  );
  const { longest, longestOwnMs, cpuMs, gcMs } = work;
  print(
    `    work of the main thread ${text(cpuMs)}, GC ${text(gcMs)}; longest stretch ` +
      `${longest.cpuMs.toFixed(1)} ms, without GC ${longestOwnMs.toFixed(1)} ms`,
  );
}

/** One endpoint of a service is replaced by another one. */
async function changes(print: Print, node: ServiceNode): Promise<void> {
  await node.process(resyncOf(SERVICES));
  const requests = new Map<string, number>();
  node.onRequest = ({ name }) => void requests.set(name, (requests.get(name) ?? 0) + 1);
  const replaced = new Replacements();
  const all: EventTimes[] = [];
  for (let round = 0; round < WARM_UP + CHANGES; round++)
    all.push(await node.process(replaced.next((round * 7919) % SERVICES)));
  const [first] = all;
  const steady = all.slice(WARM_UP);
  const planned = steady.map((one) => one.planned);
  print(
    `one endpoint of one service replaced: plan after ${exact(median(planned))}` +
      `${judged(median(planned) <= CHANGE_TARGET_MS, `${CHANGE_TARGET_MS} ms`)}, ` +
      `99 % within ${exact(quantile(planned, 0.99))}, the first ${exact(first!.planned)}; ` +
      `handlers ${exact(median(steady.map((one) => one.handlers)))}; ` +
      `VPP configured after ${exact(median(steady.map((one) => one.configured)))}`,
  );
  print(`    requests of ${all.length} changes: ${counted(requests)}`);
  requests.clear();
  const restart = await measure(async () => {
    for (let at = 0; at < RESTARTED; at++)
      await node.process(replaced.next(Math.floor(at / ENDPOINTS), at % ENDPOINTS));
  });
  print(
    `rolling restart of ${RESTARTED} endpoints: ${text(restart.ms)}, requests: ${counted(requests)}; ` +
      `longest stretch ${restart.longest.cpuMs.toFixed(1)} ms`,
  );
}

async function memory(print: Print, node: ServiceNode): Promise<void> {
  await node.process(resyncOf(0));
  const before = heapUsed();
  let event: Event | undefined = resyncOf(SERVICES);
  const input = heapUsed() - before;
  await node.process(event);
  event = undefined;
  const all = heapUsed() - before;
  const each = ((all - input) / SERVICES / 1024).toFixed(1);
  print(
    `memory: ${mib(all)}, of it ${mib(input)} the state of Kubernetes; the agent's own ${each} KiB a service`,
  );
}

/** Endpoints of the services that have changed. */
class Replacements {
  readonly #endpoints = new Map<number, string[]>();
  #count = 0;

  /** @param endpoint that is replaced */
  next(service: number, endpoint = 0): Event {
    const before = this.#endpoints.get(service) ?? endpointsOf(service);
    const address = podAddress(NODES + 1 + Math.floor(this.#count / 250), 2 + (this.#count % 250));
    this.#count++;
    const after = before.with(endpoint, address);
    this.#endpoints.set(service, after);
    return KubeStateChange.event({
      resource: 'endpoints',
      key: resources.endpoints.key(nameOf(service), namespaceOf(service)),
      previous: endpointsRecord(service, before),
      current: endpointsRecord(service, after),
    }) as Event;
  }
}

function resyncOf(services: number): Event {
  const kubeState: Record<string, Record<string, object>> = { service: {}, endpoints: {} };
  for (const { resource, key, value } of [
    nodeValue('node1', '172.16.0.1'),
    nodeValue('node2', '172.16.0.2'),
    vppNodeValue(2, 'node2', '192.168.16.2/24'),
  ])
    kubeState[resource] = { ...kubeState[resource], [key]: value };
  for (let at = 0; at < services; at++) {
    const [name, namespace] = [nameOf(at), namespaceOf(at)];
    kubeState['service']![resources.service.key(name, namespace)] = serviceModel.canonical({
      name,
      namespace,
      cluster_ip: `10.96.${at >> 8}.${at & 255}`,
      service_type: 'ClusterIP',
      port: [{ name: 'http', protocol: 'TCP', port: 80 }],
    });
    kubeState['endpoints']![resources.endpoints.key(name, namespace)] = endpointsRecord(
      at,
      endpointsOf(at),
    );
  }
  const snapshot: KubeSnapshot = kubeState;
  return DbResync.event({ local: false, kubeState: snapshot, externalConfig: {} }) as Event;
}

function endpointsRecord(service: number, endpoints: readonly string[]): object {
  const [name, namespace] = [nameOf(service), namespaceOf(service)];
  return endpointsModel.canonical({
    name,
    namespace,
    endpoint_subsets: [
      {
        addresses: endpoints.map((ip, at) => ({
          ip,
          node_name: nodeOf(ip),
          target_ref: { kind: 'Pod', namespace, name: `${name}-${at}` },
        })),
        ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
      },
    ],
  });
}

function nameOf(service: number): string {
  return `web-${service}`;
}

function namespaceOf(service: number): string {
  return `team-${service % 100}`;
}

function endpointsOf(service: number): string[] {
  return Array.from({ length: ENDPOINTS }, (_, at) => {
    const pod = service * ENDPOINTS + at;
    return podAddress((pod % NODES) + 1, 2 + Math.floor(pod / NODES));
  });
}

function podAddress(node: number, host: number): string {
  return `100.${64 + (node >> 8)}.${node & 255}.${host}`;
}

function nodeOf(ip: string): string {
  const [, high = 0, low = 0] = ip.split('.').map(Number);
  return `node${((high - 64) << 8) + low}`;
}

function heapUsed(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

const quantile = (values: readonly number[], q: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * q)]!;
const median = (values: readonly number[]): number => quantile(values, 0.5);
const text = (ms: number): string => `${ms.toFixed(0)} ms`;
const exact = (ms: number): string => `${ms.toFixed(2)} ms`;
const percent = (share: number): string => `${Math.round(share * 100)} %`;
const mib = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;
const judged = (isMet: boolean, target: string): string =>
  ` (target ${target}: ${isMet ? 'met' : 'MISSED'})`;
const counted = (requests: ReadonlyMap<string, number>): string =>
  [...requests].map(([name, count]) => `${count} ${name}`).join(', ');

if (import.meta.main) await runStep(steps[process.argv[2] ?? '']!);
