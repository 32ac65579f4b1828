/**
 * Reads topics as one member of a consumer group. Topics may be added and stopped at any time. When
 * something fails, the member leaves and joins again, and continues at the committed offsets.
 *
 * A message counts as delivered when `deliver` has ended. Its offset is committed within a second.
 * What was delivered and not yet committed when the process ends or the group moves the partition
 * is delivered again.
 */
import { type BaseOptions, Consumer, type Message } from '@platformatic/kafka';
import { Backoff } from '../clock/backoff.ts';
import type { Clock, Random, Timer } from '../clock/clock.ts';
import type { Logger } from '../log/log.ts';
import type { Deliver, Stop } from './api.ts';
import { messagingError, reasonOf } from './kafka-errors.ts';
import {
  closeConsumer,
  keyText,
  limited,
  retryDelays,
  type Stream,
  stopStream,
} from './reading.ts';

const COMMIT_MS = 1_000;
/** Messages that are read ahead for each topic. They may be large, so they are few. */
const READ_AHEAD = 16;
const MAX_BYTES = 1024 * 1024;

export interface GroupReaderDeps {
  readonly base: BaseOptions;
  readonly groupId: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

interface Position {
  readonly topic: string;
  readonly partition: number;
  /** Offset after the last delivered message. */
  readonly offset: bigint;
  readonly leaderEpoch: number;
}

export class GroupReader {
  readonly #deps: GroupReaderDeps;
  readonly #topics = new Map<string, Deliver>();
  readonly #streams = new Map<string, Stream>();
  /** By topic and partition: where the member continues. */
  readonly #delivered = new Map<string, Position>();
  /** Partitions whose position is not committed. */
  readonly #uncommitted = new Set<string>();
  readonly #closing = new AbortController();
  #consumer: Consumer | undefined;
  #commitTimer: Timer | undefined;
  /** The topics have changed, or a stream has failed, since the streams were last adapted. */
  #isOutdated = false;
  #hasFailed = false;
  #adapting: Promise<void> | undefined;

  constructor(deps: GroupReaderDeps) {
    this.#deps = deps;
  }

