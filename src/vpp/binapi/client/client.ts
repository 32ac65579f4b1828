import { Backoff } from '#infra/clock/backoff.ts';
import { errorText } from '#infra/errors/errors.ts';
import {
  type ConnectionState,
  type Transport,
  type VppClient,
  VppDisconnectedError,
} from '../api.ts';
import { bundledCatalog } from '../catalog.ts';
import type { Dumps, EventsByName, Requests } from '../messages.gen.ts';
import { Connection } from './connection.ts';
import { EventListeners } from './event-listeners.ts';
import { performHandshake } from './handshake.ts';
import { HealthProbe } from './health-probe.ts';
import { MessageStream } from './message-stream.ts';
import { type BinapiClientOptions, type ClientOptions, defaultOptions } from './options.ts';

/**
 * A client of VPP's binary API that keeps itself connected: it connects, monitors the connection and
 * reconnects until it is closed.
 */
export class BinapiClient implements VppClient {
  readonly #options: ClientOptions;
  readonly #catalog = bundledCatalog();
  readonly #events: EventListeners;
  readonly #backoff: Backoff;
  readonly #closing = new AbortController();
  readonly #listeners = new Set<(state: ConnectionState) => void>();
  #state: ConnectionState = 'disconnected';
  #generation = 0;
  #connection: Connection | undefined;
  /** The last list of missing messages that was logged. */
  #reportedMissing = '';
  /** The last failure to connect that was logged. */
  #reportedFailure = '';
  /** Why the client is disconnected; empty before the first attempt has ended. */
  #lastFailure = '';
  #running: Promise<void> | undefined;

  constructor(options: BinapiClientOptions) {
    this.#options = { ...defaultOptions, ...options };
    this.#events = new EventListeners(this.#options.log);
    this.#backoff = new Backoff(this.#options.reconnect, this.#options.random);
  }

  get state(): ConnectionState {
    return this.#state;
  }

  get generation(): number {
    return this.#generation;
  }

