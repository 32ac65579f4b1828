import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Fifo } from '#infra/collections/fifo.ts';

describe('first in, first out', () => {
  it('behaves like an array', () => {
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

  it('stays in order when it is compacted', () => {
    const fifo = new Fifo<number>();
    for (let i = 0; i < 5_000; i++) fifo.push(i);
    for (let i = 0; i < 4_000; i++) assert.equal(fifo.shift(), i);
    for (let i = 5_000; i < 6_000; i++) fifo.push(i);
    assert.deepEqual([fifo.size, fifo.first], [2_000, 4_000]);
    assert.deepEqual([...fifo].at(-1), 5_999);
  });
});
