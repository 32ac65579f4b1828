import assert from 'node:assert/strict';
import test from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { operationsOf, pass, setUp, withDescriptor } from '../support/setup.ts';
import { TimeoutError } from '../support/timeout-error.ts';

const retry = { periodMs: 1000, maxAttempts: 3, exponential: true };

test('failed values are retried with increasing delays, then given up', async () => {
  const bench = setUp();
  bench.southbound.fails = () => new Error('no');
  const start = bench.clock.now();
  const attempts: number[] = [];
  bench.southbound.onCall = () => attempts.push(bench.clock.now() - start);
  await bench.commit({ 'a/1': { v: 1 } }, { retry });
  assert.equal(bench.state('a/1'), 'RETRYING');
  await pass(bench, 20_000, 500);
  assert.deepEqual(attempts, [0, 1000, 3000, 7000]);
  assert.equal(bench.state('a/1'), 'FAILED');
  assert.deepEqual(
    bench.scheduler.history().map(({ RetryForTxn, RetryAttempt }) => [RetryForTxn, RetryAttempt]),
    [
      [undefined, undefined],
      [0, 1],
      [0, 2],
      [0, 3],
    ],
  );
  assert.equal(bench.clock.pending, 0);
});

test('with a constant delay and without a limit, retries continue', async () => {
  const bench = setUp();
  let left = 20;
  bench.southbound.fails = () => (left-- > 0 ? new Error('no') : undefined);
  const endless = { periodMs: 10, maxAttempts: 0, exponential: false };
  await bench.commit({ 'a/1': { v: 1 } }, { retry: endless });
  await pass(bench, 190);
  assert.equal(bench.state('a/1'), 'RETRYING');
  await pass(bench, 10);
  assert.equal(bench.state('a/1'), 'CONFIGURED');
});

test('a value that was set again in the meantime is not retried', async () => {
  const bench = setUp();
  bench.southbound.fails = () => new Error('no');
  await bench.commit({ 'a/1': { v: 1 }, 'a/2': { v: 1 } }, { retry });
  bench.southbound.fails = () => undefined;
  await bench.commit({ 'a/1': { v: 2 } });
  const before = bench.scheduler.history().length;
  bench.southbound.calls.length = 0;
  await pass(bench, 1000, 500);
  assert.deepEqual(bench.southbound.takeCalls(), ['CREATE a/2']);
  assert.equal(bench.scheduler.history().length, before + 1);
  // Nothing of it is left: no transaction at all.
  bench.southbound.fails = () => new Error('no');
  await bench.commit({ 'a/3': { v: 1 } }, { retry });
  bench.southbound.fails = () => undefined;
  await bench.commit({ 'a/3': null });
  const after = bench.scheduler.history().length;
  await pass(bench, 20_000, 500);
  assert.equal(bench.scheduler.history().length, after);
});

test('a derived value is retried through its base, as it was read back', async () => {
  const bench = setUp({ window: 1 });
  let left = 1;
  bench.southbound.fails = (_verb, key) =>
    key === 'd/a1.1' && left-- > 0 ? new Error('failed to add value') : undefined;
  const derives = { 'd/a1.0': { v: 1 }, 'd/a1.1': { v: 1 } };
  await bench.commit({ 'a/1': { v: 1, derives } }, { retry });
  assert.equal(bench.state('a/1'), 'CONFIGURED');
  assert.equal(bench.state('d/a1.1'), 'RETRYING');
  await pass(bench, 1000, 500);
  const record = bench.scheduler.history().at(-1);
  assert.ok(record);
  assert.deepEqual(
    record.Values?.map(({ Key }) => Key),
    ['a/1'],
  );
  assert.deepEqual(operationsOf(record), ['CREATE d/a1.1 retry CONFIGURED']);
  const [created] = record.Executed ?? [];
  assert.deepEqual([created?.PrevState, created?.PrevErrMsg], ['RETRYING', 'failed to add value']);
});

