/**
 * Sends the messages of one topic in batches, one batch at a time: messages of a partition are stored
 * in the order in which they were added, and many of them cost few requests.
 */
import { Fifo } from '../collections/fifo.ts';
import { type Delivery, type OutgoingMessage, PublishError } from './api.ts';

const BATCH_MESSAGES = 1000;
/** A broker rejects batches of more than 1 MiB by default. A larger message is a batch of its own. */
const BATCH_BYTES = 512 * 1024;

export interface QueuedMessage {
  readonly message: OutgoingMessage;
  readonly resolve: (delivery: Delivery) => void;
  readonly reject: (error: unknown) => void;
}

export interface SendQueuePort {
  /** Number of partitions of the topic. */
  countPartitions(): Promise<number>;
  selectPartition(message: OutgoingMessage, count: number): number;
  /**
   * Stores messages in a partition, all or none.
   * @returns offset of the first one; undefined without acknowledgment
   */
  send(partition: number, messages: readonly OutgoingMessage[]): Promise<bigint | undefined>;
  /** Called when all messages have been sent or rejected. */
  onIdle(): void;
  /** Whether the batch was rejected for its size, so that its halves may be accepted. */
  isTooLarge(error: unknown): boolean;
}

export class SendQueue {
  readonly #topic: string;
  readonly #port: SendQueuePort;
  readonly #messages = new Fifo<QueuedMessage>();
  #isSending = false;

  constructor(topic: string, port: SendQueuePort) {
    this.#topic = topic;
    this.#port = port;
  }

  add(queued: QueuedMessage): void {
    this.#messages.push(queued);
    if (this.#isSending) return;
    this.#isSending = true;
    // After the caller, so that the messages of one turn are a batch.
    queueMicrotask(() => void this.#sendAll());
  }

  async #sendAll(): Promise<void> {
    while (this.#messages.size > 0) await this.#sendBatch(this.#takeBatch());
    this.#isSending = false;
    this.#port.onIdle();
  }

  #takeBatch(): QueuedMessage[] {
    const batch: QueuedMessage[] = [];
    let bytes = 0;
    while (batch.length < BATCH_MESSAGES) {
      const next = this.#messages.first;
      if (!next) break;
      bytes += next.message.value.length + next.message.key.length;
      if (batch.length > 0 && bytes > BATCH_BYTES) break;
      batch.push(this.#messages.shift()!);
    }
    return batch;
  }

  async #sendBatch(batch: readonly QueuedMessage[]): Promise<void> {
    const partitions = new Map<number, QueuedMessage[]>();
    try {
      const count = await this.#port.countPartitions();
      for (const queued of batch) this.#assign(queued, count, partitions);
    } catch (error) {
      for (const { reject } of batch) reject(error);
      return;
    }
    await Promise.all(
      [...partitions].map(([partition, group]) => this.#sendGroup(partition, group)),
    );
  }

  #assign(queued: QueuedMessage, count: number, partitions: Map<number, QueuedMessage[]>): void {
    const partition = this.#port.selectPartition(queued.message, count);
    if (partition >= count) {
      const where = `${this.#topic}/${partition}`;
      queued.reject(new PublishError(`the topic has only ${count} partitions`, { where }));
      return;
    }
    const group = partitions.get(partition);
    if (group) group.push(queued);
    else partitions.set(partition, [queued]);
  }

  async #sendGroup(partition: number, group: readonly QueuedMessage[]): Promise<void> {
    let first: bigint | undefined;
    try {
      first = await this.#port.send(
        partition,
        group.map(({ message }) => message),
      );
    } catch (error) {
      if (group.length > 1 && this.#port.isTooLarge(error)) {
        const half = Math.ceil(group.length / 2);
        await this.#sendGroup(partition, group.slice(0, half));
        await this.#sendGroup(partition, group.slice(half));
      } else for (const { reject } of group) reject(error);
      return;
    }
    group.forEach(({ resolve }, index) => {
      const offset = first === undefined ? undefined : first + BigInt(index);
      resolve({ topic: this.#topic, partition, offset });
    });
  }
}
