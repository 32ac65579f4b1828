import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ManualClock } from '#infra/clock/manual.ts';
import { Fifo } from '#kvscheduler/executor/fifo.ts';
import { Retention } from '#kvscheduler/history/retention.ts';

const MINUTE = 60_000;

function setUp(bytes: number) {
  const clock = new ManualClock();
  const kept = new Retention<string>(clock, { ageMs: 10 * MINUTE, initMs: 5 * MINUTE, bytes });
  const add = (name: string, size = 1) => kept.add(name, clock.now(), clock.now(), size);
  const drop = () => {
    const dropped: string[] = [];
    for (let item = kept.takeOverdue(); item; item = kept.takeOverdue()) dropped.push(item);
    return dropped;
  };
  return { clock, kept, add, drop };
}

describe('retention', () => {
  it('drops by age what came after the first period, and nothing of the first period', async () => {
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

  it('lets the number of bytes win over the age, the oldest first', async () => {
    const { clock, add, drop, kept } = setUp(10);
    await clock.advance(6 * MINUTE);
    for (const name of ['a', 'b', 'c']) add(name, 4);
    assert.deepEqual(drop(), ['a']);
    assert.deepEqual([...kept.all()], ['b', 'c']);
  });

  it('gives the first period half of the room at most, so that the present has a place', async () => {
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

  it('keeps the order of time when a small thing would still fit into the first half', () => {
    const { add, kept } = setUp(10);
    add('a', 4);
    add('b', 4);
    add('c', 1);
    assert.deepEqual([...kept.all()], ['a', 'b', 'c']);
  });

  it('drops even the only thing that there is when it is bigger than the room', () => {
    const { add, drop, kept } = setUp(10);
    add('big', 11);
    assert.deepEqual(drop(), ['big']);
    assert.equal(kept.bytes, 0);
  });
});

describe('first in, first out', () => {
  it('is like an array', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 4_000 }), (pushes) => {
        const fifo = new Fifo<number>();
        const array: number[] = [];
        let next = 0;
        for (const push of pushes) {
          if (push) {
            fifo.push(next);
            array.push(next++);
          } else assert.equal(fifo.shift(), array.shift());
          assert.equal(fifo.size, array.length);
          assert.equal(fifo.first, array[0]);
        }
        assert.deepEqual([...fifo], array);
      }),
      { numRuns: 30 },
    );
  });

  it('stays in order when it is cut', () => {
    const fifo = new Fifo<number>();
    for (let i = 0; i < 5_000; i++) fifo.push(i);
    for (let i = 0; i < 4_000; i++) assert.equal(fifo.shift(), i);
    for (let i = 5_000; i < 6_000; i++) fifo.push(i);
    assert.deepEqual([fifo.size, fifo.first], [2_000, 4_000]);
    assert.deepEqual([...fifo].at(-1), 5_999);
  });
});
