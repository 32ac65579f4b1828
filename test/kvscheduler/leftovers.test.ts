/** Leftovers beside the values, and values whose objects do not work. */
import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import { operationsOf, pass, setUp, withDescriptor } from './support/setup.ts';
import type { Spec } from './support/southbound.ts';
import { TimeoutError } from './support/timeout-error.ts';

const full = { mode: 'full-resync' } as const;
const downstream = { mode: 'downstream-resync' } as const;

describe('a leftover', () => {
  test('is removed by an operation of the resync that finds it, and leaves no node', async () => {
    for (const mode of [full, downstream]) {
      const bench = setUp();
      await bench.commit({ 'a/1': { v: 1 } }, full);
      bench.southbound.leftovers.set('a/x', { what: 'refers to nothing', precedes: [] });
      const desired = mode === full ? { 'a/1': { v: 1 } } : {};
      assert.deepEqual(await bench.calls(desired, mode), ['REMOVE a/x']);
      const record = bench.lastRecord();
      for (const list of ['Planned', 'Executed'] as const) {
        assert.deepEqual(operationsOf(record, list), ['DELETE leftover/alpha/x REMOVED']);
        assert.equal(record[list]?.[0]?.Reason, 'leftover: refers to nothing');
      }
      assert.equal(bench.state('leftover/alpha/x'), 'NONEXISTENT');
      assert.deepEqual(await bench.calls(desired, mode), []);
    }
  });

  test('is not removed by reads and updates', async () => {
    const bench = setUp({ verify: true });
    await bench.commit({ 'a/1': { v: 1 } }, full);
    bench.southbound.leftovers.set('a/x', { what: 'refers to nothing', precedes: [] });
    const { Differences } = await bench.scheduler.drift();
    assert.deepEqual(Differences, [
      {
        Key: 'leftover/alpha/x',
        Descriptor: 'alpha',
        Difference: 'leftover',
        Reason: 'refers to nothing',
      },
    ]);
    await bench.scheduler.dump('SB', { descriptor: 'alpha' });
    assert.deepEqual(await bench.calls({ 'a/2': { v: 1 } }), ['CREATE a/2']);
    assert.equal(bench.southbound.leftovers.size, 1);
    assert.deepEqual(await bench.calls({}, downstream), ['REMOVE a/x']);
    assert.deepEqual((await bench.scheduler.drift()).Differences, []);
  });

  test('is removed before the values that it precedes, and before the one that it is a part of', async () => {
    const bench = setUp();
    await bench.commit({ 'a/1': { v: 1 }, 'a/3': { v: 1 } }, full);
    bench.southbound.leftovers.set('a/x', { what: 'x', precedes: ['a/2'], of: 'a/1' });
    bench.southbound.replies = 'turn';
    const calls = await bench.calls({ 'a/2': { v: 1 }, 'a/3': { v: 2 } }, full);
    assert.deepEqual(calls, ['REMOVE a/x', 'UPDATE a/3', 'DELETE a/1', 'CREATE a/2']);
  });

  test('that cannot be removed is retried, and holds nothing up but the value that it is a part of', async () => {
    const bench = setUp();
    const retry = { periodMs: 100, maxAttempts: 3, exponential: false };
    await bench.commit({ 'a/1': { v: 1 } }, full);
    bench.southbound.leftovers.set('a/x', { what: 'x', precedes: ['a/2'], of: 'a/1' });
    bench.southbound.removalFails = () => new Error('busy');
    const failures = await bench.commit({ 'a/2': { v: 1 } }, { ...full, retry });
    assert.deepEqual(failures, ['leftover/alpha/x (DELETE): busy']);
    assert.equal(bench.state('leftover/alpha/x'), 'RETRYING');
    assert.equal(bench.state('a/2'), 'CONFIGURED');
    assert.ok(bench.southbound.values.has('a/1'));
    const [drift] = (await bench.scheduler.drift()).Differences;
    assert.equal(drift?.Key, 'a/1');
    const [, leftover] = (await bench.scheduler.drift()).Differences;
    assert.equal(leftover?.Error, 'busy');
    bench.southbound.removalFails = () => undefined;
    bench.southbound.takeCalls();
    await pass(bench, 100);
    assert.deepEqual(bench.southbound.takeCalls(), ['REMOVE a/x', 'DELETE a/1']);
    assert.equal(bench.state('leftover/alpha/x'), 'NONEXISTENT');
  });

  test('that does not exist at the next resync is forgotten', async () => {
    const bench = setUp();
    await bench.commit({}, full);
    bench.southbound.leftovers.set('a/x', { what: 'x', precedes: [] });
    bench.southbound.removalFails = () => new Error('busy');
    await bench.commit({}, full);
    assert.equal(bench.state('leftover/alpha/x'), 'FAILED');
    bench.southbound.leftovers.clear();
    assert.deepEqual(await bench.calls({}, downstream), []);
    assert.equal(bench.state('leftover/alpha/x'), 'NONEXISTENT');
    assert.deepEqual([...bench.scheduler.failedValues()], []);
  });

  test('of a descriptor that cannot be read is kept', async () => {
    const bench = setUp();
    await bench.commit({}, full);
    bench.southbound.leftovers.set('a/x', { what: 'x', precedes: [] });
    bench.southbound.removalFails = () => new Error('busy');
    await bench.commit({}, full);
    bench.southbound.retrieveFails = () => new Error('disconnected');
    await bench.commit({}, downstream);
    assert.equal(bench.state('leftover/alpha/x'), 'FAILED');
  });
});

