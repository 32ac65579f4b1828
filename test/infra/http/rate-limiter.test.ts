import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { RateLimiter } from '#infra/http/rate-limiter.ts';

describe('a rate limiter', () => {
  it('lets a burst happen at once, and then the limit a second, for each key', async () => {
    const clock = new ManualClock();
    const limiter = new RateLimiter(2, 3, clock);
    const taken = () => Array.from({ length: 5 }, () => limiter.take('a'));
    assert.deepEqual(taken(), [0, 0, 0, 500, 500]);
    assert.equal(limiter.take('b'), 0);
    await clock.advance(499);
    assert.equal(limiter.take('a'), 1);
    await clock.advance(1);
    assert.deepEqual(taken(), [0, 500, 500, 500, 500]);
    await clock.advance(60_000);
    assert.deepEqual(taken(), [0, 0, 0, 500, 500]);
  });

  it('lets all of a burst happen, whatever the time and the limit are', async () => {
    const clock = new ManualClock();
    for (const limit of [0.3, 3, 7, 30])
      for (const burst of [2, 10, 100]) {
        const limiter = new RateLimiter(limit, burst, clock);
        await clock.advance(1234.567);
        for (let n = 0; n < burst; n++)
          assert.equal(limiter.take('a'), 0, `${limit} ${burst} ${n}`);
        assert.ok(limiter.take('a') > 0);
      }
  });

  it('remembers those that have exceeded it, however many others there are', async () => {
    const clock = new ManualClock();
    const limiter = new RateLimiter(1, 1, clock);
    for (let n = 0; n < 5_000; n++) limiter.take(`${n}`);
    assert.equal(limiter.take('0'), 1_000);
    await clock.advance(1_000);
    for (let n = 0; n < 5_000; n++) assert.equal(limiter.take(`${n}`), 0);
  });
});
