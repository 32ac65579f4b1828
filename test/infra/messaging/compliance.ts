/**
 * Promises of the multiplexer to its users. The suite runs on topics in memory and on a real Kafka: a case
 * creates topics of its own.
 */
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { type MessageClient, NEWEST, OLDEST } from '#infra/messaging/api.ts';
import { Multiplexer } from '#infra/messaging/multiplexer.ts';
import { until } from '#test/support/wait.ts';

export interface MessagingBackend {
  /** A client of a consumer group; closed by the suite. */
  client(groupId: string): MessageClient;
  /** Creates a topic. */
  createTopic(name: string, partitions: number): Promise<void>;
}

interface Reading {
  readonly id: number;
  readonly text: string;
}

/** Rejects what is not a reading, as a codec of protobuf does. */
const readings = {
  toJson: (value: Reading) => value,
  parse: (input: unknown): Reading => {
    const { id, text } = input as Partial<Reading>;
    if (typeof id !== 'number' || typeof text !== 'string') throw new Error('not a reading');
    return { id, text };
  },
};

const bytes = (text: string) => Buffer.from(text);
let topics = 0;

export function messagingCompliance(backend: () => MessagingBackend): void {
  const clients: MessageClient[] = [];
  const run = `${process.pid}-${Date.now()}`;

  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
  });

  function open(groupId = `group-${run}-${topics++}`) {
    const client = backend().client(groupId);
    clients.push(client);
    return { client, groupId, mux: new Multiplexer(client, silentLogger) };
  }

  async function topicOf(partitions = 3): Promise<string> {
    const name = `topic-${run}-${topics++}`;
    await backend().createTopic(name, partitions);
    return name;
  }

  it('delivers messages with key, partition and offset to a watcher of the topic', async () => {
    const { mux } = open();
    const topic = await topicOf(1);
    const connection = mux.bytesConnection('user');
    const publish = connection.syncPublisher(topic);
    assert.deepEqual(await publish('a', bytes('1')), { topic, partition: 0, offset: 0n });
    const found: unknown[] = [];
    connection.watch(({ key, value, partition, offset }) => {
      found.push([key, String(value), partition, offset]);
    }, topic);
    assert.deepEqual(await publish('', bytes('2')), { topic, partition: 0, offset: 1n });
    await until('both are delivered', () => found.length === 2);
    assert.deepEqual(found, [
      ['a', '1', 0, 0n],
      ['', '2', 0, 1n],
    ]);
  });

  it('delivers messages of protobuf as their JSON, and ignores what is none', async () => {
    const { mux } = open();
    const topic = await topicOf(1);
    const raw = mux.bytesConnection('raw');
    const connection = mux.protoConnection('user', readings);
    const found: Reading[] = [];
    const texts: string[] = [];
    connection.watch(({ value }) => void found.push(value), topic);
    raw.watch(({ value }) => void texts.push(String(value)), topic);
    await raw.syncPublisher(topic)('', bytes('{"id":"x"}'));
    await connection.syncPublisher(topic)('k', { id: 1, text: 'é' });
    await until('both are delivered', () => texts.length === 2 && found.length === 1);
    assert.deepEqual(found, [{ id: 1, text: 'é' }]);
    assert.deepEqual(texts, ['{"id":"x"}', '{"id":1,"text":"é"}']);
  });

  it('keeps messages of a key in one partition and in order, as the original distributes them', async () => {
    const { mux } = open();
    const topic = await topicOf(3);
    const connection = mux.bytesConnection('user');
    const found = new Map<string, { partition: number; values: number[] }>();
    connection.watch(({ key, value, partition }) => {
      const known = found.get(key) ?? { partition, values: [] };
      assert.equal(partition, known.partition);
      known.values.push(Number(value));
      found.set(key, known);
    }, topic);
    const publish = connection.syncPublisher(topic, { acks: 'leader' });
    const keys = ['node1', 'node2', 'pod/a', 'x'];
    const all = Array.from({ length: 200 }, (_, at) =>
      publish(keys[at % keys.length]!, bytes(String(at))),
    );
    await Promise.all(all);
    await until(
      'all are delivered',
      () => [...found.values()].flatMap(({ values }) => values).length === 200,
    );
    for (const { values } of found.values())
      assert.deepEqual(
        values,
        values.toSorted((a, b) => a - b),
      );
    // Of sarama's hash partitioner, which the original uses.
    const partitions = keys.map((key) => found.get(key)!.partition);
    assert.deepEqual(partitions, [0, 0, 2, 1]);
  });

  it('publishes to a partition, and rejects one that the topic does not have', async () => {
    const { mux } = open();
    const topic = await topicOf(3);
    const connection = mux.bytesConnection('user');
    for (const partition of [2, 0, 1]) {
      const publish = connection.syncPublisher(topic, { partition });
      assert.equal((await publish('same key', bytes('x'))).partition, partition);
    }
    await assert.rejects(connection.syncPublisher(topic, { partition: 3 })('', bytes('x')), {
      code: 'CV_MESSAGING_PUBLISH',
    });
  });

  it('reports the result of asynchronous messages to the callbacks of their publisher', async () => {
    const { mux } = open();
    const topic = await topicOf(1);
    const connection = mux.protoConnection('user', readings);
    const delivered: unknown[] = [];
    const failed: unknown[] = [];
    const callbacks = {
      onDelivered: (delivery: object) => void delivered.push(delivery),
      onFailed: (error: Error, key: string, value: Reading) =>
        void failed.push([(error as { code?: string }).code, key, value.id]),
    };
    connection.asyncPublisher(topic, callbacks)('a', { id: 1, text: '' });
    connection.asyncPublisher(topic, { ...callbacks, acks: 'none', partition: 0 })('b', {
      id: 2,
      text: '',
    });
    connection.asyncPublisher(topic, { ...callbacks, partition: 7 })('c', { id: 3, text: '' });
    await until('all are reported', () => delivered.length === 2 && failed.length === 1);
    const [a, b] = delivered as { key: string; offset: bigint | undefined }[];
    assert.deepEqual([a, b].map((one) => [one!.key, one!.offset === undefined]).toSorted(), [
      ['a', false],
      ['b', true],
    ]);
    assert.deepEqual(failed, [['CV_MESSAGING_PUBLISH', 'c', 3]]);
  });

  it('lets several connections watch one topic, each of which gets all messages until it stops', async () => {
    const { mux } = open();
    const topic = await topicOf(1);
    const [a, b] = [mux.bytesConnection('a'), mux.bytesConnection('b')];
    const found: string[] = [];
    const watch = (name: string, connection = a) =>
      connection.watch(({ value }) => void found.push(`${name}${value}`), topic);
    const stop = watch('a1-');
    watch('a2-');
    watch('b-', b);
    b.watch(() => {
      throw new Error('a failing watcher');
    }, topic);
    const publish = a.syncPublisher(topic);
    await publish('', bytes('1'));
    await until('all three have it', () => found.length === 3);
    stop();
    await publish('', bytes('2'));
    await until('both have it', () => found.length === 5);
    b.close();
    await publish('', bytes('3'));
    await until('one has it', () => found.length === 6);
    assert.deepEqual(found.toSorted(), ['a1-1', 'a2-1', 'a2-2', 'a2-3', 'b-1', 'b-2']);
  });

  it('adds and stops topics at any time', async () => {
    const { mux } = open();
    const [first, second, third] = [await topicOf(1), await topicOf(2), await topicOf(1)];
    const connection = mux.bytesConnection('user');
    const found: string[] = [];
    const take = ({ topic, value }: { topic: string; value: Uint8Array }) =>
      void found.push(`${[first, second, third].indexOf(topic)}:${value}`);
    const publish = (topic: string, text: string) =>
      connection.syncPublisher(topic)('k', bytes(text));
    const stop = connection.watch(take, first);
    await publish(first, 'a');
    await until('the first topic is read', () => found.length === 1);
    connection.watch(take, second, third);
    await publish(second, 'b');
    await publish(third, 'c');
    await publish(first, 'd');
    await until('all topics are read', () => found.length === 4);
    stop();
    await publish(first, 'not delivered');
    await publish(second, 'e');
    await until('the others are still read', () => found.length === 5);
    assert.deepEqual(found.toSorted(), ['0:a', '0:d', '1:b', '1:e', '2:c']);
  });

  it('continues where the group has ended', async () => {
    const topic = await topicOf(1);
    const found: string[] = [];
    const watch = (groupId?: string) => {
      const { mux, client, groupId: group } = open(groupId);
      const connection = mux.bytesConnection('user');
      connection.watch(({ value }) => void found.push(String(value)), topic);
      return { client, group, connection };
    };
    const { client, group, connection } = watch();
    await connection.syncPublisher(topic)('', bytes('1'));
    await until('it is delivered', () => found.length === 1);
    await connection.commitOffsets();
    await client.close();
    const next = watch(group);
    await next.connection.syncPublisher(topic)('', bytes('2'));
    await until('the next is delivered', () => found.length === 2);
    assert.deepEqual(found, ['1', '2']);
    watch();
    await until('another group gets all', () => found.length === 4);
  });

  it('watches a partition from an offset, from the oldest, and from the newest message', async () => {
    const { mux } = open();
    const topic = await topicOf(2);
    const connection = mux.bytesConnection('user');
    const publish = connection.syncPublisher(topic, { partition: 1 });
    for (const text of ['0', '1', '2']) await publish('', bytes(text));
    await connection.syncPublisher(topic, { partition: 0 })('', bytes('other'));
    const found: Record<string, string[]> = {};
    const watch = (name: string, offset: bigint) => {
      found[name] = [];
      return connection.watchPartition(({ value }) => void found[name]!.push(String(value)), {
        topic,
        partition: 1,
        offset,
      });
    };
    const stop = watch('one', 1n);
    watch('oldest', OLDEST);
    watch('newest', NEWEST);
    watch('future', 4n);
    await until('the old messages are read', () => found['oldest']!.length === 3);
    // Time for the position of NEWEST to be read.
    await systemClock.sleep(300);
    await publish('', bytes('3'));
    await until('the new message is read', () => found['newest']!.length === 1);
    await until('by all', () => found['one']!.length === 3 && found['oldest']!.length === 4);
    stop();
    await publish('', bytes('4'));
    await until('the last message is read', () => found['future']!.length === 1);
    await until('by all', () => found['newest']!.length === 2 && found['oldest']!.length === 5);
    assert.deepEqual(found, {
      one: ['1', '2', '3'],
      oldest: ['0', '1', '2', '3', '4'],
      newest: ['3', '4'],
      future: ['4'],
    });
  });

  it('does not deliver the next message of a partition before a callback has ended', async () => {
    const { mux } = open();
    const topic = await topicOf(1);
    const connection = mux.bytesConnection('user');
    const events: string[] = [];
    const slow = Promise.withResolvers<void>();
    connection.watch(async ({ value }) => {
      events.push(`begin ${value}`);
      await slow.promise;
      events.push(`end ${value}`);
    }, topic);
    const publish = connection.syncPublisher(topic);
    await Promise.all([publish('', bytes('1')), publish('', bytes('2'))]);
    await until('the first has begun', () => events.length === 1);
    await systemClock.sleep(50);
    assert.deepEqual(events, ['begin 1']);
    slow.resolve();
    await until('both have ended', () => events.length === 4);
    assert.deepEqual(events, ['begin 1', 'end 1', 'begin 2', 'end 2']);
  });

  it('rejects messages after it was closed', async () => {
    const { mux, client } = open();
    const topic = await topicOf(1);
    const publish = mux.bytesConnection('user').syncPublisher(topic);
    await client.probe();
    await client.close();
    await assert.rejects(publish('', bytes('x')), { code: 'CV_MESSAGING_CLOSED' });
  });
}
