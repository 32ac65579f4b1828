import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ManualClock } from '#infra/clock/manual.ts';
import { Slices, sortInSlices } from '#kvscheduler/executor/slices.ts';
import { KeyIndex } from '#kvscheduler/graph/key-index.ts';

/** A clock on which every look takes a millisecond. */
class SlowClock extends ManualClock {
  looks = 0;

  override monotonic(): number {
    return this.looks++;
  }
}

describe('slices', () => {
  it('are due when time has passed since the event loop came round', async () => {
    const slices = new Slices(new SlowClock());
    let units = 0;
    while (!slices.due()) units++;
    assert.ok(units > 16 && units < 400, String(units));
    await slices.turn();
    assert.equal(slices.due(), false);
  });

  it('begin anew when the event loop came round by itself', async () => {
    const clock = new SlowClock();
    const slices = new Slices(clock);
    assert.equal(slices.due(), false);
    clock.looks += 1_000;
    await new Promise((resolve) => setImmediate(resolve));
    for (let i = 0; i < 30; i++) assert.equal(slices.due(), false);
  });

  it('know the longest stretch, without the time in which others worked', async () => {
    const clock = new SlowClock();
    const slices = new Slices(clock);
    slices.due();
    clock.looks += 40;
    await slices.turn();
    clock.looks += 1_000;
    slices.due();
    clock.looks += 10;
    await slices.turn();
    assert.equal(slices.longest, 41);
  });

  it('sort as the engine does', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(50), { maxLength: 5_000 }), async (numbers) => {
        const items = numbers.map((n, i) => ({ n, i }));
        const sorted = await sortInSlices(items, (a, b) => a.n - b.n, new Slices(new SlowClock()));
        assert.deepEqual(
          sorted,
          [...items].sort((a, b) => a.n - b.n),
        );
      }),
      { numRuns: 20 },
    );
  });
});

describe('keys step by step', () => {
  const keys = fc.array(fc.stringMatching(/^[ab]\/[0-9]{1,4}$/), { maxLength: 1_500 });

  it('are all keys with the prefix, in order', () => {
    fc.assert(
      fc.property(keys, fc.constantFrom('', 'a/', 'a/1', 'b/', 'c'), (all, prefix) => {
        const index = new KeyIndex();
        for (const key of all) index.add(key);
        const met: string[] = [];
        for (let some = index.next(prefix); some.length > 0; some = index.next(prefix, met.at(-1)))
          met.push(...some);
        assert.deepEqual(met, [...index.withPrefix(prefix)]);
        assert.deepEqual(met, [...new Set(all)].filter((key) => key.startsWith(prefix)).sort());
      }),
      { numRuns: 60 },
    );
  });

  it('miss nothing that stays while others come and go', () => {
    fc.assert(
      fc.property(keys, keys, keys, (staying, coming, going) => {
        const index = new KeyIndex();
        const stays = new Set(staying);
        const goes = new Set(going.filter((key) => !stays.has(key)));
        for (const key of [...stays, ...goes]) index.add(key);
        const met: string[] = [];
        for (let some = index.next(''); some.length > 0; some = index.next('', met.at(-1))) {
          met.push(...some);
          for (const key of coming.splice(0, 200)) index.add(key);
          for (const key of [...goes].slice(0, 200)) {
            goes.delete(key);
            index.delete(key);
          }
        }
        assert.deepEqual(met, [...new Set(met)].sort());
        for (const key of stays) assert.ok(met.includes(key), key);
      }),
      { numRuns: 40 },
    );
  });
});
