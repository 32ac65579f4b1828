/** A broker that is killed, that stops answering, and groups whose members change. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { seededRandom } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { IncomingMessage, MessageClient, Stop } from '#infra/messaging/api.ts';
import { KafkaClient } from '#infra/messaging/kafka-client.ts';
import { Multiplexer } from '#infra/messaging/multiplexer.ts';
import { withoutKafka } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { KafkaServer } from '../support/kafka-server.ts';

const LIMIT_MS = 60_000;
const MIB = 1024 * 1024;

describe('messaging while Kafka fails', { skip: withoutKafka(), timeout: 900_000 }, () => {
  let server: KafkaServer;
  const clients: MessageClient[] = [];
  before(async () => {
    const settings = [`message.max.bytes=${8 * MIB}`, `replica.fetch.max.bytes=${8 * MIB}`];
    server = await KafkaServer.start({ settings });
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
  });
  after(() => server?.close());

  function open(groupId: string) {
    const client = new KafkaClient({
      options: { brokers: [{ host: '127.0.0.1', port: server.port }], groupId, clientId: 'test' },
      clock: systemClock,
      random: seededRandom(1),
      log: silentLogger,
    });
    clients.push(client);
    return { client, connection: new Multiplexer(client, silentLogger).bytesConnection('test') };
  }

  /** Publishes numbers until each is acknowledged, as a user that must not lose any. */
  async function publishAll(
    publish: (key: string, value: Uint8Array) => Promise<unknown>,
    from: number,
    to: number,
  ): Promise<void> {
    for (let at = from; at < to; at++)
      while (
        !(await publish(String(at), Buffer.from(String(at))).then(
          () => true,
          () => false,
        ))
      )
        await systemClock.sleep(100);
  }

  it('delivers every acknowledged message when the broker is killed and restarted', async () => {
    await server.createTopic('restart', 2);
    const { client, connection } = open('restart');
    const byGroup = new Set<number>();
    const byPartition: number[] = [];
    connection.watch(({ value }) => void byGroup.add(Number(value)), 'restart');
    for (const partition of [0, 1])
      connection.watchPartition(({ value }) => void byPartition.push(Number(value)), {
        topic: 'restart',
        partition,
        offset: 0n,
      });
    const publish = connection.syncPublisher('restart');
    await publishAll(publish, 0, 100);
    await until('the first are delivered', () => byGroup.size === 100);
    await server.kill();
    await assert.rejects(client.probe(), { code: 'CV_MESSAGING_UNAVAILABLE' });
    await assert.rejects(publish('x', Buffer.from('0')), { code: 'CV_MESSAGING_UNAVAILABLE' });
    const published = publishAll(publish, 100, 200);
    await server.run();
    await published;
    await client.probe();
    await until('the group has all', () => byGroup.size === 200, LIMIT_MS);
    await until('the partitions have all', () => new Set(byPartition).size === 200, LIMIT_MS);
    // Each message of the log once; a lost acknowledgment stores a message twice.
    assert.ok(byPartition.length < 210, String(byPartition.length));
  });

  it('shares the partitions among the members of a group, and takes over those of one that ends', async () => {
    await server.createTopic('shared', 4);
    const found: [member: string, value: number][] = [];
    const join = (member: string) => {
      const { client, connection } = open('shared');
      connection.watch(({ value }) => void found.push([member, Number(value)]), 'shared');
      return { client, connection };
    };
    const a = join('a');
    const publishers = [0, 1, 2, 3].map((partition) =>
      a.connection.syncPublisher('shared', { partition }),
    );
    let next = 0;
    /** One message for each partition. */
    const round = async () => {
      const from = next;
      for (const publish of publishers) await publish('', Buffer.from(String(next++)));
      const has = (at: number) => found.some(([, value]) => value === at);
      await until(
        `all of round ${from}`,
        () => publishers.every((_, at) => has(from + at)),
        LIMIT_MS,
      );
      return new Set(found.filter(([, value]) => value >= from).map(([member]) => member));
    };
    await round();
    const b = join('b');
    await until('both members get messages', async () => (await round()).size === 2, LIMIT_MS);
    await a.connection.commitOffsets();
    await b.client.close();
    await until(
      'the other one takes over',
      async () => [...(await round())].join() === 'a',
      LIMIT_MS,
    );
    const values = new Set(found.map(([, value]) => value));
    assert.equal(values.size, next);
  });

  it('carries messages of megabytes, and rejects only those above the limit of the broker', async () => {
    await server.createTopic('large', 1);
    const { connection } = open('large');
    const found: IncomingMessage[] = [];
    connection.watch((message) => void found.push(message), 'large');
    const publish = connection.syncPublisher('large');
    const sizes = [1, MIB, 5 * MIB, 9 * MIB, 3 * MIB, 2];
    const results = await Promise.allSettled(
      sizes.map((size, at) => publish(String(at), Buffer.alloc(size, at))),
    );
    assert.deepEqual(
      results.map((one) => (one.status === 'rejected' ? one.reason.code : 'stored')),
      ['stored', 'stored', 'stored', 'CV_MESSAGING_PUBLISH', 'stored', 'stored'],
    );
    await until('all are delivered', () => found.length === 5, LIMIT_MS);
    assert.deepEqual(
      found.map(({ key, value }) => [
        Number(key),
        value.length,
        value.every((one) => one === Number(key)),
      ]),
      [0, 1, 2, 4, 5].map((at) => [at, sizes[at], true]),
    );
  });

  it('bounds what waits for a broker that does not answer, and delivers it when it does', async () => {
    await server.createTopic('slow', 1);
    const { connection, client } = open('slow');
    const publish = connection.syncPublisher('slow');
    const found = new Set<number>();
    connection.watch(({ value }) => void found.add(Number(value)), 'slow');
    await publish('', Buffer.from('-1'));
    await until('the first is delivered', () => found.size === 1);
    await server.suspend();
    const results: Promise<string>[] = [];
    for (let at = 0; at < 10_500; at++)
      results.push(
        publish('', Buffer.from(String(at))).then(
          () => 'stored',
          ({ code }) => code,
        ),
      );
    await systemClock.sleep(2_000);
    await assert.rejects(publish('', Buffer.alloc(1)), { code: 'CV_MESSAGING_QUEUE_FULL' });
    server.resume();
    const codes = await Promise.all(results);
    const count = (code: string) => codes.filter((one) => one === code).length;
    assert.equal(count('CV_MESSAGING_QUEUE_FULL'), 500);
    assert.equal(count('stored'), 10_000);
    await until('all are delivered', () => found.size === 10_001, LIMIT_MS);
    await client.probe();
  });

  it('continues in a topic that was deleted and created again', async () => {
    await server.createTopic('again', 1);
    const { connection } = open('again');
    const found: string[] = [];
    const inPartition: string[] = [];
    connection.watch(({ value }) => void found.push(String(value)), 'again');
    connection.watchPartition(({ value }) => void inPartition.push(String(value)), {
      topic: 'again',
      partition: 0,
      offset: 0n,
    });
    const publish = connection.syncPublisher('again');
    for (const text of ['1', '2', '3']) await publish('', Buffer.from(text));
    await until('they are delivered', () => found.length === 3 && inPartition.length === 3);
    await server.deleteTopic('again');
    await server.createTopic('again', 1);
    const deliver = async () => {
      await publish('', Buffer.from('4')).catch(() => undefined);
      return found.includes('4') && inPartition.includes('4');
    };
    await until('the new topic is read', deliver, LIMIT_MS);
  });

  it('delivers nothing after a watch was stopped, and closes while the broker is unavailable', async () => {
    await server.createTopic('stopped', 1);
    const { connection, client } = open('stopped');
    const found: string[] = [];
    const stops: Stop[] = [];
    stops.push(connection.watch(({ value }) => void found.push(String(value)), 'stopped'));
    const publish = connection.syncPublisher('stopped');
    await publish('', Buffer.from('1'));
    await until('it is delivered', () => found.length === 1);
    for (const stop of stops) stop();
    await publish('', Buffer.from('2'));
    connection.watch(() => undefined, 'another');
    await server.suspend();
    const begin = systemClock.monotonic();
    const waiting = publish('', Buffer.from('3')).catch(({ code }) => code);
    await client.close();
    assert.ok(systemClock.monotonic() - begin < 5_000, 'within the time limit of the agent');
    assert.match(await waiting, /^CV_MESSAGING_/);
    server.resume();
    assert.deepEqual(found, ['1']);
  });
});
