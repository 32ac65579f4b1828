import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Logger, silentLogger } from '#infra/log/log.ts';
import { allOrNothing, allSettled } from '#infra/rollback/rollback.ts';

test('a success rolls nothing back', async () => {
  const taken: number[] = [];
  const result = await allOrNothing(silentLogger, async (undo) => {
    undo.add(async () => taken.push(1));
    return 'done';
  });
  assert.equal(result, 'done');
  assert.deepEqual(taken, []);
});

test('a failure rolls back in reverse order and is the error of the call', async () => {
  const taken: number[] = [];
  const warnings: unknown[] = [];
  const log: Logger = { ...silentLogger, warn: (...args: unknown[]) => void warnings.push(args) };
  const work = allOrNothing(log, async (undo) => {
    undo.add(async () => taken.push(1));
    undo.add(() => Promise.reject(new Error('cannot go back')));
    undo.add(async () => taken.push(3));
    throw new Error('first');
  });
  await assert.rejects(work, { message: 'first' });
  assert.deepEqual(taken, [3, 1]);
  assert.equal(warnings.length, 1);
});

test('all promises are awaited, and the first error in their order is thrown', async () => {
  let late = false;
  const later = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
    late = true;
    throw new Error('listed first');
  });
  const sooner = Promise.reject(new Error('listed second'));
  await assert.rejects(allSettled([later, sooner]), { message: 'listed first' });
  assert.ok(late);
  assert.deepEqual(await allSettled([Promise.resolve(1), Promise.resolve('a')]), [1, 'a']);
});