test('a base that reads differently because of a derived value is updated when it is retried', async () => {
  // Everything counts, also what is derived, as where no comparator is given.
  const bench = setUp(
    { window: 1 },
    withDescriptor('alpha', {
      equivalent: (_key, a, b) => JSON.stringify(a) === JSON.stringify(b),
    }),
  );
  let left = 1;
  bench.southbound.fails = (_verb, key) =>
    key === 'd/a1.0' && left-- > 0 ? new Error('no') : undefined;
  await bench.commit({ 'a/1': { v: 1, derives: { 'd/a1.0': { v: 1 } } } }, { retry });
  assert.deepEqual(bench.southbound.takeCalls(), ['CREATE a/1', 'CREATE d/a1.0']);
  await pass(bench, 1000, 500);
  assert.deepEqual(bench.southbound.takeCalls(), ['UPDATE a/1', 'CREATE d/a1.0']);
});

test('operations that a failure blocked are retried with it', async () => {
  const bench = setUp({ window: 1 });
  await bench.commit({ 'a/1': { v: 1, derives: { 'd/a1.0': { v: 1 } } } }, { retry });
  await bench.commit({ 'b/1': { v: 1, needs: ['a/1'] } }, { retry });
  let left = 1;
  bench.southbound.fails = (verb, key) =>
    `${verb} ${key}` === 'DELETE b/1' && left-- > 0 ? new Error('busy') : undefined;
  await bench.commit({ 'a/1': null }, { retry });
  assert.equal(bench.state('a/1'), 'CONFIGURED');
  bench.southbound.calls.length = 0;
  await pass(bench, 1000, 500);
  assert.deepEqual(bench.southbound.takeCalls(), ['DELETE b/1', 'DELETE a/1']);
  assert.equal(bench.state('a/1'), 'NONEXISTENT');
  assert.equal(bench.state('b/1'), 'PENDING [a/1]');
});

test('an error that is not retriable is not retried', async () => {
  const isRetriable = (error: Error) => error.message !== 'hopeless';
  const bench = setUp({}, withDescriptor('alpha', { isRetriable }));
  bench.southbound.fails = (_verb, key) => new Error(key === 'a/1' ? 'hopeless' : 'later');
  await bench.commit({ 'a/1': { v: 1 }, 'a/2': { v: 1 } }, { retry });
  assert.equal(bench.state('a/1'), 'FAILED');
  assert.equal(bench.state('a/2'), 'RETRYING');
});

test('a value of unknown outcome is read back before its retry', async () => {
  const bench = setUp();
  const timeout = new TimeoutError('timeout');
  bench.southbound.losesReply = () => timeout;
  bench.southbound.retrieveFails = () => new Error('gone');
  await bench.commit({ 'a/1': { v: 1 } }, { retry });
  assert.equal(bench.state('a/1'), 'RETRYING');
  bench.southbound.losesReply = () => undefined;
  bench.southbound.retrieveFails = () => undefined;
  bench.southbound.calls.length = 0;
  await pass(bench, 1000, 500);
  assert.deepEqual(bench.southbound.takeCalls(), []);
  assert.equal(bench.state('a/1'), 'CONFIGURED');
});

test('a value whose dependency was lost is recreated by the retry if it could not be removed', async () => {
  const bench = setUp();
  const { southbound } = bench;
  const dependents = { 'b/1': { v: 1, needs: ['a/1'] }, 'b/2': { v: 1, needs: ['b/1'] } };
  await bench.commit({ 'a/1': { v: 1 }, ...dependents }, { retry });
  southbound.values.delete('a/1');
  let left = 1;
  southbound.fails = (verb) => (verb === 'DELETE' && left-- > 0 ? new Error('no') : undefined);
  await bench.commit({}, { mode: 'downstream-resync' });
  assert.equal(bench.state('a/1'), 'CONFIGURED');
  assert.equal(bench.state('b/2'), 'RETRYING');
  southbound.takeCalls();
  await pass(bench, 1000);
  const calls = ['DELETE b/2', 'DELETE b/1', 'CREATE b/1', 'CREATE b/2'];
  assert.deepEqual(southbound.takeCalls(), calls);
  assert.deepEqual(await bench.calls({}, { mode: 'downstream-resync' }), []);
});

test('closing cancels the retries', async () => {
  const bench = setUp();
  bench.southbound.fails = () => new Error('no');
  await bench.commit({ 'a/1': { v: 1 } }, { retry });
  await bench.scheduler.close();
  assert.equal(bench.clock.pending, 0);
});

