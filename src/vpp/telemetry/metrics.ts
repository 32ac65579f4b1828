/** The metrics of the original's telemetry: VPP's figures under the original's names, all gauges. */
import { Gauge, type Registry } from 'prom-client';
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
import { vectorsPerCall } from './runtime.ts';

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

/** The thread under which the original shows the sum of all threads. */
const allThreads = { thread: 'ALL', threadID: '0' } as const;
/** The thread to which the original counts VPP's main heap. */
const mainThread = { thread: 'vpp_main', threadID: '0' } as const;
/** The original numbers neither the pools nor the thread that uses them. */
const anyThread = { threadID: '0', index: '0' } as const;

type Gauges<Name extends string> = Readonly<Record<Name, Gauge>>;

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
    const make = <Name extends string>(
      group: MetricGroup,
      labels: readonly string[],
      helps: Readonly<Record<Name, string>>,
    ): Gauges<Name> => {
      const labelNames = ['agent', ...labels];
      const gauges = Object.entries<string>(helps).map(([name, help]) => [
        name,
        new Gauge({ name: `vpp_${group}_${name}`, help, labelNames, registers: [registry] }),
      ]);
      return Object.fromEntries(gauges) as Gauges<Name>;
    };
    this.#runtime = make('runtime', ['item', 'thread', 'threadID'], {
      calls: 'Calls of a graph node of VPP.',
      vectors: 'Packets that a graph node of VPP has handled.',
      suspends: 'Suspends of a graph node of VPP that is a process.',
      clocks: 'Clock cycles of the processor that a graph node of VPP has used.',
      vectors_per_call: 'Average packets in one call of a graph node of VPP.',
    });
    this.#memory = make('memory', ['thread', 'threadID'], {
      used: "Used bytes of VPP's main heap.",
      total: "Bytes of VPP's main heap.",
      free: "Free bytes of VPP's main heap.",
      reclaimed: "Free bytes of VPP's main heap that it could return to the system.",
      size: "Size of VPP's main heap in bytes.",
    });
    this.#buffers = make('buffers', ['threadID', 'item', 'index'], {
      alloc: 'Used buffers of a pool.',
      free: 'Available buffers of a pool.',
    });
    this.#nodes = make('nodes', ['item', 'reason'], {
      counter: 'Error counters of VPP graph nodes.',
    });
    const helps = Object.keys(interfaceCounters).map((suffix) => [
      suffix,
      `Counter ${suffix} of a VPP interface.`,
    ]);
    this.#interfaces = make(
      'interfaces',
      ['name', 'index'],
      Object.fromEntries(helps) as Record<keyof typeof interfaceCounters, string>,
    );
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
      // only now, so that a scrape during the reads finds the values of the last poll
      this.clear();
      this.#setRuntime(nodes);
      this.#setMemory(system?.heaps ?? []);
      this.#setBuffers(system?.bufferPools ?? []);
      this.#setNodes(errors);
      this.#setInterfaces(interfaces);
    } catch (error) {
      this.clear();
      throw error;
    }
  }

  clear(): void {
    const groups = [this.#runtime, this.#memory, this.#buffers, this.#nodes, this.#interfaces];
    for (const gauges of groups) for (const gauge of Object.values(gauges)) gauge.reset();
  }

  #setRuntime(nodes: readonly NodeRuntime[]): void {
    for (const node of nodes) {
      const labels = { agent: this.#agent, item: node.name, ...allThreads };
      this.#runtime.calls.set(labels, Number(node.calls));
      this.#runtime.vectors.set(labels, Number(node.vectors));
      this.#runtime.suspends.set(labels, Number(node.suspends));
      this.#runtime.clocks.set(labels, Number(node.clocks));
      this.#runtime.vectors_per_call.set(labels, vectorsPerCall(node));
    }
  }

  #setMemory(heaps: readonly HeapUsage[]): void {
    const main = heaps.find(({ name }) => name === MAIN_HEAP);
    if (!main || !this.#groups.has('memory')) return;
    const labels = { agent: this.#agent, ...mainThread };
    this.#memory.used.set(labels, main.used);
    this.#memory.total.set(labels, main.total);
    this.#memory.free.set(labels, main.free);
    this.#memory.reclaimed.set(labels, main.trimmable);
    this.#memory.size.set(labels, main.total);
  }

  #setBuffers(pools: readonly BufferPool[]): void {
    if (!this.#groups.has('buffers')) return;
    for (const { name, used, available } of pools) {
      const labels = { agent: this.#agent, item: name, ...anyThread };
      this.#buffers.alloc.set(labels, used);
      this.#buffers.free.set(labels, available);
    }
  }

  #setNodes(errors: readonly NodeErrorCounter[]): void {
    for (const { node, reason, count } of errors)
      this.#nodes.counter.set({ agent: this.#agent, item: node, reason }, Number(count));
  }

  #setInterfaces(interfaces: readonly InterfaceCounters[]): void {
    for (const counters of interfaces) {
      const { internalName: name, swIfIndex: index } = counters;
      for (const [suffix, gauge] of Object.entries(this.#interfaces)) {
        const counter = interfaceCounters[suffix as keyof typeof interfaceCounters];
        gauge.set({ agent: this.#agent, name, index }, Number(counters[counter]));
      }
    }
  }
}
