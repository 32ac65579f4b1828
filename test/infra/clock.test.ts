import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';

describe('the clock of the machine', () => {
  it('supports delays beyond the limit of Node.js', async () => {
    let fired = false;
    const timer = systemClock.timer(2 ** 33, () => {
      fired = true;
    });
    const abort = new AbortController();
    const slept = systemClock.sleep(2 ** 33, abort.signal);
    await systemClock.sleep(10);
    assert.equal(fired, false);
    timer.cancel();
    abort.abort(new Error('enough'));
    await assert.rejects(slept, /enough/);
  });

  it('follows a wall clock that is set, while records and durations do not', (t) => {
    const before = systemClock.now();
    const set = Date.now() - 3_600_000;
    t.mock.method(Date, 'now', () => set);
    assert.equal(systemClock.wallTime(), set);
    assert.ok(systemClock.now() >= before);
  });

  it('fires in time, and not after it is canceled', async () => {
    const fired: number[] = [];
    systemClock.timer(0, () => fired.push(0));
    systemClock.timer(1, () => fired.push(1)).cancel();
    await systemClock.sleep(10);
    assert.deepEqual(fired, [0]);
  });
});
