import assert from 'node:assert/strict';
import test from 'node:test';
import { type Bench, operationsOf, pass, setUp } from './support/setup.ts';
import type { Spec } from './support/southbound.ts';

/** Reports and waits until the report was looked at. */
async function report(bench: Bench, pairs: Record<string, Spec | null>, metadata?: unknown) {
  const { scheduler, southbound } = bench;
  southbound.calls.length = 0;
  for (const [key, value] of Object.entries(pairs)) southbound.changeExternally(key, value);
  scheduler.pushNotification(
    Object.entries(pairs).map(([key, value]) => ({ key, value, metadata })),
  );
  await scheduler.dump('SB', { descriptor: 'alpha' });
  return southbound.takeCalls();
}

test('a reported value is created, changed and deleted without a call, and its dependents follow', async () => {
  const bench = setUp();
  await bench.commit({ 'b/1': { v: 1, needs: ['a/1', 'p/a1'] } });
  const derives = { 'p/a1': { v: 1 } };
  assert.deepEqual(await report(bench, { 'a/1': { v: 1, derives } }, 7), ['CREATE b/1']);
  assert.equal(bench.state('a/1'), 'OBTAINED');
  assert.equal(bench.state('p/a1'), 'OBTAINED');
  assert.equal(bench.scheduler.metadataMap('alpha')?.getValue('1'), 7);
  const record = bench.scheduler.history().at(-1);
  assert.ok(record);
  assert.deepEqual([record.TxnType, record.Values?.[0]?.Origin], ['SBNotification', 2]);
  assert.deepEqual(operationsOf(record), [
    'CREATE a/1 OBTAINED',
    'CREATE p/a1 OBTAINED',
    'CREATE b/1 CONFIGURED',
  ]);
  assert.deepEqual(await report(bench, { 'a/1': { v: 2, derives } }), []);
  assert.deepEqual(await report(bench, { 'a/1': null }), ['DELETE b/1']);
  assert.equal(bench.state('a/1'), 'NONEXISTENT');
  assert.equal(bench.scheduler.metadataMap('alpha')?.size, 0);
});

test('each pair is judged by itself', async () => {
  const bench = setUp();
  await bench.commit({ 'a/1': { v: 1 } });
  await report(bench, { 'a/1': { v: 9 }, 'y/1': { v: 1 }, 'a/2': { v: 1 }, 'a/3': null });
  assert.equal(bench.state('a/1'), 'CONFIGURED');
  assert.equal(bench.state('y/1'), 'NONEXISTENT');
  assert.equal(bench.state('a/2'), 'OBTAINED');
  const last = bench.scheduler.history().at(-1);
  assert.deepEqual(
    last?.Values?.map(({ Key }) => Key),
    ['a/2'],
  );
});

test('irrelevant reports start no transaction', async () => {
  const bench = setUp();
  await bench.commit({ 'a/1': { v: 1 } });
  await report(bench, { 'a/2': { v: 1 } }, 1);
  const before = bench.scheduler.history().length;
  await report(bench, { 'a/1': null, 'y/1': { v: 1 }, 'a/2': { v: 1 } }, 2);
  assert.equal(bench.scheduler.history().length, before);
  assert.equal(bench.scheduler.metadataMap('alpha')?.getValue('2'), 2);
});

test('queued reports are merged; the latest one of a key applies', async () => {
  const bench = setUp();
  const { scheduler } = bench;
  for (let v = 1; v <= 500; v++) scheduler.pushNotification([{ key: 'a/1', value: { v } }]);
  scheduler.pushNotification([{ key: 'a/2', value: { v: 1 } }]);
  scheduler.pushNotification([{ key: 'a/2', value: null }]);
  bench.southbound.changeExternally('a/1', { v: 500 });
  await scheduler.dump('SB', { descriptor: 'alpha' });
  assert.equal(scheduler.history().length, 1);
  assert.deepEqual(
    scheduler.history()[0]?.Values?.map(({ Key, Value }) => [Key, Value?.value]),
    [['a/1', { v: 500 }]],
  );
});

test('an unmanaged value that was deleted and is back before its reports are processed keeps its dependents', async () => {
  const bench = setUp();
  const { scheduler } = bench;
  await bench.commit({ 'b/1': { v: 1, needs: ['a/1'] } });
  await report(bench, { 'a/1': { v: 1 } }, 1);
  // as a link that goes down and up: what the northbound configured on top of it is still there
  scheduler.pushNotification([{ key: 'a/1', value: null }]);
  assert.deepEqual(await report(bench, { 'a/1': { v: 1 } }, 2), []);
  assert.deepEqual([bench.state('a/1'), bench.state('b/1')], ['OBTAINED', 'CONFIGURED']);
  assert.equal(scheduler.metadataMap('alpha')?.getValue('1'), 2);
  // with another value it is a change, as in a resync
  scheduler.pushNotification([{ key: 'a/1', value: null }]);
  assert.deepEqual(await report(bench, { 'a/1': { v: 2 } }, 3), []);
  assert.deepEqual(await bench.calls({}, { mode: 'downstream-resync' }), []);
});

