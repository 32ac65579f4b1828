/**
 * A new process of the agent, as the image has it, on a real VPP and etcd that are new, too, with an empty
 * local store: the time until it is ready, and its first transaction. The reference are the same requests
 * from a raw socket to the same VPP, just before.
 */
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { agentPrefix } from '#infra/service-label/service-label.ts';
import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import { dnat44Model } from '#models/vpp/dnat44.ts';
import { nat44GlobalModel } from '#models/vpp/nat44-global.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import { keyedValue, loop } from '#test/descriptors/compliance/example-values.ts';
import { RealNode } from '#test/integration/support/node.ts';
import { RawClient } from './raw-client.ts';
import { VppScheduler } from './vpp-scheduler.ts';

const LABEL = 'node1';
const MANY = 10_000;
/** Requests in flight. */
const WINDOW = 100;
/** The first time the compiler is cold; the median counts. */
const REFERENCES = 3;
/** Maximum number of operations in a transaction of etcd by default. */
const BATCH = 100;
const POLL_MS = 50;
const READY_LIMIT_MS = 120_000;

/** External configuration in etcd, below `/vnf-agent/<label>/config/`. */
interface Content {
  /** Values that the others need. */
  readonly base: readonly KeyedValue[];
  /** Values that they need and the agent makes by itself: only the reference has to make them. */
  readonly own: readonly KeyedValue[];
  readonly values: readonly KeyedValue[];
}

export const contents = {
  nothing: { base: [], own: [], values: [] },
  routes: {
    base: [loop('bench', { enabled: true, ip_addresses: ['172.30.0.1/24'] })],
    own: [],
    values: Array.from({ length: MANY }, (_, n) =>
      keyedValue(vppRouteModel, {
        dst_network: `20.0.${n >> 8}.${n & 255}/32`,
        next_hop_addr: '172.30.0.2',
        outgoing_interface: 'bench',
      }),
    ),
  },
  mappings: {
    base: [],
    own: [keyedValue(nat44GlobalModel, { forwarding: true })],
    values: Array.from({ length: MANY }, (_, n) => {
      const local_ips = [{ local_ip: '10.1.1.2', local_port: 8080 }];
      const external = { external_ip: `10.96.${n >> 8}.${n & 255}`, external_port: 80 };
      const st_mappings = [{ ...external, protocol: 'TCP', local_ips }] as const;
      return keyedValue(dnat44Model, { label: `default/service-${n}`, st_mappings });
    }),
  },
} as const satisfies Record<string, Content>;

/** Milliseconds; those of the agent since the start of its process. */
export interface AgentStart {
  /** 0 without values. */
  readonly bare: number;
  /** The REST server answers. */
  readonly serving: number;
  readonly ready: number;
  /** The first transaction. */
  readonly transaction: number;
  /** Processor time of all its threads until it is ready. */
  readonly cpu: number;
}

/** @param main the program */
export async function startAgent(content: Content, main: string): Promise<AgentStart> {
  await using node = await RealNode.create({
    label: LABEL,
    agentMain: main,
    // that of the program itself, and not that of the tests
    agentEnv: () => ({ NODE_COMPILE_CACHE: undefined }),
  });
  const bare = await reference(node.vpp.apiSocket, content);
  const prefix = agentPrefix(LABEL);
  const texts = [...byKey(content.base, content.values)].map(
    ([key, value]) => [prefix + key, JSON.stringify(value)] as const,
  );
  for (let from = 0; from < texts.length; from += BATCH)
    await node.etcd.store.putAll(new Map(texts.slice(from, from + BATCH)));
  const started = performance.now();
  const took = (): number => performance.now() - started;
  node.agent.launch();
  let serving = 0;
  for (let status = 0; status !== 200; ) {
    await sleep(POLL_MS);
    node.agent.assertRunning();
    if (took() > READY_LIMIT_MS) throw new Error(`the agent is not ready:\n${node.agent.tail()}`);
    ({ status } = await node.agent.get('/readiness').catch(() => ({ status: 0 })));
    if (status !== 0) serving ||= took();
  }
  const ready = took();
  const cpu = node.agent.cpuSeconds * 1000;
  const { body } = await node.agent.get('/controller/event-history?format=text&first=1');
  const transaction = Number(/transaction #0 ([\d.]+)ms/.exec(String(body))?.[1]);
  // which writes the compile cache
  await node.agent.end('SIGTERM');
  return { bare, serving, ready, transaction, cpu };
}

async function reference(socket: string, { base, own, values }: Content): Promise<number> {
  if (values.length === 0) return 0;
  const scheduler = await VppScheduler.connect(socket);
  const raw = await RawClient.connect(socket);
  await scheduler.commit(byKey(base, own));
  const creations = await scheduler.requestsOf(byKey(values));
  const deletions = await scheduler.requestsOf(removalOf(values));
  const times: number[] = [];
  for (let n = 0; n < REFERENCES; n++) {
    times.push(await raw.pipeline(creations, WINDOW));
    await raw.pipeline(deletions, WINDOW);
  }
  await scheduler.commit(removalOf([...base, ...own]));
  raw.close();
  await scheduler.close();
  return times.sort((a, b) => a - b)[times.length >> 1]!;
}

function byKey(...lists: (readonly KeyedValue[])[]): Map<string, object> {
  return new Map(lists.flat().map(({ key, value }) => [key, value]));
}

function removalOf(values: readonly KeyedValue[]): Map<string, null> {
  return new Map(values.map(({ key }) => [key, null]));
}
