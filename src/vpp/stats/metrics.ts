import { Gauge, type Registry } from 'prom-client';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { InterfaceCounters, StatsPort } from '#plugins/controller/api/ports/stats.ts';

/** Counters by metric suffix; the metric names are those of the Go agent's telemetry. */
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

/** Share of NAT44's session table above which it is reported as nearly full. */
const NEARLY_FULL = 0.8;

/** Exports VPP's counters as metrics. Call `refresh` before each scrape. */
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
  readonly #natSessions: Gauge;
  readonly #natLimit: Gauge;
  readonly #natNearlyFull: Gauge;
  #lastError = '';

  constructor(statistics: StatsPort, registry: Registry, log: Logger) {
    this.#statistics = statistics;
    this.#log = log;
    const gauge = (name: string, help: string, labelNames: string[] = []) =>
      new Gauge({ name, help, labelNames, registers: [registry] });
    this.#up = gauge('vpp_stats_up', '1 if the statistics of VPP were read, else 0.');
    this.#interfaces = Object.entries(interfaceCounters).map(([suffix, counter]) => [
      counter,
      gauge(`vpp_interfaces_${suffix}`, `Counter ${suffix} of a VPP interface.`, ['name', 'index']),
    ]);
    this.#errors = gauge('vpp_nodes_counter', 'Error counters of VPP graph nodes.', [
      'item',
      'reason',
    ]);
    this.#heapTotal = gauge('vpp_memory_total', "Size of VPP's main heap in bytes.");
    this.#heapUsed = gauge('vpp_memory_used', "Used bytes of VPP's main heap.");
    this.#workers = gauge('vpp_workers', 'VPP worker threads, without the main thread.');
    this.#vectorRate = gauge('vpp_vector_rate', 'Packets per loop of a VPP thread.', ['thread']);
    this.#natSessions = gauge(
      'vpp_nat44_sessions',
      'Sessions of NAT44 on a VPP thread. An expired one counts until VPP needs its place.',
      ['thread'],
    );
    this.#natLimit = gauge(
      'vpp_nat44_sessions_limit',
      'Sessions of NAT44 that each VPP thread can hold.',
    );
    this.#natNearlyFull = gauge(
      'vpp_nat44_sessions_nearly_full',
      '1 if a VPP thread holds at least 80 % of the NAT44 sessions that it can hold, else 0.',
    );
  }

  /** Never rejects: if the statistics cannot be read, `vpp_stats_up` is 0 and the rest is absent. */
  readonly refresh = async (): Promise<void> => {
    this.#clear();
    try {
      const interfaces = await this.#statistics.interfaces();
      const errors = await this.#statistics.nodeErrors();
      const system = await this.#statistics.system();
      const nat = await this.#statistics.natSessions();
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
      nat.sessions.forEach((count, thread) => {
        this.#natSessions.set({ thread }, count);
      });
      this.#natLimit.set(nat.limit);
      const isNearlyFull = Math.max(0, ...nat.sessions) >= NEARLY_FULL * nat.limit && nat.limit > 0;
      this.#natNearlyFull.set(isNearlyFull ? 1 : 0);
      this.#up.set(1);
      this.#lastError = '';
    } catch (error) {
      this.#clear();
      this.#up.set(0);
      // Log a repeated error once, not at each scrape.
      const text = errorText(error);
      if (text !== this.#lastError)
        this.#log.warn({ err: error }, 'cannot read the statistics of VPP');
      this.#lastError = text;
    }
  };

  #clear(): void {
    for (const [, gauge] of this.#interfaces) gauge.reset();
    for (const gauge of [this.#errors, this.#vectorRate, this.#natSessions]) gauge.reset();
    for (const gauge of [this.#heapTotal, this.#heapUsed, this.#workers]) gauge.remove();
    for (const gauge of [this.#natLimit, this.#natNearlyFull]) gauge.remove();
  }
}
