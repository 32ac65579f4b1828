/**
 * Publishes what happens in the agent, for whom it may concern: nothing in the agent waits for it. While
 * Kafka is unavailable the newest notifications are kept up to a limit, and the oldest are dropped and
 * counted. A notification whose acknowledgment was lost is published twice.
 */
import { Counter, Gauge, type Registry } from 'prom-client';
import { Backoff } from '../clock/backoff.ts';
import type { Clock, Random } from '../clock/clock.ts';
import { Fifo } from '../collections/fifo.ts';
import { errorText, traitsOf } from '../errors/errors.ts';
import type { Logger } from '../log/log.ts';

const MAX_QUEUED = 10_000;
const MAX_QUEUED_BYTES = 16 * 1024 * 1024;
const BATCH = 100;
const retryDelays = { firstMs: 1_000, maxMs: 30_000 };

interface Notification {
  readonly topic: string;
  readonly key: string;
  readonly value: Uint8Array;
}

type Publish = (notification: Notification) => Promise<unknown>;

export interface NotifierDeps {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export class Notifier {
  readonly #deps: NotifierDeps;
  readonly #count: Counter<'outcome'>;
  readonly #queue = new Fifo<Notification>();
  readonly #closing = new AbortController();
  #queuedBytes = 0;
  /** undefined before the start. */
  #publish: Publish | undefined;
  #sending: Promise<void> | undefined;

  constructor(deps: NotifierDeps) {
    this.#deps = deps;
    const registers = [deps.registry];
    this.#count = new Counter({
      name: 'contiv_notifications_total',
      help: 'Messages to Kafka by outcome: delivered, dropped (Kafka was unavailable for too long), rejected.',
      labelNames: ['outcome'],
      registers,
    });
    const queue = this.#queue;
    new Gauge({
      name: 'contiv_notifications_queued',
      help: 'Messages that wait until Kafka takes them.',
      registers,
      collect() {
        this.set(queue.size);
      },
    });
  }

  start(publish: Publish): void {
    this.#publish = publish;
    this.#send();
  }

  /** Queues a document; takes no longer than its JSON text. */
  notify(topic: string, key: string, document: unknown): void {
    if (this.#closing.signal.aborted) return;
    const notification = { topic, key, value: Buffer.from(JSON.stringify(document)) };
    this.#queue.push(notification);
    this.#queuedBytes += notification.value.length;
    while (this.#queue.size > MAX_QUEUED || this.#queuedBytes > MAX_QUEUED_BYTES) {
      if (!this.#take()) break;
      this.#count.inc({ outcome: 'dropped' });
    }
    this.#send();
  }

  /** Discards what is queued. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#sending;
  }

  #take(): Notification | undefined {
    const first = this.#queue.shift();
    if (first) this.#queuedBytes -= first.value.length;
    return first;
  }

  #send(): void {
    const publish = this.#publish;
    if (publish && this.#queue.size > 0) this.#sending ??= this.#sendAll(publish);
  }

  async #sendAll(publish: Publish): Promise<void> {
    // The events of one turn are one batch.
    await this.#deps.clock.turn();
    while (!this.#closing.signal.aborted) {
      const batch: Notification[] = [];
      for (let next = this.#queue.first; next && batch.length < BATCH; next = this.#queue.first)
        batch.push(this.#take()!);
      if (batch.length === 0) break;
      await this.#deliver(batch, publish);
    }
    this.#sending = undefined;
  }

  /** Tries until nothing is left that may succeed later. */
  async #deliver(batch: readonly Notification[], publish: Publish): Promise<void> {
    const { clock, random, log } = this.#deps;
    const backoff = new Backoff(retryDelays, random);
    let left = batch;
    let reason: string | undefined;
    for (;;) {
      const results = await Promise.allSettled(left.map((one) => publish(one)));
      const waiting: Notification[] = [];
      const errors: string[] = [];
      for (const [index, result] of results.entries()) {
        const one = left[index]!;
        if (result.status === 'fulfilled') this.#count.inc({ outcome: 'delivered' });
        else if (traitsOf(result.reason).isRetriable === false) this.#reject(one, result.reason);
        else {
          waiting.push(one);
          errors.push(errorText(result.reason));
        }
      }
      if (waiting.length === 0 || this.#closing.signal.aborted) break;
      left = waiting;
      if (reason === undefined)
        log.warn({ error: errors[0] }, 'cannot reach Kafka; notifications are queued');
      reason = errors[0];
      await clock.sleep(backoff.next(), this.#closing.signal).catch(() => undefined);
    }
    if (reason !== undefined && !this.#closing.signal.aborted)
      log.info('notifications reach Kafka again');
  }

  #reject({ topic, key }: Notification, error: unknown): void {
    this.#count.inc({ outcome: 'rejected' });
    this.#deps.log.warn({ topic, key, error: errorText(error) }, 'notification rejected by Kafka');
  }
}
