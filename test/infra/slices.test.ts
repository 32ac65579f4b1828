import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ManualClock } from '#infra/clock/manual.ts';
import { Slices, sortInSlices, sortTextsInSlices } from '#infra/clock/slices.ts';

/** A clock that advances by a millisecond with every read. */
class SlowClock extends ManualClock {
  reads = 0;

  override monotonic(): number {
    return this.reads++;
  }
}

describe('slices', () => {
  it('are due when time has passed since the event loop turned', async () => {
    const slices = new Slices(new SlowClock());
    let units = 0;
    while (!slices.due()) units++;
    assert.ok(units > 16 && units < 400, String(units));
    await slices.turn();
    assert.equal(slices.due(), false);
  });

  it('are due at once after a large unit', async () => {
    const clock = new SlowClock();
    const slices = new Slices(clock);
    assert.equal(slices.dueNow(), false);
    assert.equal(slices.dueNow(), false);
    clock.reads += 10;
    assert.equal(slices.dueNow(), true);
    await slices.turn();
    assert.equal(slices.dueNow(), false);
  });

  it('begin again when the event loop has turned by itself', async () => {
    const clock = new SlowClock();
    const slices = new Slices(clock);
    assert.equal(slices.due(), false);
    clock.reads += 1_000;
    await new Promise((resolve) => setImmediate(resolve));
    for (let i = 0; i < 30; i++) assert.equal(slices.due(), false);
  });

  it('measure the longest stretch without the time of other work', async () => {
    const clock = new SlowClock();
    const slices = new Slices(clock);
    slices.due();
    clock.reads += 40;
    await slices.turn();
    clock.reads += 1_000;
    slices.due();
    clock.reads += 10;
    await slices.turn();
    assert.equal(slices.longest, 41);
  });

  it('interrupt a sort of items in no order', async () => {
    const clock = new SlowClock();
    const slices = new Slices(clock);
    const items = Array.from({ length: 60_000 }, (_, i) => (i * 7_919) % 60_000);
    let comparisons = 0;
    await sortInSlices(
      items,
      (a, b) => {
        // a millisecond for each 10,000
        if (++comparisons % 10_000 === 0) clock.reads++;
        return a - b;
      },
      slices,
    );
    // a slice, and a run of 2,048 items
    assert.ok(slices.longest <= 10, String(slices.longest));
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

  it('sort texts in the order of <', async () => {
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('a', 'a/', 'a0'),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(text, { maxLength: 5_000 }), async (texts) => {
        const sorted = await sortTextsInSlices(texts, new Slices(new SlowClock()));
        assert.equal(sorted.length, texts.length);
        assert.deepEqual(new Set(sorted), new Set(texts));
        for (let i = 1; i < sorted.length; i++)
          assert.ok((sorted[i - 1] as string) <= (sorted[i] as string));
      }),
      { numRuns: 20 },
    );
  });
});
