/**
 * Reads one partition from an offset, without the consumer group. The reader has a connection of its
 * own: a broker answers the requests of a connection in order, and a read waits for messages.
 */
import { type BaseOptions, Consumer, IS_CONTROL } from '@platformatic/kafka';
import { Backoff } from '../clock/backoff.ts';
import type { Clock, Random } from '../clock/clock.ts';
import type { Logger } from '../log/log.ts';
import { type Deliver, NEWEST, OLDEST, type PartitionPosition } from './api.ts';
import { reasonOf } from './kafka-errors.ts';
import { closeConsumer, keyText, limited, retryDelays } from './reading.ts';

/** Time that a broker waits for messages before it answers that there are none. */
const WAIT_MS = 1_000;
/** Of one answer; a larger message is sent alone. */
const MAX_BYTES = 1024 * 1024;

export interface PartitionReaderDeps {
  readonly base: BaseOptions;
  readonly position: PartitionPosition;
  readonly deliver: Deliver;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export class PartitionReader {
  readonly #deps: PartitionReaderDeps;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  /** First offset to deliver; undefined until `OLDEST` or `NEWEST` is known as an offset. */
  #from: bigint | undefined;
  /** Offset after the last message that was read. */
  #next: bigint | undefined;
  #consumer: Consumer | undefined;

  constructor(deps: PartitionReaderDeps) {
    this.#deps = deps;
    const { offset } = deps.position;
    if (offset >= 0n) this.#from = offset;
    this.#running = this.#run();
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  async close(): Promise<void> {
    const { clock } = this.#deps;
    this.#closing.abort();
    if (this.#consumer) await closeConsumer(this.#consumer, clock);
    await limited(this.#running, clock);
  }

  async #run(): Promise<void> {
    const { base, position, clock, random, log } = this.#deps;
    const backoff = new Backoff(retryDelays, random);
    while (!this.#isClosed) {
      // Only for its requests: it never joins the group.
      const consumer = new Consumer({
        ...base,
        groupId: `${base.clientId}-partitions`,
        retries: 0,
      });
      this.#consumer = consumer;
      try {
        await this.#read(consumer, () => backoff.reset());
      } catch (thrown) {
        if (!this.#isClosed) {
          const { topic, partition } = position;
          const fields = { topic, partition, error: reasonOf(thrown) };
          log.warn(fields, 'cannot read a partition of Kafka; retrying');
          await clock.sleep(backoff.next(), this.#closing.signal).catch(() => undefined);
        }
      }
      await closeConsumer(consumer, clock);
    }
  }

  async #read(consumer: Consumer, onRead: () => void): Promise<void> {
    const { topic, partition } = this.#deps.position;
    consumer.topics.track(topic);
    const found = (await consumer.metadata({ topics: [topic] })).topics.get(topic);
    const leader = found?.partitions[partition]?.leader;
    if (!found || leader === undefined) throw new Error('the topic does not have the partition');
    let next = await this.#start(consumer);
    while (!this.#isClosed) {
      const { responses } = await consumer.fetch({
        node: leader,
        minBytes: 1,
        maxBytes: MAX_BYTES,
        maxWaitTime: WAIT_MS,
        topics: [
          {
            topicId: found.id,
            partitions: [
              {
                partition,
                fetchOffset: next,
                partitionMaxBytes: MAX_BYTES,
                currentLeaderEpoch: -1,
                lastFetchedEpoch: -1,
              },
            ],
          },
        ],
      });
      onRead();
      const batches = responses.flatMap(({ partitions }) => partitions);
      for (const batch of batches.flatMap(({ records }) => records ?? [])) {
        const isControl = (batch.attributes & IS_CONTROL) !== 0;
        for (const { offsetDelta, key, value } of isControl ? [] : batch.records) {
          const offset = batch.firstOffset + BigInt(offsetDelta);
          // A broker sends whole batches, also with messages before the offset.
          if (offset < next || offset < this.#from!) continue;
          await this.#deps.deliver({
            topic,
            partition,
            offset,
            key: keyText(key),
            value: value ?? Buffer.alloc(0),
          });
          if (this.#isClosed) return;
          this.#next = offset + 1n;
        }
        next = batch.firstOffset + BigInt(batch.lastOffsetDelta) + 1n;
        this.#next = next;
      }
    }
  }

  /** Offset at which to begin or continue, within what the partition has. */
  async #start(consumer: Consumer): Promise<bigint> {
    const { topic, partition, offset } = this.#deps.position;
    const at = async (timestamp: bigint): Promise<bigint> => {
      const offsets = await consumer.listOffsets({
        topics: [topic],
        partitions: { [topic]: [partition] },
        timestamp,
      });
      return offsets.get(topic)![partition]!;
    };
    const [oldest, newest] = [await at(OLDEST), await at(NEWEST)];
    this.#from ??= offset === NEWEST ? newest : oldest;
    // Beyond the newest: the topic was deleted and created again.
    const wanted = this.#next === undefined || this.#next > newest ? this.#from : this.#next;
    if (wanted < oldest && this.#next !== undefined) {
      const fields = { topic, partition, from: String(wanted), to: String(oldest) };
      this.#deps.log.warn(fields, 'messages were deleted in Kafka before they were read');
    }
    if (wanted < oldest) return oldest;
    return wanted > newest ? newest : wanted;
  }
}
