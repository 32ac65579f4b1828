import { Counter, Gauge, type Registry } from 'prom-client';

/** Metrics of the external configuration of gRPC clients. */
export class RequestMetrics {
  readonly #requests: Counter<'method' | 'result'>;

  constructor(registry: Registry, items: () => number) {
    const registers = [registry];
    new Gauge({
      name: 'contiv_external_config_items',
      help: 'Values of external configuration that clients have put by gRPC.',
      registers,
      collect() {
        this.set(items());
      },
    });
    this.#requests = new Counter({
      name: 'contiv_external_config_requests_total',
      help: 'Requests for external configuration by gRPC, by method and result.',
      labelNames: ['method', 'result'],
      registers,
    });
  }

  /** @param result `incomplete`: some items were refused or failed */
  count(method: string, result: 'ok' | 'incomplete' | 'failed'): void {
    this.#requests.inc({ method, result });
  }
}
