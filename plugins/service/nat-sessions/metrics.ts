import { Gauge, type Registry } from 'prom-client';

/** Numbers of sessions, TCP and others apart. */
export interface SessionNumbers {
  readonly tcp: number;
  readonly other: number;
}

/** Results of the removal of idle sessions, under the names of Contiv/VPP. */
export class NatSessionMetrics {
  readonly #tcp: Gauge;
  readonly #other: Gauge;
  readonly #deletedTcp: Gauge;
  readonly #deletedOther: Gauge;
  readonly #errors: Gauge;

  constructor(registry: Registry) {
    const gauge = (name: string, help: string) => new Gauge({ name, help, registers: [registry] });
    this.#tcp = gauge('tcpNatSessions', 'TCP sessions of NAT44 when idle ones were last removed.');
    this.#other = gauge(
      'otherNatSessions',
      'Sessions of NAT44 other than TCP when idle ones were last removed.',
    );
    this.#deletedTcp = gauge(
      'deletedTCPNatSessions',
      'Idle TCP sessions of NAT44 that were removed.',
    );
    this.#deletedOther = gauge(
      'deletedOtherNatSessions',
      'Idle sessions of NAT44 other than TCP that were removed.',
    );
    this.#errors = gauge(
      'natSessionDeleteErrors',
      'Idle sessions of NAT44 that could not be removed.',
    );
  }

  setFound({ tcp, other }: SessionNumbers): void {
    this.#tcp.set(tcp);
    this.#other.set(other);
  }

  addDeleted(isTcp: boolean): void {
    (isTcp ? this.#deletedTcp : this.#deletedOther).inc();
  }

  addError(): void {
    this.#errors.inc();
  }
}
