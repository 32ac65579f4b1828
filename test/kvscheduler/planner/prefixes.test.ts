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

test('values that need any key of a prefix are created when many keys become available', async () => {
  /** The clock is read once for some units of work. */
  class CountingClock extends ManualClock {
    reads = 0;
    override monotonic(): number {
      this.reads++;
      return super.monotonic();
    }
  }
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
  const bench = setUp();
  bench.southbound.checksRules = false;
  const count = 300;
  await bench.commit({
    ...many(count, 'a/', { v: 1 }),
    ...many(count, 'b/', user),
    'a/x': { v: 1 },
  });
  const { visits } = bench.scheduler;
  await bench.commit(many(count, 'a/', null));
  assert.equal(bench.state('b/000007'), 'CONFIGURED');
  const each = (bench.scheduler.visits - visits) / count ** 2;
  assert.ok(each < 3, `${each} visits for each key and value`);
});