test('a value that fails first in the last retry of another one has all of its own retries', async () => {
  const bench = setUp({ window: 1 });
  let left = 3;
  bench.southbound.fails = (_verb, key) =>
    key === 'b/1' || left-- > 0 ? new Error('no') : undefined;
  await bench.commit({ 'a/1': { v: 1 }, 'b/1': { v: 1, needs: ['a/1'] } }, { retry });
  await pass(bench, 7000, 500);
  assert.equal(bench.state('a/1'), 'CONFIGURED');
  assert.equal(bench.state('b/1'), 'RETRYING');
  await pass(bench, 7000, 500);
  assert.equal(bench.state('b/1'), 'FAILED');
  const calls = bench.southbound.takeCalls().filter((call) => call === 'CREATE b/1');
  assert.equal(calls.length, 4);
  assert.equal(bench.clock.pending, 0);
});

test('the limit of a value applies, although a value that it blocks is retried forever', async () => {
  const bench = setUp({ window: 1 });
  const forever = { periodMs: 100, maxAttempts: 0, exponential: false };
  await bench.commit({ 'a/1': { v: 1 } }, { retry: forever });
  await bench.commit({ 'b/1': { v: 1, needs: ['a/1'] } }, { retry });
  bench.southbound.fails = () => new Error('no');
  bench.southbound.calls.length = 0;
  await bench.commit({ 'a/1': null }, { retry: forever });
  await pass(bench, 20_000, 100);
  assert.deepEqual(bench.southbound.takeCalls(), Array(4).fill('DELETE b/1'));
  assert.equal(bench.state('b/1'), 'FAILED');
  assert.equal(bench.clock.pending, 0);
});

test('a value waits for one retry at a time, however often it fails in between', async () => {
  const bench = setUp({ window: 1 });
  const often = { periodMs: 100, maxAttempts: 0, exponential: false };
  const seldom = { ...often, periodMs: 170 };
  await bench.commit({ 'a/1': { v: 1 } }, { retry: often });
  await bench.commit({ 'b/1': { v: 1, needs: ['a/1'] } }, { retry: seldom });
  bench.southbound.fails = () => new Error('no');
  await bench.commit({ 'a/1': null }, { retry: often });
  for (let i = 0; i < 20; i++) {
    await pass(bench, 100);
    assert.ok(bench.clock.pending <= 2, `${bench.clock.pending} timers`);
  }
  bench.southbound.fails = () => undefined;
  await pass(bench, 200);
  assert.equal(bench.state('b/1'), 'PENDING [a/1]');
  assert.equal(bench.clock.pending, 0);
});

test('an undone value is not retried, unless the undo failed', async () => {
  const bench = setUp({ window: 1 });
  const undoing = { onFailure: 'revert', retry } as const;
  await bench.commit({ 'a/1': { v: 1 }, 'a/2': { v: 1 } }, { retry });
  bench.southbound.fails = (_verb, key, { v }) =>
    key === 'a/2' && v === 2 ? new Error('no') : undefined;
  await bench.commit({ 'a/1': { v: 2 }, 'a/2': { v: 2 } }, undoing);
  assert.deepEqual(operationsOf(bench.lastRecord()), [
    'UPDATE a/1 CONFIGURED',
    'UPDATE a/2 FAILED',
    'UPDATE a/2 noop revert CONFIGURED',
    'UPDATE a/1 revert CONFIGURED',
  ]);
  assert.equal(bench.clock.pending, 0);
  let updates = 0;
  bench.southbound.fails = () => (++updates > 1 ? new Error('no') : undefined);
  await bench.commit({ 'a/1': { v: 2 }, 'a/2': { v: 2 } }, undoing);
  assert.deepEqual(operationsOf(bench.lastRecord()), [
    'UPDATE a/1 CONFIGURED',
    'UPDATE a/2 FAILED',
    'UPDATE a/2 noop revert CONFIGURED',
    'UPDATE a/1 revert RETRYING',
  ]);
  bench.southbound.fails = () => undefined;
  await pass(bench, 1000, 500);
  assert.deepEqual(bench.southbound.contents(), { 'a/1': '1', 'a/2': '1' });
});

