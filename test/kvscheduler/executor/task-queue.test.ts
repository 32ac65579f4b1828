import assert from 'node:assert/strict';
import test from 'node:test';
import type { TransactionRequest } from '#kvscheduler/api/transaction.ts';
import { setUp } from '../support/setup.ts';

const request = (key: string): TransactionRequest => ({
  description: key,
  mode: 'update',
  onFailure: 'best-effort',
  values: new Map([[key, { v: 1 }]]),
});

test('transactions run one after the other, in the order in which they came', async () => {
  const bench = setUp();
  bench.southbound.replies = 'turn';
  const results = await Promise.all(
    ['a/1', 'a/2', 'a/3'].map((key) => bench.scheduler.commit(request(key))),
  );
  assert.deepEqual(
    results.map(({ seqNum }) => seqNum),
    [0, 1, 2],
  );
  assert.equal(bench.southbound.mostInFlight, 1);
  assert.deepEqual(
    bench.scheduler.history().map(({ Description }) => Description),
    ['a/1', 'a/2', 'a/3'],
  );
});

test('a full queue lets commits wait, and rejects those that do not', async () => {
  const bench = setUp();
  bench.southbound.replies = 'turn';
  const running = bench.scheduler.commit(request('a/0'));
  await new Promise((resolve) => setImmediate(resolve));
  const queued = Array.from({ length: 200 }, (_, i) => bench.scheduler.commit(request(`a/${i}`)));
  await assert.rejects(bench.scheduler.commitIfRoom(request('a/late')), {
    code: 'CV_SCHED_QUEUE_FULL',
    message: /200 transactions/,
  });
  const patient = bench.scheduler.commit(request('a/patient'));
  // A report is accepted even if the queue is full.
  bench.southbound.changeExternally('a/f', { v: 1 });
  bench.scheduler.pushNotification([{ key: 'a/f', value: { v: 1 } }]);
  await Promise.all([running, ...queued]);
  const { seqNum } = await patient;
  assert.equal(bench.scheduler.record(seqNum)?.Description, 'a/patient');
  assert.equal(bench.state('a/f'), 'OBTAINED');
});

test('closing completes the running transaction and rejects the queued ones', async () => {
  const bench = setUp();
  bench.southbound.replies = 'turn';
  const running = bench.scheduler.commit(request('a/1'));
  await new Promise((resolve) => setImmediate(resolve));
  const waiting = bench.scheduler.commit(request('a/2'));
  const refused = assert.rejects(waiting, { code: 'CV_SCHED_CLOSED' });
  await bench.scheduler.close();
  await refused;
  assert.deepEqual((await running).failures, []);
  assert.equal(bench.state('a/1'), 'CONFIGURED');
  await assert.rejects(bench.scheduler.commit(request('a/3')), { code: 'CV_SCHED_CLOSED' });
  bench.scheduler.pushNotification([{ key: 'a/f', value: { v: 1 } }]);
  await bench.scheduler.close();
});

test('malformed requests are rejected before they get a sequence number', async () => {
  const { scheduler } = setUp();
  const plain = request('a/1');
  const nonsense: [Partial<TransactionRequest>, RegExp][] = [
    [{ mode: 'downstream-resync' }, /downstream resync cannot be combined/],
    [{ mode: 'full-resync', onFailure: 'revert' }, /cannot be reverted/],
    [{ mode: 'upstream-resync', values: new Map([['a/1', null]]) }, /a\/1: a resync has null/],
    [{ values: new Map([['', { v: 1 }]]) }, /no key/],
    [{ values: new Map([['a/1', undefined as never]]) }, /a\/1: the value is neither/],
    [{ retry: { periodMs: -1, maxAttempts: 1, exponential: false } }, /negative/],
  ];
  for (const [change, message] of nonsense)
    await assert.rejects(scheduler.commit({ ...plain, ...change }), {
      code: 'CV_SCHED_INVALID_TXN',
      message,
    });
  assert.equal((await scheduler.commit(plain)).seqNum, 0);
});