  /** Starts connecting. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** Closes the client permanently: all pending requests reject with VppDisconnectedError. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#connection?.drop(new VppDisconnectedError('the client was closed'));
    await this.#running;
    this.#setState('closed');
  }

  /**
   * Resolves when the client is connected, at once if it is.
   * @throws VppDisconnectedError (by rejection) when the client is closed first
   */
  whenConnected(): Promise<void> {
    return new Promise((resolve, reject) => {
      const check = (): boolean => {
        if (this.#state === 'connected') resolve();
        else if (this.#state === 'closed')
          reject(new VppDisconnectedError('the client was closed'));
        else return false;
        return true;
      };
      if (check()) return;
      const stop = this.onStateChange(() => check() && stop());
    });
  }

  onStateChange(listener: (state: ConnectionState) => void): () => void {
    const own = (state: ConnectionState) => listener(state);
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  request<N extends keyof Requests>(
    name: N,
    fields: Requests[N]['request'],
  ): Promise<Requests[N]['reply']> {
    if (!this.#connection) return Promise.reject(this.#notConnected(name));
    const answer = this.#connection.request(name, fields) as Promise<Requests[N]['reply']>;
    this.#observe(name, answer, () => 1);
    return answer;
  }

  async dump<N extends keyof Dumps>(
    name: N,
    fields: Dumps[N]['request'],
  ): Promise<readonly Dumps[N]['details'][]> {
    const all: Dumps[N]['details'][] = [];
    await this.dumpEach(name, fields, (details) => all.push(details));
    return all;
  }

  dumpEach<N extends keyof Dumps>(
    name: N,
    fields: Dumps[N]['request'],
    take: (details: Dumps[N]['details']) => void,
  ): Promise<void> {
    if (!this.#connection) return Promise.reject(this.#notConnected(name));
    let count = 0;
    const answer = this.#connection.dump(name, fields, (details) => {
      count++;
      take(details as Dumps[N]['details']);
    });
    this.#observe(name, answer, () => count);
    return answer;
  }

  onEvent<N extends keyof EventsByName>(
    name: N,
    listener: (event: EventsByName[N]) => void,
  ): () => void {
    return this.#events.add(name, (event) => listener(event as EventsByName[N]));
  }

  has(name: string): boolean {
    if (!this.#connection) throw this.#notConnected(name);
    return this.#connection.messageIds.service(name) !== undefined;
  }

  /** Beside the answer, so that its receiver runs no later than without an observer. */
  #observe(name: string, answer: Promise<unknown>, replies: () => number): void {
    const { observer, clock } = this.#options;
    if (!observer) return;
    const sent = clock.monotonic();
    observer.sent(name);
    answer.then(
      () => {
        observer.done(name, (clock.monotonic() - sent) / 1_000);
        observer.replied(this.#answerOf(name), replies());
      },
      (error) => observer.failed(name, error),
    );
  }

  #answerOf(name: string): string {
    const service = this.#catalog.services.get(name);
    if (service === undefined) return name;
    return service.kind === 'request' ? service.reply.name : service.details.name;
  }

  #notConnected(name: string): Error {
    const why = this.#lastFailure === '' ? '' : `: ${this.#lastFailure}`;
    return new VppDisconnectedError(`VPP is not connected${why}`, { where: name });
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    while (!this.#closing.signal.aborted) {
      try {
        await this.#runConnection();
      } catch (error) {
        this.#reportFailure(errorText(error));
      }
      if (this.#closing.signal.aborted) return;
      this.#setState('disconnected');
      const wait = this.#backoff.next();
      await clock.sleep(wait, this.#closing.signal).catch(() => undefined);
    }
  }

  /** Opens one connection and resolves when it has ended. */
  async #runConnection(): Promise<void> {
    const { clock, log, health, reconnect } = this.#options;
    this.#setState('connecting');
    const connection = await this.#open();
    const since = clock.monotonic();
    const probes = new HealthProbe(connection, health, clock, log);
    const ended = Promise.withResolvers<Error>();
    connection.onEnd = (reason) => {
      probes.stop();
      this.#connection = undefined;
      this.#setState('disconnected');
      ended.resolve(reason);
    };
    this.#connection = connection;
    this.#generation++;
    this.#reportedFailure = '';
    this.#reportMissing(connection.messageIds.missing);
    log.info({ generation: this.#generation }, 'connected to VPP');
    this.#setState('connected');
    const reason = await ended.promise;
    this.#lastFailure = errorText(reason);
    // a VPP that closes each connection soon is retried no more often than an unreachable one
    if (clock.monotonic() - since >= reconnect.maxMs) this.#backoff.reset();
    if (!this.#closing.signal.aborted)
      log.error({ error: errorText(reason) }, 'connection to VPP lost');
  }

  async #open(): Promise<Connection> {
    const wire = new MessageStream(await this.#connect(), this.#options.clock);
    const greeting = await performHandshake(
      wire,
      this.#catalog,
      this.#options,
      this.#closing.signal,
    );
    return new Connection(wire, greeting, this.#catalog, this.#events, this.#options);
  }

  /** Rejects as soon as the client is closed, even if `connect` never settles. */
  async #connect(): Promise<Transport> {
    const { signal } = this.#closing;
    const aborted = Promise.withResolvers<never>();
    const abort = () => aborted.reject(signal.reason);
    signal.addEventListener('abort', abort);
    const connecting = this.#options.connect();
    // close a transport that connects after the client was closed
    connecting.then((transport) => signal.aborted && transport.close()).catch(() => undefined);
    try {
      return await Promise.race([connecting, aborted.promise]);
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  /** Logs a repeated failure only at debug level. */
  #reportFailure(error: string): void {
    if (this.#closing.signal.aborted) return;
    const level = error === this.#reportedFailure ? 'debug' : 'warn';
    this.#options.log[level]({ error }, 'cannot connect to VPP');
    this.#reportedFailure = error;
    this.#lastFailure = error;
  }

  #reportMissing(missing: readonly string[]): void {
    const text = missing.join(' ');
    if (text !== '' && text !== this.#reportedMissing)
      this.#options.log.warn({ missing }, 'VPP does not support messages that the agent uses');
    this.#reportedMissing = text;
  }

  #setState(state: ConnectionState): void {
    if (state === this.#state) return;
    this.#state = state;
    for (const listener of [...this.#listeners])
      try {
        listener(state);
      } catch (error) {
        this.#options.log.error({ state, error: errorText(error) }, 'state listener failed');
      }
  }
}