test('a report applies to a key of which the northbound has only set an invalid value, as a resync does', async () => {
  const invalid = { v: 1, invalid: true };
  const found = setUp();
  const reported = setUp();
  for (const bench of [found, reported])
    await bench.commit({ 'a/1': invalid, 'b/1': { v: 1, needs: ['a/1'] } });
  assert.deepEqual(await report(reported, { 'a/1': null }), []);
  assert.equal(reported.state('a/1'), 'INVALID [invalid]');
  found.southbound.changeExternally('a/1', { v: 2 });
  assert.deepEqual(await found.calls({}, { mode: 'downstream-resync' }), ['CREATE b/1']);
  assert.deepEqual(await report(reported, { 'a/1': { v: 2 } }), ['CREATE b/1']);
  for (const bench of [found, reported]) {
    assert.deepEqual(bench.scheduler.status('a/1').value, { key: 'a/1', state: 'OBTAINED' });
    assert.equal((await bench.commit({ 'a/1': invalid })).length, 1);
    assert.equal(bench.state('a/1'), 'OBTAINED');
    assert.deepEqual(await report(bench, { 'a/1': null }), ['DELETE b/1']);
    assert.equal(bench.state('a/1'), 'NONEXISTENT');
  }
});

test('a report does not apply to an invalid value that has a last valid one, nor to a derived one', async () => {
  const bench = setUp();
  const invalid = { v: 1, invalid: true };
  await bench.commit({ 'a/1': { v: 1, needs: ['a/none'] } });
  await bench.commit({ 'a/1': invalid, 'a/2': { v: 1, derives: { 'd/a2.0': invalid } } });
  assert.equal(bench.state('a/1'), 'INVALID [invalid] last valid PENDING');
  await report(bench, { 'a/1': { v: 2 }, 'd/a2.0': { v: 2 } });
  assert.equal(bench.state('a/1'), 'INVALID [invalid] last valid PENDING');
  assert.equal(bench.state('d/a2.0'), 'INVALID [invalid]');
});

test('a report in the middle of an operation waits for the end of the transaction', async () => {
  const bench = setUp();
  const { scheduler, southbound } = bench;
  southbound.onCall = (verb, key) => {
    if (`${verb} ${key}` !== 'CREATE a/1') return;
    southbound.changeExternally('a/f', { v: 1 });
    scheduler.pushNotification([{ key: 'a/f', value: { v: 1 } }]);
  };
  await bench.commit({ 'a/1': { v: 1 }, 'b/1': { v: 1, needs: ['a/f'] } });
  assert.equal(bench.state('b/1'), 'PENDING [a/f]');
  await scheduler.dump('SB', { descriptor: 'alpha' });
  assert.equal(bench.state('b/1'), 'CONFIGURED');
});

test('the northbound takes over a reported value that it sets, and leaves others alone', async () => {
  const bench = setUp();
  await report(bench, { 'a/1': { v: 1 } });
  assert.deepEqual(await bench.calls({ 'a/1': null }), []);
  assert.equal(bench.state('a/1'), 'OBTAINED');
  assert.deepEqual(await bench.calls({ 'a/1': { v: 2 } }), ['UPDATE a/1']);
  assert.equal(bench.state('a/1'), 'CONFIGURED');
  await report(bench, { 'a/1': { v: 3 } });
  assert.equal(bench.state('a/1'), 'CONFIGURED');
});

test('a failure after a report is retried by the policy of the value', async () => {
  const bench = setUp();
  const retry = { periodMs: 3000, maxAttempts: 3, exponential: true };
  await bench.commit({ 'b/1': { v: 1, needs: ['a/1'] } }, { retry });
  bench.southbound.fails = () => new Error('not yet');
  await report(bench, { 'a/1': { v: 1 } });
  assert.equal(bench.state('b/1'), 'RETRYING');
  bench.southbound.fails = () => undefined;
  await pass(bench, 3000, 500);
  assert.equal(bench.state('b/1'), 'CONFIGURED');
  const last = bench.scheduler.history().at(-1);
  assert.deepEqual(
    [last?.TxnType, last?.RetryForTxn, last?.RetryAttempt],
    ['RetryFailedOps', 1, 1],
  );
});

test('a value that is reported deleted is unavailable, even if its dependents cannot be deleted', async () => {
  const bench = setUp();
  await report(bench, { 'a/f': { v: 1 } });
  await bench.commit({ 'b/1': { v: 1, needs: ['a/f'] } });
  bench.southbound.fails = () => new Error('no');
  await report(bench, { 'a/f': null });
  assert.equal(bench.state('a/f'), 'NONEXISTENT');
  assert.equal(bench.state('b/1'), 'FAILED');
  bench.southbound.fails = () => undefined;
  assert.deepEqual(await bench.calls({}, { mode: 'downstream-resync' }), ['DELETE b/1']);
  assert.equal(bench.state('b/1'), 'PENDING [a/f]');
});
