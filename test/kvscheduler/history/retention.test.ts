import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { Retention } from '#kvscheduler/history/retention.ts';

const MINUTE = 60_000;

function setUp(bytes: number) {
  const clock = new ManualClock();
  const kept = new Retention<string>(clock, { ageMs: 10 * MINUTE, initMs: 5 * MINUTE, bytes });
  const add = (name: string, size = 1) => kept.add(name, clock.now(), clock.now(), size);
  const drop = () => {
    const dropped: string[] = [];
    for (let item = kept.takeExpired(); item; item = kept.takeExpired()) dropped.push(item);
    return dropped;
  };
  return { clock, kept, add, drop };
}

describe('retention', () => {
  it('drops items by age, except for those of the first period', async () => {
    const { clock, kept, add, drop } = setUp(100);
    add('first');
    await clock.advance(6 * MINUTE);
    add('later');
    await clock.advance(9 * MINUTE);
    assert.deepEqual(drop(), []);
    await clock.advance(2 * MINUTE);
    assert.deepEqual(drop(), ['later']);
    assert.deepEqual([...kept.all()], ['first']);
    assert.equal(kept.bytes, 1);
  });

  it('applies the limit in bytes before the age, the oldest first', async () => {
    const { clock, add, drop, kept } = setUp(10);
    await clock.advance(6 * MINUTE);
    for (const name of ['a', 'b', 'c']) add(name, 4);
    assert.deepEqual(drop(), ['a']);
    assert.deepEqual([...kept.all()], ['b', 'c']);
  });

  it('gives the first period half of the bytes at most', async () => {
    const { clock, add, drop, kept } = setUp(10);
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) add(name, 1);
    await clock.advance(6 * MINUTE);
    for (let i = 0; i < 20; i++) {
      add(`later${i}`, 1);
      drop();
      assert.ok(kept.bytes <= 10);
    }
    const names = [...kept.all()];
    assert.deepEqual(names.slice(0, 5), ['a', 'b', 'c', 'd', 'e']);
    assert.deepEqual(names.slice(5), ['later15', 'later16', 'later17', 'later18', 'later19']);
  });

  it('keeps the order of time when a small item would still fit into the first half', () => {
    const { add, kept } = setUp(10);
    add('a', 4);
    add('b', 4);
    add('c', 1);
    assert.deepEqual([...kept.all()], ['a', 'b', 'c']);
  });

  it('drops even the only item when it exceeds the limit', () => {
    const { add, drop, kept } = setUp(10);
    add('big', 11);
    assert.deepEqual(drop(), ['big']);
    assert.equal(kept.bytes, 0);
  });
});
