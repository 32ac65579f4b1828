import { Gauge, type Registry } from 'prom-client';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { InterfaceCounters, StatsPort } from '#plugins/controller/api/ports/stats.ts';

/** Metric suffix to counter; the names are those of the Go agent's telemetry. */
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

/** VPP's counters as metrics. `refresh` reads them; it is called before each scrape. */
export class VppMetrics {
  readonly #statistics: StatsPort;
  readonly #log: Logger;
  readonly #up: Gauge;
  readonly #interfaces: readonly [keyof InterfaceCounters, Gauge][];
  readonly #errors: Gauge;
  readonly #heapTotal: Gauge;
  readonly #heapUsed: Gauge;
  readonly #workers: Gauge;
  readonly #vectorRate: Gauge;
  #lastError = '';

  constructor(statistics: StatsPort, registry: Registry, log: Logger) {
    this.#statistics = statistics;
    this.#log = log;
    const gauge = (name: string, help: string, labelNames: string[] = []) =>
      new Gauge({ name, help, labelNames, registers: [registry] });
    this.#up = gauge('vpp_stats_up', '1 when the statistics of VPP could be read, else 0.');
    this.#interfaces = Object.entries(interfaceCounters).map(([suffix, counter]) => [
      counter,
      gauge(`vpp_interfaces_${suffix}`, `Counter ${suffix} of an interface of VPP.`, [
        'name',
        'index',
      ]),
    ]);
    this.#errors = gauge('vpp_nodes_counter', 'Errors counted by the nodes of VPP.', [
      'item',
      'reason',
    ]);
    this.#heapTotal = gauge('vpp_memory_total', 'Bytes of the main heap of VPP.');
    this.#heapUsed = gauge('vpp_memory_used', 'Used bytes of the main heap of VPP.');
    this.#workers = gauge('vpp_workers', 'Worker threads of VPP besides its main thread.');
    this.#vectorRate = gauge('vpp_vector_rate', 'Packets a loop of a thread of VPP.', ['thread']);
  }

  /** Never rejects: where the statistics cannot be read, `vpp_stats_up` is 0 and the rest absent. */
  readonly refresh = async (): Promise<void> => {
    this.#clear();
    try {
      const interfaces = await this.#statistics.interfaces();
      const errors = await this.#statistics.nodeErrors();
      const system = await this.#statistics.system();
      for (const [counter, gauge] of this.#interfaces)
        for (const one of interfaces)
          gauge.set({ name: one.internalName, index: one.swIfIndex }, Number(one[counter]));
      for (const { name, count } of errors) {
        const slash = name.indexOf('/');
        const labels = { item: name.slice(0, slash), reason: name.slice(slash + 1) };
        this.#errors.set(labels, Number(count));
      }
      this.#heapTotal.set(system.heapTotal);
      this.#heapUsed.set(system.heapUsed);
      this.#workers.set(system.workers);
      system.vectorRates.forEach((rate, thread) => {
        this.#vectorRate.set({ thread }, rate);
      });
      this.#up.set(1);
      this.#lastError = '';
    } catch (error) {
      this.#clear();
      this.#up.set(0);
      // Said once, not at each scrape.
      const text = errorText(error);
      if (text !== this.#lastError) this.#log.warn({ err: error }, 'no statistics of VPP');
      this.#lastError = text;
    }
  };

  #clear(): void {
    for (const [, gauge] of this.#interfaces) gauge.reset();
    for (const gauge of [this.#errors, this.#vectorRate]) gauge.reset();
    for (const gauge of [this.#heapTotal, this.#heapUsed, this.#workers]) gauge.remove();
  }
}
