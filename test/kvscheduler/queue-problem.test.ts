import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { QueueProblem } from '#kvscheduler/queue-problem.ts';

const idle = {
  queueLength: 0,
  queueCapacity: 200,
  isIdle: true,
  processed: 7,
  inFlight: 0,
  longestStretch: 0,
  historyBytes: 0,
};

function made() {
  const clock = new ManualClock();
  const scheduler = { load: idle };
  return { clock, scheduler, problem: new QueueProblem(scheduler, clock) };
}

describe('the problem of the queue of the scheduler', () => {
  it('is none while nothing waits, however long', async () => {
    const { clock, problem } = made();
    for (let n = 0; n < 10; n++) {
      await clock.advance(60_000);
      assert.equal(problem.text(), undefined);
    }
  });

  it('is that it is full', () => {
    const { scheduler, problem } = made();
    scheduler.load = { ...idle, queueLength: 200 };
    assert.equal(problem.text(), 'the queue is full: 200 transactions wait');
    scheduler.load = { ...idle, queueLength: 199 };
    assert.equal(problem.text(), undefined);
  });

  it('is that no transaction ends, while one is carried out or waits', async () => {
    for (const busy of [
      { ...idle, inFlight: 1 },
      { ...idle, queueLength: 1 },
    ]) {
      const { clock, scheduler, problem } = made();
      assert.equal(problem.text(), undefined);
      scheduler.load = busy;
      const texts: (string | undefined)[] = [];
      for (let n = 0; n < 20; n++) {
        await clock.advance(5_000);
        texts.push(problem.text());
      }
      const stuck = 'no transaction has ended for more than 60 s, although some wait';
      assert.equal(texts.indexOf(stuck), 12);
      assert.deepEqual([...new Set(texts)], [undefined, stuck]);
      scheduler.load = { ...busy, processed: 8 };
      assert.equal(problem.text(), undefined);
    }
  });
});
