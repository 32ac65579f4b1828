/**
 * Publishes what happens in the agent, for whom it may concern: nothing in the agent waits for it. Each topic
 * is sent by itself, so that one that does not exist does not stop the others. While Kafka or a topic is
 * unavailable the newest notifications are kept up to a limit over all topics, and the oldest are dropped and
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
  /** Counts the notifications of all topics. */
  readonly serial: number;
}

interface TopicQueue {
  readonly topic: string;
  readonly waiting: Fifo<Notification>;
  sending: Promise<void> | undefined;
  /** Why the last attempt failed; undefined: it did not. */
  reason: string | undefined;
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
  readonly #queues = new Map<string, TopicQueue>();
  readonly #closing = new AbortController();
  #serial = 0;
  #queued = 0;
  #queuedBytes = 0;
  /** undefined before the start. */
  #publish: Publish | undefined;

  constructor(deps: NotifierDeps) {
    this.#deps = deps;
    const registers = [deps.registry];
    this.#count = new Counter({
      name: 'contiv_notifications_total',
      help: 'Messages to Kafka by outcome: delivered, dropped (Kafka was unavailable for too long), rejected.',
      labelNames: ['outcome'],
      registers,
    });
    const queued = () => this.#queued;
    new Gauge({
      name: 'contiv_notifications_queued',
      help: 'Messages that wait until Kafka takes them.',
      registers,
      collect() {
        this.set(queued());
      },
    });
  }

  /** Names the topics whose notifications cannot be sent at present, with the reason of the first one. */
  get problem(): string | undefined {
    const failing = [...this.#queues.values()].filter(({ reason }) => reason !== undefined);
    const topics = failing.map(({ topic }) => topic).join(', ');
    return failing[0] && `cannot publish to ${topics}: ${failing[0].reason}`;
  }

  start(publish: Publish): void {
    this.#publish = publish;
    for (const queue of this.#queues.values()) this.#send(queue);
  }

  /** Queues a document; takes no longer than its JSON text. */
  notify(topic: string, key: string, document: unknown): void {
    if (this.#closing.signal.aborted) return;
    const value = Buffer.from(JSON.stringify(document));
    const queue = this.#queueOf(topic);
    queue.waiting.push({ topic, key, value, serial: this.#serial++ });
    this.#queued++;
    this.#queuedBytes += value.length;
    while (this.#queued > MAX_QUEUED || this.#queuedBytes > MAX_QUEUED_BYTES) {
      if (!this.#takeOldest()) break;
      this.#count.inc({ outcome: 'dropped' });
    }
    this.#send(queue);
  }

  /** Discards what is queued. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#queues.values()].map(({ sending }) => sending));
  }

  #queueOf(topic: string): TopicQueue {
    const known = this.#queues.get(topic);
    if (known) return known;
    const queue = {
      topic,
      waiting: new Fifo<Notification>(),
      sending: undefined,
      reason: undefined,
    };
    this.#queues.set(topic, queue);
    return queue;
  }

  #take({ waiting }: TopicQueue): Notification | undefined {
    const first = waiting.shift();
    if (!first) return undefined;
    this.#queued--;
    this.#queuedBytes -= first.value.length;
    return first;
  }

  #takeOldest(): Notification | undefined {
    let oldest: TopicQueue | undefined;
    const serialOf = (queue: TopicQueue | undefined) =>
      queue?.waiting.first?.serial ?? Number.POSITIVE_INFINITY;
    for (const queue of this.#queues.values())
      if (serialOf(queue) < serialOf(oldest)) oldest = queue;
    return oldest && this.#take(oldest);
  }

  #send(queue: TopicQueue): void {
    const publish = this.#publish;
    if (publish && queue.waiting.size > 0) queue.sending ??= this.#sendAll(queue, publish);
  }

  async #sendAll(queue: TopicQueue, publish: Publish): Promise<void> {
    // The events of one turn are one batch.
    await this.#deps.clock.turn();
    const { waiting } = queue;
    while (!this.#closing.signal.aborted) {
      const batch: Notification[] = [];
      for (let next = waiting.first; next && batch.length < BATCH; next = waiting.first)
        batch.push(this.#take(queue)!);
      if (batch.length === 0) break;
      await this.#deliver(queue, batch, publish);
    }
    queue.sending = undefined;
  }

  /** Tries until nothing is left that may succeed later. */
  async #deliver(
    queue: TopicQueue,
    batch: readonly Notification[],
    publish: Publish,
  ): Promise<void> {
    const { clock, random, log } = this.#deps;
    const { topic } = queue;
    const backoff = new Backoff(retryDelays, random);
    let left = batch;
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
      if (queue.reason === undefined)
        log.warn({ topic, error: errors[0] }, 'notifications are queued: Kafka does not take them');
      queue.reason = errors[0];
      await clock.sleep(backoff.next(), this.#closing.signal).catch(() => undefined);
    }
    if (queue.reason !== undefined && !this.#closing.signal.aborted)
      log.info({ topic }, 'notifications are sent to Kafka again');
    queue.reason = undefined;
  }

  #reject({ topic, key }: Notification, error: unknown): void {
    this.#count.inc({ outcome: 'rejected' });
    this.#deps.log.warn({ topic, key, error: errorText(error) }, 'notification rejected by Kafka');
  }
}
