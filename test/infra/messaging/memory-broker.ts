/** Topics in memory, with the contract of `MessageClient`: the clients of one broker share them. */
import {
  type Acks,
  type Deliver,
  type Delivery,
  type IncomingMessage,
  type MessageClient,
  MessagingClosedError,
  MessagingUnavailableError,
  NEWEST,
  OLDEST,
  type OutgoingMessage,
  type PartitionPosition,
  PublishError,
  type Stop,
} from '#infra/messaging/api.ts';
import { hashPartition } from '#infra/messaging/partitioner.ts';

interface Reader {
  readonly topic: string;
  readonly partition: number;
  next: number;
  readonly deliver: Deliver;
  isStopped: boolean;
  isReading: boolean;
  readonly onDelivered: (next: number) => void;
}

export class MemoryBroker {
  /** Messages by topic and partition. */
  readonly #logs = new Map<string, IncomingMessage[][]>();
  /** By group, topic and partition. */
  readonly #committed = new Map<string, number>();
  readonly #readers = new Set<Reader>();
  /** How many messages of each partition are kept. */
  readonly #retention: number;
  isAvailable = true;
  /** Settled before each delivery. */
  pause: Promise<void> = Promise.resolve();

  constructor(retention = Number.POSITIVE_INFINITY) {
    this.#retention = retention;
  }

  /** Other topics have one partition. */
  createTopic(topic: string, partitions: number): void {
    this.#logs.set(
      topic,
      Array.from({ length: partitions }, () => []),
    );
  }

  client(groupId: string): MessageClient {
    return new MemoryClient(this, groupId);
  }

  #log(topic: string): IncomingMessage[][] {
    const log = this.#logs.get(topic) ?? [[]];
    this.#logs.set(topic, log);
    return log;
  }

  store({ topic, key, value, partition }: OutgoingMessage): Delivery {
    if (!this.isAvailable) throw new MessagingUnavailableError('no broker answers');
    const log = this.#log(topic);
    const selected = partition ?? (key === '' ? 0 : hashPartition(key, log.length));
    const messages = log[selected];
    if (!messages) throw new PublishError(`the topic has only ${log.length} partitions`);
    const offset = BigInt(this.#end(topic, selected));
    messages.push({ topic, partition: selected, offset, key, value });
    if (messages.length > this.#retention) messages.shift();
    for (const reader of this.#readers)
      if (reader.topic === topic && reader.partition === selected) void this.#read(reader);
    return { topic, partition: selected, offset };
  }

  #end(topic: string, partition: number): number {
    const last = this.#log(topic)[partition]?.at(-1);
    return last ? Number(last.offset) + 1 : 0;
  }

  watchGroup(groupId: string, topic: string, deliver: Deliver): Stop {
    const stops = this.#log(topic).map((_, partition) => {
      const id = `${groupId}/${topic}/${partition}`;
      const next = this.#committed.get(id) ?? 0;
      return this.#watch(topic, partition, next, deliver, (at) => this.#committed.set(id, at));
    });
    return () => {
      for (const stop of stops) stop();
    };
  }

  watchPartition({ topic, partition, offset }: PartitionPosition, deliver: Deliver): Stop {
    const end = this.#end(topic, partition);
    const next = offset === OLDEST ? 0 : offset === NEWEST ? end : Number(offset);
    return this.#watch(topic, partition, next, deliver, () => undefined);
  }

  #watch(
    topic: string,
    partition: number,
    next: number,
    deliver: Deliver,
    onDelivered: (next: number) => void,
  ): Stop {
    const reader = { topic, partition, next, deliver, onDelivered };
    const state: Reader = { ...reader, isStopped: false, isReading: false };
    this.#readers.add(state);
    void this.#read(state);
    return () => {
      state.isStopped = true;
      this.#readers.delete(state);
    };
  }

  async #read(reader: Reader): Promise<void> {
    if (reader.isReading) return;
    reader.isReading = true;
    for (;;) {
      await this.pause;
      const messages = this.#log(reader.topic)[reader.partition]!;
      const first = messages[0] ? Number(messages[0].offset) : 0;
      const message = messages[Math.max(reader.next - first, 0)];
      if (!message || reader.isStopped) break;
      await reader.deliver(message);
      reader.next = Number(message.offset) + 1;
      reader.onDelivered(reader.next);
    }
    reader.isReading = false;
  }
}

class MemoryClient implements MessageClient {
  readonly #broker: MemoryBroker;
  readonly #groupId: string;
  readonly #stops = new Set<Stop>();
  #isClosed = false;

  constructor(broker: MemoryBroker, groupId: string) {
    this.#broker = broker;
    this.#groupId = groupId;
  }

  async publish(message: OutgoingMessage, acks: Acks): Promise<Delivery> {
    if (this.#isClosed) throw new MessagingClosedError('closed');
    const delivery = this.#broker.store(message);
    return acks === 'none' ? { ...delivery, offset: undefined } : delivery;
  }

  watchTopic(topic: string, deliver: Deliver): Stop {
    return this.#remember(this.#broker.watchGroup(this.#groupId, topic, deliver));
  }

  watchPartition(position: PartitionPosition, deliver: Deliver): Stop {
    return this.#remember(this.#broker.watchPartition(position, deliver));
  }

  #remember(stop: Stop): Stop {
    const once = () => {
      if (this.#stops.delete(once)) stop();
    };
    this.#stops.add(once);
    return once;
  }

  async commitOffsets(): Promise<void> {}

  async probe(): Promise<void> {
    if (!this.#broker.isAvailable) throw new MessagingUnavailableError('no broker answers');
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const stop of [...this.#stops]) stop();
  }
}
