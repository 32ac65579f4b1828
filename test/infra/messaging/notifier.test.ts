import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { type Logger, silentLogger } from '#infra/log/log.ts';
import { MessagingUnavailableError, PublishError } from '#infra/messaging/api.ts';
import { Notifier } from '#infra/messaging/notifier.ts';

function setUp() {
  const clock = new ManualClock();
  const registry = new Registry();
  const lines: string[] = [];
  const fields: (object | string)[] = [];
  const take = (of: object | string, text?: string) => {
    lines.push(text ?? String(of));
    fields.push(of);
  };
  const log = { ...silentLogger, warn: take, info: take } as Logger;
  const notifier = new Notifier({ registry, clock, random: seededRandom(1), log });
  const delivered: string[] = [];
  const state = { failure: undefined as Error | undefined, attempts: 0 };
  const publish = async ({ key, value }: { key: string; value: Uint8Array }) => {
    state.attempts++;
    if (state.failure) throw state.failure;
    if (key === 'too large') throw new PublishError('too large');
    delivered.push(`${key}=${Buffer.from(value)}`);
  };
  const metric = async (name: string, outcome?: string) => {
    const { values } = (await registry.getSingleMetric(name)!.get()) as {
      values: { value: number; labels: Record<string, string | number | undefined> }[];
    };
    return values.find(({ labels }) => labels['outcome'] === outcome)?.value ?? 0;
  };
  const counts = async () => ({
    delivered: await metric('contiv_notifications_total', 'delivered'),
    dropped: await metric('contiv_notifications_total', 'dropped'),
    rejected: await metric('contiv_notifications_total', 'rejected'),
    queued: await metric('contiv_notifications_queued'),
  });
  return { clock, notifier, publish, delivered, state, counts, lines, fields };
}

describe('notifier', () => {
  it('publishes in order what was queued before and after the start', async () => {
    const { clock, notifier, publish, delivered, counts } = setUp();
    notifier.notify('t', 'a', { n: 1 });
    notifier.start(publish);
    notifier.notify('t', 'b', { n: 2 });
    await clock.turn();
    await clock.turn();
    assert.deepEqual(delivered, ['a={"n":1}', 'b={"n":2}']);
    assert.deepEqual(await counts(), { delivered: 2, dropped: 0, rejected: 0, queued: 0 });
    await notifier.close();
  });

  it('keeps the newest while Kafka is unavailable for hours, with few attempts and two log lines', async () => {
    const { clock, notifier, publish, delivered, state, counts, lines } = setUp();
    notifier.start(publish);
    state.failure = new MessagingUnavailableError('no broker answers');
    for (let at = 0; at < 25_000; at++) {
      notifier.notify('t', String(at), {});
      if (at % 5_000 === 0) await clock.advance(1_800_000);
    }
    const { dropped, queued } = await counts();
    assert.equal(queued, 10_000);
    assert.ok(dropped > 14_000 && dropped < 25_000 - 10_000, String(dropped));
    assert.ok(state.attempts < 200_000, String(state.attempts));
    state.failure = undefined;
    await clock.advance(60_000);
    assert.equal(delivered.at(-1), '24999={}');
    assert.deepEqual(await counts(), {
      delivered: 25_000 - dropped,
      dropped,
      rejected: 0,
      queued: 0,
    });
    assert.deepEqual(lines, [
      'notifications are queued: Kafka does not take them',
      'notifications are sent to Kafka again',
    ]);
    await notifier.close();
  });

  it('limits the memory of large notifications', async () => {
    const { notifier, counts } = setUp();
    for (let at = 0; at < 100; at++) notifier.notify('t', '', 'x'.repeat(1024 * 1024));
    const { queued, dropped } = await counts();
    assert.equal(queued, 15);
    assert.equal(dropped, 85);
    await notifier.close();
  });

  it('continues after a notification that Kafka rejects', async () => {
    const { clock, notifier, publish, delivered, counts } = setUp();
    notifier.start(publish);
    for (const key of ['a', 'too large', 'b']) notifier.notify('t', key, {});
    await clock.turn();
    await clock.turn();
    assert.deepEqual(delivered, ['a={}', 'b={}']);
    assert.deepEqual(await counts(), { delivered: 2, dropped: 0, rejected: 1, queued: 0 });
    await notifier.close();
  });

  it('sends the other topics while one does not exist, and names it', async () => {
    const { clock, notifier, publish, delivered, lines, fields } = setUp();
    let isMissing = true;
    notifier.start(async (notification) => {
      if (isMissing && notification.topic === 'missing')
        throw new MessagingUnavailableError('unknown topic');
      await publish(notification);
    });
    notifier.notify('missing', 'm', {});
    for (let at = 0; at < 20; at++) {
      notifier.notify('t', String(at), {});
      await clock.advance(5_000);
      assert.equal(delivered.at(-1), `${at}={}`);
    }
    assert.deepEqual(lines, ['notifications are queued: Kafka does not take them']);
    assert.deepEqual(fields, [{ topic: 'missing', error: 'unknown topic' }]);
    assert.equal(notifier.problem, 'cannot publish to missing: unknown topic');
    isMissing = false;
    await clock.advance(60_000);
    assert.equal(delivered.at(-1), 'm={}');
    assert.equal(notifier.problem, undefined);
    await notifier.close();
  });

  it('drops the oldest over all topics', async () => {
    const { clock, notifier, publish, delivered, counts } = setUp();
    for (const topic of ['a', 'b'])
      for (let at = 0; at < 6_000; at++) notifier.notify(topic, `${topic}${at}`, {});
    assert.deepEqual(await counts(), { delivered: 0, dropped: 2_000, rejected: 0, queued: 10_000 });
    notifier.start(publish);
    await clock.advance(1_000);
    assert.equal(
      delivered.find((one) => one.startsWith('a')),
      'a2000={}',
    );
    assert.equal(
      delivered.find((one) => one.startsWith('b')),
      'b0={}',
    );
    assert.deepEqual(await counts(), { delivered: 10_000, dropped: 2_000, rejected: 0, queued: 0 });
    await notifier.close();
  });

  it('ends while Kafka is unavailable, and takes nothing afterwards', async () => {
    const { clock, notifier, publish, state, counts } = setUp();
    state.failure = new MessagingUnavailableError('no broker answers');
    notifier.start(publish);
    notifier.notify('t', 'a', {});
    await clock.advance(5_000);
    await notifier.close();
    notifier.notify('t', 'b', {});
    assert.equal((await counts()).queued, 0);
    assert.equal(clock.pending, 0);
  });
});
