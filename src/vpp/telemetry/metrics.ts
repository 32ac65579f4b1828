/** The metrics of the original's telemetry: VPP's figures under the original's names, all gauges. */
import type { Registry } from 'prom-client';
import type {
  BufferPool,
  HeapUsage,
  InterfaceCounters,
  NodeErrorCounter,
  NodeRuntime,
  StatsPort,
} from '#plugins/controller/api/ports/stats.ts';
import { MAIN_HEAP } from '../stats/statistics.ts';
import type { MetricGroup } from './config.ts';
import { type Figures, GaugeGroup } from './gauge-group.ts';
import { vectorsPerCall } from './runtime.ts';

const runtimeFigures: Figures<NodeRuntime> = {
  calls: { help: 'Calls of a graph node of VPP.', of: ({ calls }) => Number(calls) },
  vectors: {
    help: 'Packets that a graph node of VPP has handled.',
    of: ({ vectors }) => Number(vectors),
  },
  suspends: {
    help: 'Suspends of a graph node of VPP that is a process.',
    of: ({ suspends }) => Number(suspends),
  },
  clocks: {
    help: 'Clock cycles of the processor that a graph node of VPP has used.',
    of: ({ clocks }) => Number(clocks),
  },
  vectors_per_call: {
    help: 'Average packets in one call of a graph node of VPP.',
    of: vectorsPerCall,
  },
};

const memoryFigures: Figures<HeapUsage> = {
  used: { help: "Used bytes of VPP's main heap.", of: ({ used }) => used },
  total: { help: "Bytes of VPP's main heap.", of: ({ total }) => total },
  free: { help: "Free bytes of VPP's main heap.", of: ({ free }) => free },
  reclaimed: {
    help: "Free bytes of VPP's main heap that it could return to the system.",
    of: ({ trimmable }) => trimmable,
  },
  size: { help: "Size of VPP's main heap in bytes.", of: ({ total }) => total },
};

const bufferFigures: Figures<BufferPool> = {
  alloc: { help: 'Used buffers of a pool.', of: ({ used }) => used },
  free: { help: 'Available buffers of a pool.', of: ({ available }) => available },
};

const nodeFigures: Figures<NodeErrorCounter> = {
  counter: { help: 'Error counters of VPP graph nodes.', of: ({ count }) => Number(count) },
};

/** Counters by metric suffix. */
const interfaceCounters = {
  rx_packets: 'rxPackets',
  rx_bytes: 'rxBytes',
  rx_errors: 'rxErrors',
  tx_packets: 'txPackets',
  tx_bytes: 'txBytes',
  tx_errors: 'txErrors',
  drops: 'drops',
  punts: 'punts',
  ip4: 'ip4',
  ip6: 'ip6',
  rx_no_buf: 'rxNoBuffer',
  rx_miss: 'rxMiss',
} as const satisfies Readonly<Record<string, keyof InterfaceCounters>>;

const interfaceFigures: Figures<InterfaceCounters> = Object.fromEntries(
  Object.entries(interfaceCounters).map(([suffix, counter]) => [
    suffix,
    {
      help: `Counter ${suffix} of a VPP interface.`,
      of: (counters: InterfaceCounters) => Number(counters[counter]),
    },
  ]),
);

/** The thread under which the original shows the sum of all threads. */
const allThreads = { thread: 'ALL', threadID: '0' } as const;
/** The thread to which the original counts VPP's main heap. */
const mainThread = { thread: 'vpp_main', threadID: '0' } as const;
/** The original numbers neither the pools nor the thread that uses them. */
const anyThread = { threadID: '0', index: '0' } as const;

export class TelemetryMetrics {
  readonly #statistics: StatsPort;
  readonly #groups: ReadonlySet<MetricGroup>;
  readonly #agent: string;
  readonly #runtime;
  readonly #memory;
  readonly #buffers;
  readonly #nodes;
  readonly #interfaces;

  /** @param groups the metrics that are read; the others exist without values */
  constructor(
    statistics: StatsPort,
    groups: ReadonlySet<MetricGroup>,
    registry: Registry,
    agent: string,
  ) {
    this.#statistics = statistics;
    this.#groups = groups;
    this.#agent = agent;
    const threaded = ['thread', 'threadID'];
    this.#runtime = new GaugeGroup('runtime', ['item', ...threaded], runtimeFigures, registry);
    this.#memory = new GaugeGroup('memory', threaded, memoryFigures, registry);
    const ofPool = ['threadID', 'item', 'index'];
    this.#buffers = new GaugeGroup('buffers', ofPool, bufferFigures, registry);
    this.#nodes = new GaugeGroup('nodes', ['item', 'reason'], nodeFigures, registry);
    const ofInterface = ['name', 'index'];
    this.#interfaces = new GaugeGroup('interfaces', ofInterface, interfaceFigures, registry);
  }

  /** Reads all groups. When it rejects, the metrics have no values. */
  async read(): Promise<void> {
    try {
      const statistics = this.#statistics;
      const has = (group: MetricGroup) => this.#groups.has(group);
      const nodes = has('runtime') ? await statistics.nodes() : [];
      const system = has('memory') || has('buffers') ? await statistics.system() : undefined;
      const errors = has('nodes') ? await statistics.nodeErrors() : [];
      const interfaces = has('interfaces') ? await statistics.interfaces() : [];
      const heaps = has('memory') ? (system?.heaps ?? []) : [];
      const pools = has('buffers') ? (system?.bufferPools ?? []) : [];
      const agent = this.#agent;
      // only now, so that a scrape during the reads finds the values of the last poll
      this.#runtime.set(nodes, ({ name }) => ({ agent, item: name, ...allThreads }));
      const main = heaps.filter(({ name }) => name === MAIN_HEAP);
      this.#memory.set(main, () => ({ agent, ...mainThread }));
      this.#buffers.set(pools, ({ name }) => ({ agent, item: name, ...anyThread }));
      this.#nodes.set(errors, ({ node, reason }) => ({ agent, item: node, reason }));
      this.#interfaces.set(interfaces, ({ internalName: name, swIfIndex: index }) => ({
        agent,
        name,
        index,
      }));
    } catch (error) {
      this.clear();
      throw error;
    }
  }

  clear(): void {
    for (const group of [this.#runtime, this.#memory, this.#buffers, this.#nodes, this.#interfaces])
      group.clear();
  }
}
