/**
 * Serves the health check of each service with the external traffic policy Local on its node port, unless
 * kube-proxy runs on the node, which does the same. A port that cannot be opened is retried and affects no
 * other one.
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
import type { KubeProxy } from './kube-proxy.ts';

export interface HealthCheckServersDeps {
  readonly port: HealthCheckPort;
  readonly kubeProxy: KubeProxy;
  /** Whether changes of services reach the data plane. */
  readonly isProxyHealthy: () => boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
}

const RETRY = { firstMs: 1_000, maxMs: 30_000 } as const;
/** kube-proxy may be installed or removed while the agent runs. */
const KUBE_PROXY_INTERVAL_MS = 60_000;

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
  #isKubeProxyRunning = false;
  /** Monotonic time of the next question for kube-proxy. */
  #nextQuestion = Number.NEGATIVE_INFINITY;
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

  /** Whether the ports are left to kube-proxy. */
  get isLeftToKubeProxy(): boolean {
    return this.#isKubeProxyRunning;
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
      await this.#findKubeProxy();
      await this.#closeUnneeded();
      await this.#openMissing();
    }
    this.#work = undefined;
    this.#setRetry();
  }

  /** Checks whose ports the agent opens. */
  get #own(): ReadonlyMap<ServiceName, HealthCheck> {
    return this.#isKubeProxyRunning ? new Map() : this.#checks;
  }

  async #findKubeProxy(): Promise<void> {
    const { clock, kubeProxy, log } = this.#deps;
    if (this.#checks.size === 0 || clock.monotonic() < this.#nextQuestion) return;
    const isRunning = await kubeProxy.isRunning();
    this.#nextQuestion = clock.monotonic() + KUBE_PROXY_INTERVAL_MS;
    if (isRunning === this.#isKubeProxyRunning) return;
    this.#isKubeProxyRunning = isRunning;
    log.info(
      { services: this.#checks.size },
      isRunning
        ? 'kube-proxy runs on this node: health checks of services are left to it'
        : 'kube-proxy does not run on this node any more: the agent serves the health checks of services',
    );
  }

  async #closeUnneeded(): Promise<void> {
    for (const name of this.#failures.keys()) if (!this.#own.has(name)) this.#failures.delete(name);
    for (const [name, { port, open }] of this.#servers) {
      if (this.#own.get(name)?.port === port) continue;
      this.#servers.delete(name);
      await open.close();
      this.#deps.log.debug({ service: name, port }, 'health check closed');
    }
  }

  async #openMissing(): Promise<void> {
    for (const [name, { port }] of this.#own) {
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
        await this.#fail(name, port, cause);
      }
    }
  }

  /** Each failure is logged once. A port may be in use because kube-proxy has just been started. */
  async #fail(service: ServiceName, port: number, cause: unknown): Promise<void> {
    this.#nextQuestion = Number.NEGATIVE_INFINITY;
    await this.#findKubeProxy();
    if (this.#isKubeProxyRunning) {
      this.#isChanged = true;
      return;
    }
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
    if (this.#checks.size === 0) return;
    const { clock } = this.#deps;
    const question = Math.max(0, this.#nextQuestion - clock.monotonic());
    const wait = this.#failures.size > 0 ? Math.min(question, this.#backoff.next()) : question;
    this.#retry = clock.timer(wait, () => this.#start());
  }
}