  watch(topic: string, deliver: Deliver): Stop {
    this.#topics.set(topic, deliver);
    this.#changed();
    return () => {
      if (this.#topics.get(topic) !== deliver) return;
      this.#topics.delete(topic);
      this.#changed();
    };
  }

  /** @throws MessagingUnavailableError */
  async commit(): Promise<void> {
    this.#commitTimer?.cancel();
    this.#commitTimer = undefined;
    const consumer = this.#consumer;
    if (!consumer || this.#uncommitted.size === 0) return;
    const keys = [...this.#uncommitted];
    const offsets = keys.flatMap((key) => this.#delivered.get(key) ?? []);
    this.#uncommitted.clear();
    try {
      await consumer.commit({ offsets });
    } catch (thrown) {
      for (const key of keys) if (this.#delivered.has(key)) this.#uncommitted.add(key);
      throw messagingError(thrown, this.#deps.groupId);
    }
  }

  async close(): Promise<void> {
    this.#topics.clear();
    this.#closing.abort();
    await this.#leave();
    if (this.#adapting) await limited(this.#adapting, this.#deps.clock);
  }

  #changed(): void {
    this.#isOutdated = true;
    // After the caller, so that topics that are added together are one change of the group.
    this.#adapting ??= Promise.resolve().then(() => this.#adaptAll());
  }

  async #adaptAll(): Promise<void> {
    const { clock, random, log } = this.#deps;
    const backoff = new Backoff(retryDelays, random);
    while (this.#isOutdated && !this.#closing.signal.aborted) {
      this.#isOutdated = false;
      try {
        if (this.#hasFailed) await this.#leave();
        this.#hasFailed = false;
        await this.#adapt();
      } catch (thrown) {
        this.#hasFailed = true;
        this.#isOutdated = true;
        log.warn({ error: reasonOf(thrown) }, 'cannot read topics of Kafka; retrying');
        await clock.sleep(backoff.next(), this.#closing.signal).catch(() => undefined);
      }
    }
    this.#adapting = undefined;
  }

  /** Opens and stops streams until there is one for each topic. */
  async #adapt(): Promise<void> {
    const stopped = [...this.#streams].filter(([topic]) => !this.#topics.has(topic));
    for (const [topic, stream] of stopped) {
      this.#streams.delete(topic);
      stopStream(stream);
    }
    if (this.#topics.size === 0) return this.#leave();
    this.#consumer ??= this.#createConsumer();
    const consumer = this.#consumer;
    // Without the topic other members get its partitions.
    if (stopped.length > 0) await consumer.joinGroup({});
    for (const topic of this.#topics.keys()) {
      if (this.#streams.has(topic)) continue;
      const stream = await consumer.consume({
        topics: [topic],
        mode: 'committed',
        fallbackMode: 'earliest',
        autocommit: false,
      });
      if (this.#consumer !== consumer) return stopStream(stream);
      this.#streams.set(topic, stream);
      void this.#read(topic, stream);
    }
  }

  #createConsumer(): Consumer {
    const { base, groupId } = this.#deps;
    const consumer = new Consumer({
      ...base,
      groupId,
      sessionTimeout: 10_000,
      rebalanceTimeout: 30_000,
      heartbeatInterval: 1_000,
      maxWaitTime: 1_000,
      maxBytes: MAX_BYTES,
      highWaterMark: READ_AHEAD,
    });
    // The partitions of the member may have changed.
    consumer.on('consumer:group:join', () => {
      for (const [key, { topic, partition }] of this.#delivered)
        if (!owns(consumer, topic, partition)) this.#forget(key);
    });
    return consumer;
  }

  async #read(topic: string, stream: Stream): Promise<void> {
    let reason: unknown = new Error('the stream has ended');
    try {
      for await (const message of stream) await this.#deliver(message);
    } catch (thrown) {
      reason = thrown;
    }
    if (this.#streams.get(topic) !== stream) return;
    this.#deps.log.warn(
      { topic, error: reasonOf(reason) },
      'reading a Kafka topic was interrupted',
    );
    this.#hasFailed = true;
    this.#changed();
  }

  async #deliver({ topic, partition, offset, leaderEpoch, key, value }: Message): Promise<void> {
    const id = `${topic}/${partition}`;
    const consumer = this.#consumer;
    const position = this.#delivered.get(id);
    // After a change of the group the library reads from the committed offset again.
    if (position && offset < position.offset) return;
    const deliver = this.#topics.get(topic);
    if (!deliver || !consumer || !owns(consumer, topic, partition)) return;
    await deliver({
      topic,
      partition,
      offset,
      key: keyText(key),
      value: value ?? Buffer.alloc(0),
    });
    // Another member may have got the partition meanwhile, and it commits its own progress.
    if (this.#consumer !== consumer || !owns(consumer, topic, partition)) return;
    this.#delivered.set(id, { topic, partition, offset: offset + 1n, leaderEpoch });
    this.#uncommitted.add(id);
    this.#commitTimer ??= this.#deps.clock.timer(COMMIT_MS, () => void this.#commitInTime());
  }

  async #commitInTime(): Promise<void> {
    try {
      await this.commit();
    } catch (thrown) {
      this.#deps.log.debug({ err: thrown }, 'offsets were not committed; retrying');
      this.#commitTimer ??= this.#deps.clock.timer(COMMIT_MS, () => void this.#commitInTime());
    }
  }

  #forget(key: string): void {
    this.#delivered.delete(key);
    this.#uncommitted.delete(key);
  }

  /** Leaves the group. A member that cannot is expelled by the brokers after its session timeout. */
  async #leave(): Promise<void> {
    const consumer = this.#consumer;
    if (!consumer) return;
    const { clock } = this.#deps;
    const streams = [...this.#streams.values()];
    this.#streams.clear();
    for (const stream of streams) stopStream(stream);
    if (!this.#hasFailed) await limited(this.commit(), clock);
    this.#commitTimer?.cancel();
    this.#commitTimer = undefined;
    this.#consumer = undefined;
    for (const key of [...this.#delivered.keys()]) this.#forget(key);
    await closeConsumer(consumer, clock);
  }
}

function owns(consumer: Consumer, topic: string, partition: number): boolean {
  return (consumer.assignments ?? []).some(
    (one) => one.topic === topic && one.partitions.includes(partition),
  );
}