test('a leftover of another southbound is not removed by a late retry', async () => {
  let incarnation = 1;
  const change = withDescriptor('alpha', { incarnation: () => incarnation });
  const bench = setUp({}, change);
  const retry = { periodMs: 100, maxAttempts: 3, exponential: false };
  bench.southbound.leftovers.set('a/x', { what: 'x', precedes: [] });
  bench.southbound.removalFails = () => new Error('busy');
  await bench.commit({}, { ...full, retry });
  bench.southbound.removalFails = () => undefined;
  bench.southbound.takeCalls();
  incarnation++;
  await pass(bench, 100);
  assert.deepEqual(bench.southbound.takeCalls(), []);
  assert.equal(bench.state('leftover/alpha/x'), 'NONEXISTENT');
  assert.deepEqual(await bench.calls({}, downstream), ['REMOVE a/x']);
});

test('values wait for all leftovers before them as for one operation', async () => {
  const bench = setUp({ window: 1000 });
  const count = 300;
  const values: Record<string, Spec> = {};
  await bench.commit({}, full);
  for (let at = 0; at < count; at++) {
    bench.southbound.leftovers.set(`a/x${at}`, { what: 'x', precedes: ['a/', 'b/', `a/v${at}`] });
    values[`a/v${at}`] = { v: 1 };
  }
  // the executor has one table of all the pairs of which one operation waits for the other
  const sizes: number[] = [];
  const Plain = globalThis.Int32Array;
  globalThis.Int32Array = new Proxy(Plain, {
    construct(target, args: readonly unknown[]) {
      if (typeof args[0] === 'number') sizes.push(args[0]);
      return Reflect.construct(target, args) as Int32Array;
    },
  });
  try {
    const calls = await bench.calls(values, full);
    const kinds = calls.map((call) => call.split(' ')[0]);
    assert.deepEqual(kinds, [...Array(count).fill('REMOVE'), ...Array(count).fill('CREATE')]);
  } finally {
    globalThis.Int32Array = Plain;
  }
  assert.ok(Math.max(...sizes) < 10 * count, `${Math.max(...sizes)} pairs`);
});

describe('a broken value', () => {
  test('is drift, and is created again with what depends on it', async () => {
    for (const mode of [full, downstream]) {
      const bench = setUp({ window: 1 });
      const values = { 'a/1': { v: 1 }, 'a/2': { v: 1, needs: ['a/1'] } };
      await bench.commit(values, full);
      bench.southbound.broken.set('a/1', 'its link is missing');
      assert.deepEqual((await bench.scheduler.drift()).Differences, [
        { Key: 'a/1', Descriptor: 'alpha', Difference: 'broken', Reason: 'its link is missing' },
      ]);
      const calls = await bench.calls(mode === full ? values : {}, mode);
      assert.deepEqual(calls, ['DELETE a/2', 'DELETE a/1', 'CREATE a/1', 'CREATE a/2']);
      const operation = bench.lastRecord().Executed?.find(({ Key }) => Key === 'a/1');
      assert.equal(operation?.Reason, 'broken: its link is missing');
      assert.equal(operation?.IsRecreate, true);
      assert.deepEqual(await bench.calls({}, downstream), []);
    }
  });

  test('that is not desired is deleted, and an unmanaged one is left alone', async () => {
    const bench = setUp();
    const { values, broken } = bench.southbound;
    values.set('a/1', { managed: true, spec: { v: 1 } });
    values.set('a/2', { managed: false, spec: { v: 1 } });
    for (const key of ['a/1', 'a/2']) broken.set(key, 'x');
    assert.deepEqual(await bench.calls({}, full), ['DELETE a/1']);
  });

  test('is still to be created again after its deletion has failed', async () => {
    const bench = setUp();
    const { southbound } = bench;
    await bench.commit({ 'a/1': { v: 1 } }, full);
    southbound.broken.set('a/1', 'x');
    southbound.fails = (verb) => (verb === 'DELETE' ? new Error('busy') : undefined);
    await bench.commit({}, downstream);
    southbound.fails = () => undefined;
    assert.deepEqual(await bench.calls({}, downstream), ['DELETE a/1', 'CREATE a/1']);
    assert.equal(bench.state('a/1'), 'CONFIGURED');
  });

  test('is created again by a retry', async () => {
    for (const isUnknown of [false, true]) {
      const bench = setUp();
      const { southbound } = bench;
      const retry = { periodMs: 100, maxAttempts: 3, exponential: false };
      await bench.commit({ 'a/1': { v: 1 } }, { ...full, retry });
      southbound.broken.set('a/1', 'x');
      const error = isUnknown ? new TimeoutError('no reply') : new Error('busy');
      southbound.fails = (verb) => (verb === 'DELETE' ? error : undefined);
      await bench.commit({}, { ...downstream, retry });
      assert.equal(bench.state('a/1'), 'RETRYING');
      southbound.fails = () => undefined;
      southbound.takeCalls();
      await pass(bench, 100);
      assert.deepEqual(southbound.takeCalls(), ['DELETE a/1', 'CREATE a/1']);
      assert.equal(bench.state('a/1'), 'CONFIGURED');
      assert.deepEqual(await bench.calls({}, downstream), []);
    }
  });
});
