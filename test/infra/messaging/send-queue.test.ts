import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Delivery, OutgoingMessage } from '#infra/messaging/api.ts';
import { SendQueue } from '#infra/messaging/send-queue.ts';

class TooLarge extends Error {}

/** @param limit of a batch, as a broker has it */
function setUp(limit = 1024 * 1024) {
  /** Sizes of the batches of each partition, in their order. */
  const batches: [partition: number, sizes: number[]][] = [];
  const state = { batches, failure: undefined as Error | undefined, partitions: 2, idle: 0 };
  const offsets = new Map<number, bigint>();
  const queue = new SendQueue('topic', {
    countPartitions: async () => {
      if (state.failure) throw state.failure;
      return state.partitions;
    },
    selectPartition: ({ partition = 0 }) => partition,
    send: async (partition, messages) => {
      const sizes = messages.map(({ value }) => value.length);
      if (sizes.reduce((sum, size) => sum + size) > limit) throw new TooLarge('too large');
      batches.push([partition, sizes]);
      const first = offsets.get(partition) ?? 0n;
      offsets.set(partition, first + BigInt(messages.length));
      return first;
    },
    onIdle: () => void state.idle++,
    isTooLarge: (error) => error instanceof TooLarge,
  });
  const add = (size: number, partition = 0): Promise<Delivery> => {
    const message: OutgoingMessage = {
      topic: 'topic',
      key: '',
      value: Buffer.alloc(size),
      partition,
    };
    return new Promise((resolve, reject) => queue.add({ message, resolve, reject }));
  };
  return { state, add };
}

const offsetsOf = (results: readonly Delivery[]) => results.map(({ offset }) => Number(offset));

describe('queue of messages to send', () => {
  it('sends the messages of one turn as one batch for each partition, and numbers them', async () => {
    const { state, add } = setUp();
    const results = await Promise.all([add(1), add(2, 1), add(3), add(4, 1)]);
    assert.deepEqual(state.batches, [
      [0, [1, 3]],
      [1, [2, 4]],
    ]);
    assert.deepEqual(
      results.map(({ partition, offset }) => [partition, offset]),
      [
        [0, 0n],
        [1, 0n],
        [0, 1n],
        [1, 1n],
      ],
    );
    await new Promise(setImmediate);
    assert.equal(state.idle, 1);
  });

  it('keeps batches below the limit of brokers; a larger message is alone', async () => {
    const { state, add } = setUp(Number.POSITIVE_INFINITY);
    const sizes = [300_000, 200_000, 100_000, 2_000_000, 1];
    assert.deepEqual(offsetsOf(await Promise.all(sizes.map((size) => add(size)))), [0, 1, 2, 3, 4]);
    assert.deepEqual(
      state.batches.map(([, each]) => each),
      [[300_000, 200_000], [100_000], [2_000_000], [1]],
    );
  });

  it('halves a batch that is too large for the broker, keeps the order, and rejects only what does not fit', async () => {
    const { state, add } = setUp(100);
    const results = await Promise.allSettled([40, 50, 60, 101, 10].map((size) => add(size)));
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
    );
    assert.deepEqual(
      state.batches.flatMap(([, sizes]) => sizes),
      [40, 50, 60, 10],
    );
  });

  it('rejects a partition that does not exist, and sends the others', async () => {
    const { state, add } = setUp();
    const results = await Promise.allSettled([add(1), add(2, 2), add(3)]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.deepEqual(state.batches, [[0, [1, 3]]]);
  });

  it('rejects a batch when the topic cannot be found, and continues with the next', async () => {
    const { state, add } = setUp();
    state.failure = new Error('no broker');
    await assert.rejects(add(1), /no broker/);
    state.failure = undefined;
    assert.deepEqual(offsetsOf([await add(1)]), [0]);
  });
});
