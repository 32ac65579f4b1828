/**
 * The connection to a Kafka cluster, over @platformatic/kafka (docs/messaging.md says why). One
 * producer and one member of the consumer group serve all users. Nothing here waits for a broker at
 * the start: while none can be reached, publishing fails, and watches try again.
 */
import { type BaseOptions, ProduceAcks, Producer } from '@platformatic/kafka';
import type { Clock, Random } from '../clock/clock.ts';
import type { Logger } from '../log/log.ts';
import {
  type Acks,
  type Deliver,
  type Delivery,
  type MessageClient,
  MessagingClosedError,
  MessagingUnavailableError,
  type OutgoingMessage,
  type PartitionPosition,
  PublishQueueFullError,
  type Stop,
} from './api.ts';
import type { KafkaOptions } from './config.ts';
import { GroupReader } from './group-reader.ts';
import { isTooLarge, messagingError } from './kafka-errors.ts';
import { PartitionReader } from './partition-reader.ts';
import { partitionOf } from './partitioner.ts';
import { limited } from './reading.ts';
import { SendQueue } from './send-queue.ts';

/** Messages that wait for their delivery. More are rejected, so that a slow broker costs no memory. */
const MAX_WAITING = 10_000;
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

/** The library itself waits for more than a minute, while the status would stay as it was. */
const PROBE_LIMIT_MS = 10_000;

const acksNumbers: Readonly<Record<Acks, number>> = {
  none: ProduceAcks.NO_RESPONSE,
  leader: ProduceAcks.LEADER,
  all: ProduceAcks.ALL,
};

export interface KafkaClientDeps {
  readonly options: KafkaOptions;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export class KafkaClient implements MessageClient {
  readonly #deps: KafkaClientDeps;
  readonly #base: BaseOptions;
  readonly #producer: Producer;
  readonly #group: GroupReader;
  readonly #partitionReaders = new Set<PartitionReader>();
  /** By topic and acknowledgment. */
  readonly #queues = new Map<string, SendQueue>();
  /** Ends the calls that wait for their delivery. */
  readonly #rejectWaiting = new Set<(error: Error) => void>();
  #waitingBytes = 0;
  #isClosed = false;

  constructor(deps: KafkaClientDeps) {
    const { options, clock, random, log } = deps;
    this.#deps = deps;
    this.#base = {
      clientId: options.clientId,
      bootstrapBrokers: [...options.brokers],
      autocreateTopics: true,
      retries: 3,
      retryDelay: 500,
      ...(options.tls && { tls: { ...options.tls }, tlsServerName: true }),
    };
    this.#producer = new Producer(this.#base);
    this.#group = new GroupReader({
      base: this.#base,
      groupId: options.groupId,
      clock,
      random,
      log,
    });
  }

  async publish(message: OutgoingMessage, acks: Acks): Promise<Delivery> {
    if (this.#isClosed) throw closedError();
    const waiting = this.#rejectWaiting.size;
    const bytes = message.value.length + message.key.length;
    const isFull = waiting >= MAX_WAITING || this.#waitingBytes + bytes > MAX_WAITING_BYTES;
    // A single message larger than the limit is up to the broker.
    if (isFull && waiting > 0)
      throw new PublishQueueFullError(`${waiting} messages wait for their delivery`, {
        where: message.topic,
      });
    const { promise, resolve, reject } = Promise.withResolvers<Delivery>();
    this.#rejectWaiting.add(reject);
    this.#waitingBytes += bytes;
    this.#queueOf(message.topic, acks).add({ message, resolve, reject });
    try {
      return await promise;
    } finally {
      this.#rejectWaiting.delete(reject);
      this.#waitingBytes -= bytes;
    }
  }

  #queueOf(topic: string, acks: Acks): SendQueue {
    const { random } = this.#deps;
    const id = `${acks} ${topic}`;
    const known = this.#queues.get(id);
    if (known) return known;
    const queue = new SendQueue(topic, {
      onIdle: () => void this.#queues.delete(id),
      countPartitions: async () => {
        try {
          const { topics } = await this.#producer.metadata({
            topics: [topic],
            autocreateTopics: true,
          });
          return topics.get(topic)!.partitionsCount;
        } catch (thrown) {
          throw messagingError(thrown, topic);
        }
      },
      selectPartition: ({ key, partition }, count) => partition ?? partitionOf(key, count, random),
      send: (partition, messages) => this.#send(topic, partition, messages, acks),
      isTooLarge: (error) => error instanceof Error && isTooLarge(error.cause),
    });
    this.#queues.set(id, queue);
    return queue;
  }

  async #send(
    topic: string,
    partition: number,
    messages: readonly OutgoingMessage[],
    acks: Acks,
  ): Promise<bigint | undefined> {
    try {
      const { offsets } = await this.#producer.send({
        acks: acksNumbers[acks],
        repeatOnStaleMetadata: true,
        messages: messages.map(({ key, value }) => ({
          topic,
          partition,
          ...(key !== '' && { key: Buffer.from(key) }),
          value: Buffer.from(value.buffer, value.byteOffset, value.byteLength),
        })),
      });
      return offsets?.[0]?.offset;
    } catch (thrown) {
      throw messagingError(thrown, `${topic}/${partition}`);
    }
  }

  watchTopic(topic: string, deliver: Deliver): Stop {
    return this.#group.watch(topic, deliver);
  }

  watchPartition(position: PartitionPosition, deliver: Deliver): Stop {
    const { clock, random, log } = this.#deps;
    const reader = new PartitionReader({
      base: this.#base,
      position,
      deliver,
      clock,
      random,
      log,
    });
    this.#partitionReaders.add(reader);
    return () => {
      this.#partitionReaders.delete(reader);
      void reader.close();
    };
  }

  commitOffsets(): Promise<void> {
    return this.#group.commit();
  }

  async probe(): Promise<void> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const limit = this.#deps.clock.timer(PROBE_LIMIT_MS, () =>
      reject(new MessagingUnavailableError(`no answer in ${PROBE_LIMIT_MS / 1_000} s`)),
    );
    const answered = this.#producer.metadata({ topics: [], forceUpdate: true, retries: 0 });
    try {
      await Promise.race([answered, late]);
    } catch (thrown) {
      throw thrown instanceof MessagingUnavailableError ? thrown : messagingError(thrown);
    } finally {
      limit.cancel();
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const reject of this.#rejectWaiting) reject(closedError());
    await Promise.all([
      this.#group.close(),
      ...[...this.#partitionReaders].map((reader) => reader.close()),
    ]);
    await limited(this.#producer.close(true), this.#deps.clock);
    this.#producer.connections.close().catch(() => undefined);
  }
}

function closedError(): Error {
  return new MessagingClosedError('the connection to Kafka is closed');
}
