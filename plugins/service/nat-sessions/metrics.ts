import { Counter, Gauge, type Registry } from 'prom-client';
import type { StatsCollectorApi } from '#plugins/statscollector/api.ts';

/** Numbers of sessions, TCP and others apart. */
export interface SessionNumbers {
  readonly tcp: number;
  readonly other: number;
}

/** Results of the removal of idle sessions: as gauges of the original, and as counters. */
export class NatSessionMetrics {
  #found: SessionNumbers = { tcp: 0, other: 0 };
  readonly #deleted = { tcp: 0, other: 0 };
  #failures = 0;
  #seconds = 0;
  readonly #deletedTotal: Counter;
  readonly #failuresTotal: Counter;

  constructor(registry: Registry, stats: StatsCollectorApi) {
    stats.registerGaugeFunc(
      'tcpNatSessions',
      'TCP sessions of NAT44 when idle ones were last removed.',
      () => this.#found.tcp,
    );
    stats.registerGaugeFunc(
      'otherNatSessions',
      'Sessions of NAT44 other than TCP when idle ones were last removed.',
      () => this.#found.other,
    );
    stats.registerGaugeFunc(
      'deletedTCPNatSessions',
      'Idle TCP sessions of NAT44 that were removed.',
      () => this.#deleted.tcp,
    );
    stats.registerGaugeFunc(
      'deletedOtherNatSessions',
      'Idle sessions of NAT44 other than TCP that were removed.',
      () => this.#deleted.other,
    );
    stats.registerGaugeFunc(
      'natSessionDeleteErrors',
      'Idle sessions of NAT44 that could not be removed.',
      () => this.#failures,
    );
    this.#deletedTotal = new Counter({
      name: 'contiv_nat_idle_sessions_removed_total',
      help: 'Idle sessions of NAT44 that were removed (tcp, other).',
      labelNames: ['protocol'],
      registers: [registry],
    });
    for (const protocol of ['tcp', 'other']) this.#deletedTotal.inc({ protocol }, 0);
    this.#failuresTotal = new Counter({
      name: 'contiv_nat_idle_session_failures_total',
      help: 'Idle sessions of NAT44 that could not be removed.',
      registers: [registry],
    });
    const seconds = () => this.#seconds;
    new Gauge({
      name: 'contiv_nat_idle_session_removal_seconds',
      help: 'Time that the last removal of idle sessions of NAT44 took, with its pauses.',
      registers: [registry],
      collect() {
        this.set(seconds());
      },
    });
  }

  /** @param seconds that reading and removing them took */
  setFound(found: SessionNumbers, seconds: number): void {
    this.#found = found;
    this.#seconds = seconds;
  }

  addDeleted(isTcp: boolean): void {
    const protocol = isTcp ? 'tcp' : 'other';
    this.#deleted[protocol]++;
    this.#deletedTotal.inc({ protocol });
  }

  addError(): void {
    this.#failures++;
    this.#failuresTotal.inc();
  }
}
