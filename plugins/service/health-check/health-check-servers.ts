/**
 * Serves the health check of each service with the external traffic policy Local on its node port. A
 * port that cannot be opened is retried and affects no other one.
 */
import { Backoff } from '#infra/clock/backoff.ts';
import type { Clock, Random, Timer } from '#infra/clock/clock.ts';
import { type CodedError, errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { HealthCheck } from '../processor/service-state.ts';
import type { ServiceName } from '../rendered-service.ts';
import { HealthCheckPortError } from './errors.ts';
import type { HealthCheckPort, OpenPort } from './health-check-port.ts';
import { healthReply } from './health-reply.ts';

export interface HealthCheckServersDeps {
  readonly port: HealthCheckPort;
  /** Whether changes of services reach the data plane. */
  readonly isProxyHealthy: () => boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Pick<Logger, 'debug' | 'warn'>;
}

const RETRY = { firstMs: 1_000, maxMs: 30_000 } as const;

interface Server {
  readonly port: number;
  readonly open: OpenPort;
}

export class HealthCheckServers {
  readonly #deps: HealthCheckServersDeps;
  readonly #backoff: Backoff;
  readonly #servers = new Map<ServiceName, Server>();
  readonly #failures = new Map<ServiceName, CodedError>();
  #checks: ReadonlyMap<ServiceName, HealthCheck> = new Map();
  /** Whether the ports may differ from the checks. */
  #isChanged = false;
  #work: Promise<void> | undefined;
  #retry: Timer | undefined;
  #isClosed = false;

  constructor(deps: HealthCheckServersDeps) {
    this.#deps = deps;
    this.#backoff = new Backoff(RETRY, deps.random);
  }

  /** Counts have effect at once; ports are opened and closed afterwards. */
  replace(checks: ReadonlyMap<ServiceName, HealthCheck>): void {
    // The event loop continues until it is closed, after the servers.
    if (this.#isClosed) return;
    this.#checks = checks;
    this.#start();
  }

  /** Services whose port cannot be opened at present. */
  failures(): ReadonlyMap<ServiceName, CodedError> {
    return this.#failures;
  }

  /** Resolves when the ports are those of the checks, except failed ones. */
  async settled(): Promise<void> {
    await this.#work;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#checks = new Map();
    this.#start();
    await this.settled();
  }

  #start(): void {
    this.#isChanged = true;
    this.#work ??= this.#run();
  }

  /** One at a time: a port may be taken over from one service by another. */
  async #run(): Promise<void> {
    while (this.#isChanged) {
      this.#isChanged = false;
      await this.#closeUnneeded();
      await this.#openMissing();
    }
    this.#work = undefined;
    this.#setRetry();
  }

  async #closeUnneeded(): Promise<void> {
    for (const name of this.#failures.keys())
      if (!this.#checks.has(name)) this.#failures.delete(name);
    for (const [name, { port, open }] of this.#servers) {
      if (this.#checks.get(name)?.port === port) continue;
      this.#servers.delete(name);
      await open.close();
      this.#deps.log.debug({ service: name, port }, 'health check closed');
    }
  }

  async #openMissing(): Promise<void> {
    for (const [name, { port }] of this.#checks) {
      if (this.#servers.has(name)) continue;
      try {
        const reply = () =>
          healthReply(
            name,
            this.#checks.get(name)?.localEndpoints ?? 0,
            this.#deps.isProxyHealthy(),
          );
        this.#servers.set(name, { port, open: await this.#deps.port.open(port, reply) });
        this.#failures.delete(name);
        this.#deps.log.debug({ service: name, port }, 'health check opened');
      } catch (cause) {
        this.#fail(name, port, cause);
      }
    }
  }

  /** Each failure is logged once. */
  #fail(service: ServiceName, port: number, cause: unknown): void {
    const text = `cannot serve the health check of service ${service} on port ${port}: ${errorText(cause)}`;
    const error = new HealthCheckPortError(text, { cause });
    if (this.#failures.get(service)?.message !== error.message)
      this.#deps.log.warn({ err: error, service, port }, 'health check cannot be opened');
    this.#failures.set(service, error);
  }

  #setRetry(): void {
    this.#retry?.cancel();
    this.#retry = undefined;
    if (this.#failures.size === 0) this.#backoff.reset();
    if (this.#failures.size === 0 || this.#isClosed) return;
    this.#retry = this.#deps.clock.timer(this.#backoff.next(), () => this.#start());
  }
}
