import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { EventRate } from '../../../ui/src/agent/event-rate.ts';

const MINUTES_10 = 600_000;

describe('rate of events', () => {
  it('counts events of the last ten minutes in buckets of ten seconds', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 40_000 }), { maxLength: 300 }),
        fc.integer({ min: 0, max: 2 * MINUTES_10 }),
        (gaps, later) => {
          const rate = new EventRate();
          let at = 1_000_000_000_000;
          const times = gaps.map((gap) => {
            at += gap;
            rate.add(at);
            return at;
          });
          const now = at + later;
          const current = Math.floor(now / 10_000);
          const expected = Array.from({ length: 60 }, (_, bucket) => {
            const number = current - 59 + bucket;
            return times.filter((time) => Math.floor(time / 10_000) === number).length;
          });
          assert.deepEqual(rate.series(now), expected);
          const lastMinute = expected.slice(-6).reduce((sum, count) => sum + count, 0);
          assert.equal(rate.lastMinute(now), lastMinute);
        },
      ),
    );
  });
});
