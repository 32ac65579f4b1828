/** Many values that depend on any key of one prefix: the work grows with the values, not with their square. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { setUp } from '../support/setup.ts';
import type { Spec } from '../support/southbound.ts';

type Values = Record<string, Spec | null>;

function many(count: number, prefix: string, value: Spec | null): Values {
  const keys = Array.from({ length: count }, (_, i) => `${prefix}${String(i).padStart(6, '0')}`);
  return Object.fromEntries(keys.map((key) => [key, value]));
}

/** Three times as many values take about three times the work. */
async function assertLinear(workOf: (count: number) => Promise<number>): Promise<void> {
  const [few, lots] = [await workOf(300), await workOf(900)];
  assert.ok(lots <= 4 * few, `${few} units of work for 300 values, ${lots} for 900`);
}

const user: Spec = { v: 1, any: ['a/'] };

/** The clock is read once for some units of work. */
class CountingClock extends ManualClock {
  reads = 0;
  override monotonic(): number {
    this.reads++;
    return super.monotonic();
  }
}

/** The work of each transaction. */
async function readsOf(transactions: readonly Values[]): Promise<number> {
  const clock = new CountingClock();
  const bench = setUp({ clock });
  bench.southbound.checksRules = false;
  for (const values of transactions) await bench.commit(values);
  assert.deepEqual(bench.southbound.values.size, 0);
  return clock.reads;
}

test('values that need any key of a prefix are created when many keys become available', async () => {
  await assertLinear(async (count) => {
    const clock = new CountingClock();
    const bench = setUp({ clock });
    bench.southbound.checksRules = false;
    await bench.commit({
      ...many(count, 'a/', { v: 1, needs: ['b/first'] }),
      ...many(count, 'b/', user),
    });
    clock.reads = 0;
    await bench.commit({ 'b/first': { v: 1 } });
    assert.equal(bench.state('b/000007'), 'CONFIGURED');
    return clock.reads;
  });
});

test('values that need any of each other are created and deleted', async () => {
  await assertLinear((count) =>
    readsOf([many(count, 'a/', { v: 1, any: ['a/'] }), many(count, 'a/', null)]),
  );
});

test('values that need any of what is derived from others are created and deleted', async () => {
  await assertLinear((count) => {
    const keys = Object.keys(many(count, 'a/', null));
    const values = keys.map((key, i): [string, Spec] => [
      key,
      { v: 1, any: ['d/'], derives: { [`d/${i}`]: { v: 1 } } },
    ]);
    return readsOf([Object.fromEntries(values), many(count, 'a/', null)]);
  });
});

test('values that wait for a prefix whose keys all wait, too', async () => {
  await assertLinear(async (count) => {
    const bench = setUp();
    bench.southbound.checksRules = false;
    await bench.commit(many(count, 'a/', { v: 1, needs: ['b/none'] }));
    const { visits } = bench.scheduler;
    await bench.commit(many(count, 'b/', user));
    assert.equal(bench.scheduler.statuses('b/').length, count);
    assert.equal(bench.state('b/000007'), 'PENDING [any of a/]');
    return bench.scheduler.visits - visits;
  });
});

test('values that need any key of a prefix stay while one key is left', async () => {
  await assertLinear(async (count) => {
    const bench = setUp();
    bench.southbound.checksRules = false;
    await bench.commit({
      ...many(count, 'a/', { v: 1 }),
      ...many(count, 'b/', user),
      'a/x': { v: 1 },
    });
    const { visits } = bench.scheduler;
    await bench.commit(many(count, 'a/', null));
    assert.equal(bench.state('b/000007'), 'CONFIGURED');
    return bench.scheduler.visits - visits;
  });
});

test('values that need any key of a prefix wait when all keys are removed', async () => {
  await assertLinear(async (count) => {
    const bench = setUp();
    bench.southbound.checksRules = false;
    await bench.commit({ ...many(count, 'a/', { v: 1 }), ...many(count, 'b/', user) });
    const { visits } = bench.scheduler;
    await bench.commit(many(count, 'a/', null));
    assert.equal(bench.state('b/000007'), 'PENDING [any of a/]');
    return bench.scheduler.visits - visits;
  });
});

test('a key is removed or added while other keys of the prefix are left: no value that needs any is visited', async () => {
  const visitsOf = async (count: number): Promise<number[]> => {
    const bench = setUp();
    bench.southbound.checksRules = false;
    await bench.commit({ ...many(count, 'a/', { v: 1 }), ...many(count, 'b/', user) });
    const costs: number[] = [];
    for (const change of [{ 'a/000007': null }, { 'a/000007': { v: 1 } }, { 'a/x': { v: 1 } }]) {
      const { visits } = bench.scheduler;
      await bench.commit(change);
      costs.push(bench.scheduler.visits - visits);
    }
    assert.equal(bench.state('b/000007'), 'CONFIGURED');
    return costs;
  };
  assert.deepEqual(await visitsOf(900), await visitsOf(30));
});

test('the last available key of a prefix is found behind many that wait', async () => {
  const bench = setUp();
  await bench.commit({
    ...many(30, 'a/', { v: 1, needs: ['c/none'] }),
    'a/x': { v: 1 },
    'a/y': { v: 1 },
    'b/user': user,
  });
  assert.deepEqual(await bench.calls({ 'a/x': null }), ['DELETE a/x']);
  assert.deepEqual(await bench.calls({ 'a/y': null }), ['DELETE b/user', 'DELETE a/y']);
  assert.deepEqual(await bench.calls({ 'a/y': { v: 1 } }), ['CREATE a/y', 'CREATE b/user']);
  assert.deepEqual(bench.southbound.violations, []);
});

test('a key that replaces the last available one keeps the values that need any', async () => {
  const bench = setUp({ window: 1 });
  await bench.commit({ 'a/x': { v: 1 }, 'b/user': user });
  // The value cannot stay in between: deletions are first.
  assert.deepEqual(await bench.calls({ 'a/x': null, 'a/y': { v: 1 } }), [
    'DELETE b/user',
    'DELETE a/x',
    'CREATE a/y',
    'CREATE b/user',
  ]);
  assert.deepEqual(await bench.calls({ 'a/z': { v: 1 } }), ['CREATE a/z']);
  assert.deepEqual(await bench.calls({ 'a/y': null }), ['DELETE a/y']);
  assert.equal(bench.state('b/user'), 'CONFIGURED');
});
