/**
 * Lets many users share one client of Kafka. Each user has a connection, which publishes and watches
 * values of one kind. Several users may watch the same topic, at any time; each gets all messages.
 * A user that fails affects neither the others nor the progress of the group.
 */
import { errorText } from '../errors/errors.ts';
import type { Logger } from '../log/log.ts';
import type {
  Acks,
  Delivery,
  IncomingMessage,
  MessageClient,
  PartitionPosition,
  Stop,
} from './api.ts';
import { bytesSerializer, type JsonCodec, jsonSerializer, type Serializer } from './serializer.ts';

export interface PublisherOptions {
  /** Instead of the partition that the key selects. */
  readonly partition?: number;
  /** Default: `all` for publishers that wait, `leader` for those that do not. */
  readonly acks?: Acks;
}

/** A message whose value is decoded. */
export interface ValueMessage<V> extends Omit<IncomingMessage, 'value'> {
  readonly value: V;
}

export interface AsyncPublisherOptions<V> extends PublisherOptions {
  readonly onDelivered?: (delivery: Delivery & { readonly key: string; readonly value: V }) => void;
  readonly onFailed?: (error: Error, key: string, value: V) => void;
}

/** Publishes a value, and resolves when it is delivered. */
export type SyncPublisher<V> = (key: string, value: V) => Promise<Delivery>;
/** Publishes a value; the callbacks of the publisher report the result. */
export type AsyncPublisher<V> = (key: string, value: V) => void;

/** The next message of a partition follows when the promise is resolved. */
export type Callback<V> = (message: ValueMessage<V>) => Promise<void> | void;

/** Users of one topic. */
interface SharedTopic {
  readonly users: Set<(message: IncomingMessage) => Promise<void>>;
  readonly stop: Stop;
}

export class Multiplexer {
  readonly #client: MessageClient;
  readonly #log: Logger;
  readonly #topics = new Map<string, SharedTopic>();

  constructor(client: MessageClient, log: Logger) {
    this.#client = client;
    this.#log = log;
  }

  /** @param name of the user, for the log */
  bytesConnection(name: string): Connection<Uint8Array> {
    return this.#connection(name, bytesSerializer);
  }

  /** Messages of protobuf, as JSON. @param name of the user, for the log */
  protoConnection<V>(name: string, codec: JsonCodec<V>): Connection<V> {
    return this.#connection(name, jsonSerializer(codec));
  }

  #connection<V>(name: string, serializer: Serializer<V>): Connection<V> {
    return new Connection({
      name,
      serializer,
      client: this.#client,
      log: this.#log,
      shareTopic: (topic, user) => this.#share(topic, user),
    });
  }

  #share(topic: string, user: (message: IncomingMessage) => Promise<void>): Stop {
    const shared = this.#topics.get(topic) ?? this.#watch(topic);
    shared.users.add(user);
    return () => {
      if (!shared.users.delete(user) || shared.users.size > 0) return;
      this.#topics.delete(topic);
      shared.stop();
    };
  }

  #watch(topic: string): SharedTopic {
    const users: SharedTopic['users'] = new Set();
    const stop = this.#client.watchTopic(topic, async (message) => {
      await Promise.all([...users].map((user) => user(message)));
    });
    const shared = { users, stop };
    this.#topics.set(topic, shared);
    return shared;
  }
}

interface ConnectionDeps<V> {
  readonly name: string;
  readonly serializer: Serializer<V>;
  readonly client: MessageClient;
  readonly log: Logger;
  readonly shareTopic: (topic: string, user: (message: IncomingMessage) => Promise<void>) => Stop;
}

export class Connection<V> {
  readonly #deps: ConnectionDeps<V>;
  readonly #watches = new Set<Stop>();

  constructor(deps: ConnectionDeps<V>) {
    this.#deps = deps;
  }

  syncPublisher(topic: string, options: PublisherOptions = {}): SyncPublisher<V> {
    const { client, serializer } = this.#deps;
    const { partition, acks = 'all' } = options;
    return async (key, value) =>
      client.publish({ topic, key, value: serializer.encode(value), partition }, acks);
  }

  asyncPublisher(topic: string, options: AsyncPublisherOptions<V> = {}): AsyncPublisher<V> {
    const { onDelivered, onFailed, acks = 'leader', ...rest } = options;
    const publish = this.syncPublisher(topic, { ...rest, acks });
    return (key, value) => {
      void publish(key, value).then(
        (delivery) => this.#call(topic, () => onDelivered?.({ ...delivery, key, value })),
        (error: Error) => this.#call(topic, () => onFailed?.(error, key, value)),
      );
    };
  }

  /** Watches topics as a member of the consumer group. */
  watch(callback: Callback<V>, ...topics: string[]): Stop {
    const stops = topics.map((topic) => {
      let isStopped = false;
      const stop = this.#deps.shareTopic(topic, async (message) => {
        if (!isStopped) await this.#pass(message, callback);
      });
      return () => {
        isStopped = true;
        stop();
      };
    });
    return this.#remember(() => {
      for (const stop of stops) stop();
    });
  }

  /** Watches one partition from an offset on, without the consumer group. */
  watchPartition(callback: Callback<V>, position: PartitionPosition): Stop {
    let isStopped = false;
    const stop = this.#deps.client.watchPartition(position, async (message) => {
      if (!isStopped) await this.#pass(message, callback);
    });
    return this.#remember(() => {
      isStopped = true;
      stop();
    });
  }

  /** Commits the progress of the consumer group now. */
  commitOffsets(): Promise<void> {
    return this.#deps.client.commitOffsets();
  }

  /** Stops the watches of this connection. */
  close(): void {
    for (const stop of [...this.#watches]) stop();
  }

  #remember(stop: Stop): Stop {
    const once = (): void => {
      if (this.#watches.delete(once)) stop();
    };
    this.#watches.add(once);
    return once;
  }

  async #pass(message: IncomingMessage, callback: Callback<V>): Promise<void> {
    const { serializer, log, name } = this.#deps;
    const { topic, partition, offset } = message;
    let value: V;
    try {
      value = serializer.decode(message.value);
    } catch (thrown) {
      const fields = { topic, partition, offset: String(offset), error: errorText(thrown) };
      log.warn({ user: name, ...fields }, 'ignoring message that cannot be decoded');
      return;
    }
    await this.#call(topic, () => callback({ ...message, value }));
  }

  /** Calls a user; its errors are logged. */
  async #call(topic: string, call: () => Promise<void> | void): Promise<void> {
    const { log, name } = this.#deps;
    try {
      await call();
    } catch (thrown) {
      log.error({ user: name, topic, error: errorText(thrown) }, 'user of a Kafka topic failed');
    }
  }
}
