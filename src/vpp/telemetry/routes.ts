/** REST documents of VPP's figures, in the form of the original's telemetry. */
import {
  CommandOutputs,
  MemoryTelemetry,
  NodeCounters,
  RuntimeTelemetry,
} from '#documents/telemetry.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { json, type Route } from '#infra/http/route.ts';
import type { StatsPort } from '#plugins/controller/api/ports/stats.ts';
import type { VppClient } from '../binapi/api.ts';
import { MAIN_HEAP } from '../stats/statistics.ts';
import { vectorsPerCall } from './runtime.ts';

/** The statistics are read at most once in this time, however many clients ask. */
const STATISTICS_MS = 1_000;
/** The commands run at most once in this time: most of them stop VPP's workers. */
const COMMANDS_MS = 10_000;

const commands = [
  'show node counters',
  'show runtime',
  'show buffers',
  'show memory',
  'show ip fib',
  'show ip6 fib',
];

export interface TelemetryRoutesDeps {
  readonly client: Pick<VppClient, 'request'>;
  readonly statistics: StatsPort;
  readonly clock: Clock;
}

export function telemetryRoutes({ client, statistics, clock }: TelemetryRoutesDeps): Route[] {
  const outputs = shared(clock, COMMANDS_MS, async () => {
    const found: { Command: string; Output: string }[] = [];
    for (const Command of commands) {
      const { reply } = await client.request('cli_inband', { cmd: Command });
      found.push({ Command, Output: reply });
    }
    return found;
  });
  const memory = shared(clock, STATISTICS_MS, async () => ({
    threads: await threadsOfMemory(statistics),
  }));
  const runtime = shared(clock, STATISTICS_MS, async () => ({
    threads: [{ ...idleThread, items: listOrNull(await runtimeItems(statistics)) }],
  }));
  const counters = shared(clock, STATISTICS_MS, async () => ({
    counters: listOrNull(
      (await statistics.nodeErrors()).map(({ node, reason, count }) => ({
        value: Number(count),
        node,
        name: reason,
      })),
    ),
  }));
  return [
    {
      method: 'GET',
      path: '/vpp/telemetry',
      mutating: false,
      summary:
        'output of commands of VPP (counters, runtime, buffers, memory, routes), run at most every 10 s',
      reply: CommandOutputs,
      handle: async () => json(await outputs()),
    },
    {
      method: 'GET',
      path: '/vpp/telemetry/memory',
      mutating: false,
      summary: "VPP's main heap in bytes; objects, overhead and pages are 0",
      reply: MemoryTelemetry,
      handle: async () => json(await memory()),
    },
    {
      method: 'GET',
      path: '/vpp/telemetry/runtime',
      mutating: false,
      summary: "calls of VPP's graph nodes, if VPP counts them (per-node-counters)",
      reply: RuntimeTelemetry,
      handle: async () => json(await runtime()),
    },
    {
      method: 'GET',
      path: '/vpp/telemetry/nodecount',
      mutating: false,
      summary: "error counters of VPP's graph nodes that are not 0",
      reply: NodeCounters,
      handle: async () => json(await counters()),
    },
    {
      method: 'GET',
      path: '/stats/configurator',
      mutating: false,
      summary: 'always empty: this agent has no configurator service',
      handle: () => json({ AllOperations: { count: 0 }, Operations: [] }),
    },
  ];
}

/** One thread stands for all: the statistics are sums. */
const idleThread = {
  id: 0,
  name: 'ALL',
  time: 0,
  avg_vectors_per_node: 0,
  last_main_loops: 0,
  vectors_per_main_loop: 0,
  vector_length_per_node: 0,
  vector_rates_in: 0,
  vector_rates_out: 0,
  vector_rates_drop: 0,
  vector_rates_punt: 0,
} as const;

async function runtimeItems(statistics: StatsPort) {
  return (await statistics.nodes()).map((node) => ({
    index: node.index,
    name: node.name,
    state: '',
    calls: Number(node.calls),
    vectors: Number(node.vectors),
    suspends: Number(node.suspends),
    clocks: Number(node.clocks),
    vectors_per_call: vectorsPerCall(node),
  }));
}

async function threadsOfMemory(statistics: StatsPort) {
  const { heaps } = await statistics.system();
  return heaps
    .filter(({ name }) => name === MAIN_HEAP)
    .map(({ total, used, free, trimmable }) => ({
      id: 0,
      name: 'vpp_main',
      size: total,
      objects: 0,
      used,
      total,
      free,
      reclaimed: trimmable,
      overhead: 0,
      pages: 0,
      page_size: 0,
    }));
}

/** Go writes null for a list without elements. */
function listOrNull<T>(list: readonly T[]): readonly T[] | null {
  return list.length === 0 ? null : list;
}

/** Requests within this time share one result; a failed read is repeated by the next request. */
function shared<T>(clock: Clock, withinMs: number, read: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = clock.monotonic();
    if (result && now - readAt < withinMs) return result;
    readAt = now;
    const reading = read();
    reading.catch(() => {
      if (result === reading) result = undefined;
    });
    result = reading;
    return reading;
  };
}
