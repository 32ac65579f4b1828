/**
 * Messages of topics, as the multiplexer uses them: `KafkaClient` implements this on a Kafka cluster,
 * a test has it in memory. A topic has partitions; in a partition messages have increasing offsets.
 */
import { defineError } from '../errors/errors.ts';

export const MessagingUnavailableError = defineError({
  name: 'MessagingUnavailableError',
  code: 'CV_MESSAGING_UNAVAILABLE',
  outcome: 'unknown',
  isRetriable: true,
  remedy: 'Check that the brokers of kafka.conf run and can be reached from the node.',
});

export const PublishError = defineError({
  name: 'PublishError',
  code: 'CV_MESSAGING_PUBLISH',
  isRetriable: false,
  remedy: 'Compare the message with the settings of its topic, above all max.message.bytes.',
});

export const PublishQueueFullError = defineError({
  name: 'PublishQueueFullError',
  code: 'CV_MESSAGING_QUEUE_FULL',
  isRetriable: true,
  remedy: 'Publish fewer messages at a time, or wait until the brokers answer again.',
});

export const MessagingClosedError = defineError({
  name: 'MessagingClosedError',
  code: 'CV_MESSAGING_CLOSED',
  remedy: 'None: the agent is stopping.',
});

/** Offset of the oldest message that a partition still has. */
export const OLDEST = -2n;
/** Offset of the next message that is published to a partition. */
export const NEWEST = -1n;

/**
 * The brokers that must have a message before it counts as delivered: none, the leader of its
 * partition, or all replicas that are in sync.
 */
export type Acks = 'none' | 'leader' | 'all';

export interface OutgoingMessage {
  readonly topic: string;
  /** Messages with the same key get into the same partition; empty: into a random one. */
  readonly key: string;
  readonly value: Uint8Array;
  /** Instead of the partition that the key selects. */
  readonly partition?: number | undefined;
}

/** Place of a stored message. */
export interface Delivery {
  readonly topic: string;
  readonly partition: number;
  /** undefined without acknowledgment. */
  readonly offset: bigint | undefined;
}

export interface IncomingMessage {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
  readonly key: string;
  readonly value: Uint8Array;
}

export interface PartitionPosition {
  readonly topic: string;
  readonly partition: number;
  /** First offset to read; also `OLDEST` and `NEWEST`. */
  readonly offset: bigint;
}

/**
 * Takes a message; the next one of the partition follows when the promise is resolved. Does not throw
 * and does not reject.
 */
export type Deliver = (message: IncomingMessage) => Promise<void> | void;

/** Stops a watch. No message is delivered after the call. */
export type Stop = () => void;

export interface MessageClient {
  /**
   * Resolves when the message is delivered. Messages of one topic are sent in the order of the calls.
   * @throws MessagingUnavailableError, PublishError, PublishQueueFullError, MessagingClosedError
   */
  publish(message: OutgoingMessage, acks: Acks): Promise<Delivery>;
  /**
   * Reads a topic as a member of the group, whose members share the partitions. Begins at the committed
   * offsets, or at the oldest messages. A message is delivered at least once. One watch per topic.
   */
  watchTopic(topic: string, deliver: Deliver): Stop;
  /** Reads one partition without the group. Messages below the offset are not delivered. */
  watchPartition(position: PartitionPosition, deliver: Deliver): Stop;
  /** Commits the offsets of the delivered messages now, and not only once a second. */
  commitOffsets(): Promise<void>;
  /** Rejects if no broker answers. @throws MessagingUnavailableError */
  probe(): Promise<void>;
  close(): Promise<void>;
}