test('a value that fails while the scheduler closes is not retried either', async () => {
  const bench = setUp();
  bench.southbound.fails = () => new Error('no');
  bench.southbound.replies = 'turn';
  const failures = bench.commit({ 'a/1': { v: 1 } }, { retry });
  await Promise.resolve();
  await bench.scheduler.close();
  assert.deepEqual(await failures, ['a/1 (CREATE): no']);
  assert.equal(bench.clock.pending, 0);
});

test('a given-up value and one that it blocks do not restart each other', async () => {
  const bench = setUp({ window: 1 });
  const once = { periodMs: 10, maxAttempts: 1, exponential: false };
  await bench.commit({ 'b/1': { v: 1 } }, { retry: once });
  await bench.commit({ 'a/1': { v: 1, needs: ['b/1'] } }, { retry: once });
  bench.southbound.fails = (verb) => (verb === 'DELETE' ? new Error('no') : undefined);
  bench.southbound.calls.length = 0;
  await bench.commit({ 'b/1': null }, { retry: { ...once, periodMs: 25 } });
  await pass(bench, 1_000);
  assert.deepEqual(bench.southbound.takeCalls(), Array(2).fill('DELETE a/1'));
  assert.equal(bench.state('a/1'), 'FAILED');
  assert.equal(bench.clock.pending, 0);
});

test('a retry does not touch other failed values, nor the values that they block', async () => {
  const bench = setUp({ window: 1 });
  const forever = { periodMs: 100, maxAttempts: 0, exponential: false };
  await bench.commit({ 'a/1': { v: 1 } });
  await bench.commit({ 'b/1': { v: 1, needs: ['a/1'] } }, { retry: forever });
  await bench.commit({ 'b/2': { v: 1, needs: ['a/1'] } }, { retry });
  const failing = new Set(['b/1', 'b/2']);
  bench.southbound.fails = (_verb, key) => (failing.has(key) ? new Error('no') : undefined);
  bench.southbound.calls.length = 0;
  await bench.commit({ 'a/1': null });
  await pass(bench, 20_000, 100);
  const calls = bench.southbound.takeCalls();
  assert.equal(calls.filter((call) => call === 'DELETE b/1').length, 201);
  assert.equal(calls.filter((call) => call === 'DELETE b/2').length, 4);
  assert.equal(bench.state('b/1'), 'RETRYING');
  assert.equal(bench.state('b/2'), 'FAILED');
  failing.clear();
  await pass(bench, 200);
  assert.deepEqual(bench.southbound.takeCalls(), ['DELETE b/1']);
  assert.equal(bench.clock.pending, 0);
  // As soon as it goes, what it kept goes too.
  assert.deepEqual(await bench.calls({ 'b/2': null }), ['DELETE b/2', 'DELETE a/1']);
  assert.equal(bench.state('a/1'), 'NONEXISTENT');
});

test('a blocked operation runs when the last blocker succeeds, over any number of values', async () => {
  const bench = setUp({ window: 1 });
  await bench.commit({ 'a/1': { v: 1, derives: { 'd/a1.0': { v: 1 } } } });
  await bench.commit({ 'a/2': { v: 1, any: ['d/a1.'] } });
  await bench.commit({ 'b/1': { v: 1, needs: ['a/2'] } }, { retry });
  let left = 1;
  bench.southbound.fails = (_verb, key) =>
    key === 'b/1' && left-- > 0 ? new Error('busy') : undefined;
  await bench.commit({ 'a/1': null });
  bench.southbound.calls.length = 0;
  await pass(bench, 1_000, 500);
  assert.deepEqual(bench.southbound.takeCalls(), [
    'DELETE b/1',
    'DELETE a/2',
    'DELETE d/a1.0',
    'DELETE a/1',
  ]);
});

