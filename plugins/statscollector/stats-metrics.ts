import { Gauge, type Registry } from 'prom-client';
import type { InterfaceCounters } from '#plugins/controller/api/ports/stats.ts';
import type { InterfaceEntry } from './interface-entry.ts';

const gauges = {
  inPackets: ['rxPackets', 'Packets that VPP received from an interface.'],
  outPackets: ['txPackets', 'Packets that VPP sent to an interface.'],
  inBytes: ['rxBytes', 'Bytes that VPP received from an interface.'],
  outBytes: ['txBytes', 'Bytes that VPP sent to an interface.'],
  dropPackets: ['drops', 'Packets of an interface that VPP dropped.'],
  puntPackets: ['punts', 'Packets of an interface that VPP passed to the host.'],
  ipv4Packets: ['ip4', 'IPv4 packets of an interface.'],
  ipv6Packets: ['ip6', 'IPv6 packets of an interface.'],
  inNobufPackets: ['rxNoBuffer', 'Packets of an interface for which VPP had no buffer.'],
  inMissPackets: ['rxMiss', 'Packets of an interface that VPP received too late.'],
  inErrorPackets: ['rxErrors', 'Errors on receive from an interface.'],
  outErrorPackets: ['txErrors', 'Errors on send to an interface.'],
} as const satisfies Readonly<Record<string, readonly [keyof InterfaceCounters, string]>>;

/** The gauges of the original on `/stats`. */
export class StatsMetrics {
  readonly registry: Registry;
  readonly #node: string;

  constructor(registry: Registry, node: string, entries: () => readonly InterfaceEntry[]) {
    this.registry = registry;
    this.#node = node;
    for (const [name, [counter, help]] of Object.entries(gauges))
      new Gauge({
        name,
        help,
        labelNames: ['podName', 'podNamespace', 'interfaceName', 'node'],
        registers: [registry],
        collect() {
          this.reset();
          for (const { owner, interfaceName, counters } of entries())
            this.set({ ...owner, interfaceName, node }, Number(counters[counter]));
        },
      });
  }

  registerGaugeFunc(name: string, help: string, valueFunc: () => number): void {
    const node = this.#node;
    new Gauge({
      name,
      help,
      labelNames: ['node'],
      registers: [this.registry],
      collect() {
        this.set({ node }, valueFunc());
      },
    });
  }
}
