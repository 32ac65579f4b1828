import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { QueueProblem } from '#kvscheduler/queue-problem.ts';
import { type Bench, setUp, withDescriptor } from './support/setup.ts';

const idle = {
  queueLength: 0,
  queueCapacity: 200,
  isIdle: true,
  ended: 7,
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
    scheduler.load = { ...idle, isIdle: false, queueLength: 200 };
    assert.equal(problem.text(), 'the queue is full: 200 transactions wait');
    scheduler.load = { ...idle, isIdle: false, queueLength: 199 };
    assert.equal(problem.text(), undefined);
  });

  it('is that no transaction ends, while one is carried out or waits', async () => {
    for (const busy of [
      { ...idle, isIdle: false, inFlight: 1 },
      { ...idle, isIdle: false, queueLength: 1 },
      // a resync that reads the southbound
      { ...idle, isIdle: false },
    ]) {
      const { clock, scheduler, problem } = made();
      assert.equal(problem.text(), undefined);
      scheduler.load = busy;
      const texts: (string | undefined)[] = [];
      for (let n = 0; n < 20; n++) {
        await clock.advance(5_000);
        texts.push(problem.text());
      }
      const stuck = 'no transaction has ended for more than 60 s, although one runs or waits';
      assert.equal(texts.indexOf(stuck), 12);
      assert.deepEqual([...new Set(texts)], [undefined, stuck]);
      scheduler.load = { ...busy, ended: 8 };
      assert.equal(problem.text(), undefined);
    }
  });

  /** Reads the problem every 5 s, as the status check does. */
  const textsOf = async ({ scheduler, clock }: Bench, beforeEach: () => Promise<unknown>) => {
    const problem = new QueueProblem(scheduler, clock);
    const texts: (string | undefined)[] = [];
    for (let n = 0; n < 20; n++) {
      await beforeEach();
      texts.push(problem.text());
      await clock.advance(5_000);
    }
    return texts;
  };

  it('is a resync that cannot read the southbound', async () => {
    const hangs = new Promise<never>(() => undefined);
    const stuck = setUp({}, withDescriptor('alpha', { retrieve: () => hangs }));
    void stuck.commit({}, { mode: 'full-resync' });
    const texts = await textsOf(stuck, async () => undefined);
    assert.match(texts.at(-1) ?? '', /^no transaction has ended for more than 60 s/);
  });

  it('is none while values are read for documents, one after the other', async () => {
    const bench = setUp();
    const dump = () => bench.scheduler.dump('SB', { descriptor: 'alpha' });
    let last: Promise<unknown> = Promise.resolve();
    const texts = await textsOf(bench, async () => {
      await last;
      last = Promise.all([dump(), dump()]);
    });
    assert.deepEqual([...new Set(texts)], [undefined]);
  });
});