test('a value whose retry is due while another one blocks it is given up in the end', async () => {
  const bench = setUp({ window: 1 });
  const thing = (v: number) => ({ v, derives: { 'd/a1.0': { v, recreate: true } } });
  await bench.commit({ 'a/1': thing(1) });
  await bench.commit({ 'b/1': { v: 1, needs: ['d/a1.0'] } });
  const asked = new Map<string, number>();
  bench.southbound.fails = (verb, key) => {
    const times = (asked.get(`${verb} ${key}`) ?? 0) + 1;
    asked.set(`${verb} ${key}`, times);
    const isFirst = verb === 'DELETE' && key === 'd/a1.0' && times === 1;
    const isLater = verb === 'DELETE' && key === 'b/1' && times > 1;
    return isFirst || isLater ? new Error('no') : undefined;
  };
  await bench.commit({ 'a/1': thing(2) }, { retry });
  assert.equal(bench.state('d/a1.0'), 'RETRYING');
  bench.southbound.calls.length = 0;
  await pass(bench, 2_000, 500);
  assert.deepEqual(bench.southbound.takeCalls(), ['DELETE b/1']);
  assert.equal(bench.state('b/1'), 'FAILED');
  assert.equal(bench.state('d/a1.0'), 'RETRYING');
  await pass(bench, 5_000, 500);
  assert.deepEqual(bench.southbound.takeCalls(), []);
  assert.equal(bench.state('d/a1.0'), 'FAILED');
  assert.equal(bench.clock.pending, 0);
});

test('a value that is not desired any more, or is in sync, keeps no timer', async () => {
  const bench = setUp();
  bench.southbound.fails = () => new Error('no');
  await bench.commit({ 'a/1': { v: 1 }, 'a/2': { v: 1 } }, { retry });
  assert.equal(bench.clock.pending, 1);
  await bench.commit({ 'a/1': null });
  assert.equal(bench.clock.pending, 1);
  bench.southbound.fails = () => undefined;
  await bench.commit({ 'a/2': { v: 2 } });
  assert.equal(bench.clock.pending, 0);
});

test('a resync while a retry waits does its work, or replaces it', async () => {
  for (const mode of ['full-resync', 'upstream-resync', 'downstream-resync'] as const) {
    const bench = setUp();
    const desired = { 'a/1': { v: 1 }, 'a/2': { v: 1 } };
    let left = 2;
    bench.southbound.fails = (_verb, key) =>
      key === 'a/1' && left-- > 0 ? new Error('no') : undefined;
    await bench.commit(desired, { retry });
    await pass(bench, 500, 500);
    const values = mode === 'downstream-resync' ? {} : desired;
    assert.deepEqual(await bench.calls(values, { mode, retry }), ['CREATE a/1'], mode);
    assert.equal(bench.clock.pending, 1, mode);
    await pass(bench, 500, 500);
    assert.equal(bench.state('a/1'), 'RETRYING', mode);
    await pass(bench, 500, 500);
    assert.equal(bench.state('a/1'), 'CONFIGURED', mode);
    assert.equal(bench.clock.pending, 0, mode);
    const { RetryForTxn, RetryAttempt } = bench.scheduler.history().at(-1) ?? {};
    assert.deepEqual([RetryForTxn, RetryAttempt], [1, 1], mode);
  }
});

test('a resync without a retry policy ends the waiting retries', async () => {
  for (const mode of ['full-resync', 'upstream-resync', 'downstream-resync'] as const) {
    const bench = setUp();
    bench.southbound.fails = () => new Error('no');
    await bench.commit({ 'a/1': { v: 1 } }, { retry });
    await bench.commit(mode === 'downstream-resync' ? {} : { 'a/1': { v: 1 } }, { mode });
    assert.equal(bench.state('a/1'), 'FAILED', mode);
    assert.equal(bench.clock.pending, 0, mode);
  }
});

test('an undone transaction does not change the retries of the values that it touched', async () => {
  const bench = setUp({ window: 1 });
  bench.southbound.fails = (_verb, key) => (key === 'a/1' ? new Error('no') : undefined);
  await bench.commit({ 'a/1': { v: 1 } }, { retry });
  await bench.commit({ 'b/1': { v: 1 } });
  bench.southbound.fails = (_verb, key) => (key === 'b/1' ? new Error('no') : undefined);
  const failures = await bench.commit(
    { 'a/2': { v: 1 }, 'b/1': { v: 2 } },
    { onFailure: 'revert', retry },
  );
  assert.deepEqual(failures, ['b/1 (DELETE): no']);
  assert.equal(bench.state('a/1'), 'RETRYING');
  assert.equal(bench.clock.pending, 1);
  await pass(bench, 1_000, 500);
  assert.equal(bench.state('a/1'), 'CONFIGURED');
  assert.equal(bench.clock.pending, 0);
});

