import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { MinHeap } from '#kvscheduler/executor/min-heap.ts';

test('a heap returns the smallest item first', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(100))), (changes) => {
      const heap = new MinHeap();
      const naive: number[] = [];
      for (const change of changes) {
        if (change === null) assert.equal(heap.pop(), naive.sort((a, b) => a - b).shift());
        else {
          heap.push(change);
          naive.push(change);
        }
        assert.equal(heap.size, naive.length);
      }
    }),
  );
});
