import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { ManualClock } from '#infra/clock/manual.ts';
import { workerAnswer } from '#infra/process/worker-answer.ts';

/** A thread that posts what each message says, or fails. */
const THREAD = `
  const { parentPort } = require('node:worker_threads');
  parentPort.on('message', (message) => {
    if (message === 'fail') throw new Error('broken');
    parentPort.postMessage(message);
  });`;

function setUp() {
  const clock = new ManualClock();
  const worker = new Worker(THREAD, { eval: true });
  const answer = workerAnswer<string>(worker, {
    clock,
    limitMs: 10_000,
    failure: (text) => new Error(`drawing: ${text}`),
  });
  answer.catch(() => undefined);
  const post = async (message: string): Promise<void> => {
    worker.postMessage(message);
    await once(worker, 'message');
  };
  return { clock, worker, answer, post };
}

describe('answer of a worker thread', () => {
  it('is its message after the first one, however long the start lasts', async () => {
    const { clock, worker, answer, post } = setUp();
    await clock.advance(60_000);
    await post('ready');
    await clock.advance(9_999);
    await post('result');
    assert.equal(await answer, 'result');
    await worker.terminate();
  });

  it('fails when the work lasts longer than the limit', async () => {
    const { clock, worker, answer, post } = setUp();
    await post('ready');
    await clock.advance(10_000);
    await assert.rejects(answer, { message: 'drawing: no result within 10 s' });
    await worker.terminate();
  });

  it('fails when the thread fails or ends', async () => {
    const failed = setUp();
    failed.worker.postMessage('fail');
    await assert.rejects(failed.answer, { message: 'drawing: broken' });
    const ended = setUp();
    await ended.worker.terminate();
    await assert.rejects(ended.answer, {
      message: 'drawing: the worker thread ended without a result',
    });
  });
});