test('a report that removes a dependency of a failed value ends its retries', async () => {
  const bench = setUp();
  bench.southbound.changeExternally('a/f', { v: 1 });
  bench.scheduler.pushNotification([{ key: 'a/f', value: { v: 1 } }]);
  bench.southbound.fails = () => new Error('no');
  await bench.commit({ 'b/1': { v: 1, needs: ['a/f'] } }, { retry });
  assert.equal(bench.state('b/1'), 'RETRYING');
  bench.scheduler.pushNotification([{ key: 'a/f', value: null }]);
  await pass(bench, 1_000, 500);
  assert.equal(bench.state('b/1'), 'PENDING [a/f]');
  assert.equal(bench.clock.pending, 0);
  bench.southbound.fails = () => undefined;
  bench.scheduler.pushNotification([{ key: 'a/f', value: { v: 1 } }]);
  await pass(bench, 10);
  assert.equal(bench.state('b/1'), 'CONFIGURED');
});

test('the end of a transaction does not look at values that failed in others', async () => {
  /** The clock is read once for some units of work. */
  class CountingClock extends ManualClock {
    reads = 0;
    override monotonic(): number {
      this.reads++;
      return super.monotonic();
    }
  }
  const readsOf = async (failed: number): Promise<number> => {
    const clock = new CountingClock();
    const bench = setUp({ clock });
    bench.southbound.fails = (_, key) => (key === 'a/other' ? undefined : new Error('no'));
    const values = Array.from({ length: failed }, (_, i) => [`a/${i}`, { v: 1 }] as const);
    await bench.commit(Object.fromEntries(values), { retry });
    await bench.commit({ 'a/other': { v: 1 } });
    clock.reads = 0;
    await bench.commit({ 'a/other': { v: 2 } });
    return clock.reads;
  };
  assert.equal(await readsOf(2000), await readsOf(10));
});

test('a retry does not visit values that failed, too, and whose retry is not due', async () => {
  const visitsOf = async (count: number): Promise<number> => {
    const bench = setUp();
    const many = (v: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`a/${i}`, { v }]));
    await bench.commit(many(1));
    bench.southbound.fails = () => new Error('no');
    await bench.commit(many(2), { retry: { ...retry, periodMs: 60_000 } });
    await bench.commit({ 'b/1': { v: 1 } }, { retry });
    const { visits } = bench.scheduler;
    bench.southbound.fails = () => undefined;
    await pass(bench, 1000, 500);
    assert.equal(bench.state('b/1'), 'CONFIGURED');
    assert.equal(bench.state('a/7'), 'RETRYING');
    return bench.scheduler.visits - visits;
  };
  assert.equal(await visitsOf(300), await visitsOf(10));
});

test('a value of a southbound that was replaced is not retried before a resync has read the next one', async () => {
  let incarnation = 1;
  const bench = setUp({}, withDescriptor('alpha', { incarnation: () => incarnation }));
  await bench.commit({ 'a/1': { v: 1 } }, { mode: 'full-resync' });
  bench.southbound.fails = () => new Error('no');
  await bench.commit({ 'a/1': { v: 2 } }, { retry });
  bench.southbound.fails = () => undefined;
  bench.southbound.takeCalls();
  incarnation++;
  bench.southbound.values.clear();
  await pass(bench, 10_000, 500);
  assert.deepEqual(bench.southbound.takeCalls(), []);
  assert.equal(bench.state('a/1'), 'RETRYING');
  assert.deepEqual(await bench.calls({}, { mode: 'downstream-resync' }), ['CREATE a/1']);
  assert.equal(bench.state('a/1'), 'CONFIGURED');
  assert.equal(bench.clock.pending, 0);
});

test('a value whose southbound was replaced is retried after a resync in which it has failed', async () => {
  let incarnation = 1;
  const bench = setUp({}, withDescriptor('alpha', { incarnation: () => incarnation }));
  await bench.commit({}, { mode: 'full-resync' });
  bench.southbound.fails = () => new Error('no');
  await bench.commit({ 'a/1': { v: 1 } }, { retry });
  incarnation++;
  await pass(bench, 10_000, 500);
  await bench.commit({}, { mode: 'downstream-resync', retry });
  bench.southbound.fails = () => undefined;
  await pass(bench, 10_000, 500);
  assert.equal(bench.state('a/1'), 'CONFIGURED');
  assert.equal(bench.clock.pending, 0);
});
