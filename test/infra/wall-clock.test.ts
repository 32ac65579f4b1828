import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { steadyWallClock } from '#infra/clock/wall-clock.ts';

const HOUR_MS = 3_600_000;

/** A wall clock that can be set, and a reader of it. */
function machine(start: number) {
  let [wall, monotonic] = [start, 0];
  const now = steadyWallClock(
    () => Math.floor(wall),
    () => monotonic,
  );
  return {
    now,
    pass: (ms: number) => {
      wall += ms;
      monotonic += ms;
    },
    step: (ms: number) => {
      wall += ms;
    },
    wall: () => wall,
  };
}

describe('the time of records', () => {
  it('follows a clock that is set forward at once, as NTP does after the start', () => {
    const { now, pass, step, wall } = machine(0);
    pass(1000);
    step(56 * 365 * 24 * HOUR_MS);
    assert.ok(Math.abs(now() - wall()) < 5);
    pass(0.25);
    const before = now();
    pass(0.25);
    assert.equal(now() - before, 0.25, 'the fraction of a millisecond');
  });

  it('never decreases when the clock is set back, and agrees with it again', () => {
    const { now, pass, step, wall } = machine(HOUR_MS);
    step(-10_000);
    let last = now();
    for (let second = 0; second < 25; second++) {
      pass(1000);
      const time = now();
      assert.ok(time > last);
      last = time;
    }
    assert.ok(Math.abs(last - wall()) <= 505, `${last - wall()} ms`);
    for (let n = 0; n < 2000; n++) {
      pass(1);
      now();
    }
    assert.ok(Math.abs(now() - wall()) <= 6);
  });

  it('does not follow the rounding of the clock', () => {
    const { now, pass } = machine(1000);
    const first = now();
    for (let n = 0; n < 10_000; n++) pass(0.1);
    assert.ok(Math.abs(now() - first - 1000) < 1e-3);
  });
});
