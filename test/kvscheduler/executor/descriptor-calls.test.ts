import assert from 'node:assert/strict';
import test from 'node:test';
import type { AnyDescriptor } from '#kvscheduler/api/descriptor.ts';
import type { TransactionRequest } from '#kvscheduler/api/transaction.ts';
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import { type Bench, setUp, withDescriptor } from '../support/setup.ts';

const request: TransactionRequest = {
  description: 'inner',
  mode: 'update',
  onFailure: 'best-effort',
  values: new Map([['b/1', { v: 1 }]]),
};

/** Everything that waits for its turn in the queue. */
const waits: Readonly<Record<string, (scheduler: Scheduler) => Promise<unknown>>> = {
  commit: (scheduler) => scheduler.commit(request),
  commitIfRoom: (scheduler) => scheduler.commitIfRoom(request),
  resyncDownstream: (scheduler) => scheduler.resyncDownstream({ verbose: false }),
  plan: (scheduler) => scheduler.plan({ mode: 'update', values: new Map() }),
  dump: (scheduler) => scheduler.dump('SB', { descriptor: 'beta' }),
  close: (scheduler) => scheduler.close(),
};

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A bench whose descriptor alpha awaits `act` in one of its methods, from now on. */
function benchWith(
  method: 'create' | 'update' | 'delete' | 'retrieve',
  act: (scheduler: Scheduler) => Promise<unknown>,
): Bench & { armed: boolean } {
  const bench: Bench & { armed: boolean } = {
    ...setUp({}, (descriptors) => {
      const alpha = descriptors.find(({ name }) => name === 'alpha') as AnyDescriptor;
      const own = alpha[method] as (...args: unknown[]) => Promise<unknown>;
      const changed = async (...args: unknown[]) => {
        // over an await and a callback
        await turn();
        if (bench.armed) await act(bench.scheduler);
        return own(...args);
      };
      return withDescriptor('alpha', { [method]: changed })(descriptors);
    }),
    armed: false,
  };
  return bench;
}

for (const [name, wait] of Object.entries(waits)) {
  for (const [method, value] of [
    ['create', { 'a/2': { v: 1 } }],
    ['update', { 'a/1': { v: 2 } }],
    ['delete', { 'a/1': null }],
  ] as const)
    test(`${method} that waits for ${name} fails at once`, { timeout: 5_000 }, async () => {
      const bench = benchWith(method, wait);
      await bench.commit({ 'a/1': { v: 1 } });
      bench.armed = true;
      const [failure = '', ...more] = await bench.commit(value);
      assert.match(failure, /a descriptor cannot wait for the scheduler/);
      assert.deepEqual(more, []);
      bench.armed = false;
      // the queue continues
      assert.deepEqual(await bench.commit(value), []);
    });

  test(`retrieve that waits for ${name} fails at once`, { timeout: 5_000 }, async () => {
    const bench = benchWith('retrieve', wait);
    await bench.commit({ 'a/1': { v: 1 } });
    bench.armed = true;
    await assert.rejects(bench.scheduler.dump('SB', { descriptor: 'alpha' }), {
      code: 'CV_SCHED_DEADLOCK',
    });
    bench.armed = false;
    assert.deepEqual(await bench.commit({}, { mode: 'downstream-resync' }), []);
  });
}

test('what a descriptor leaves behind may wait for the scheduler after the call', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let later: Promise<unknown> | undefined;
  const bench = benchWith('create', async (scheduler) => {
    later = promise.then(() => scheduler.commit(request));
  });
  bench.armed = true;
  assert.deepEqual(await bench.commit({ 'a/1': { v: 1 } }), []);
  resolve();
  await later;
  assert.equal(bench.state('b/1'), 'CONFIGURED');
});

test('a report from within a call is accepted', async () => {
  const bench = benchWith('create', async (scheduler) => {
    bench.southbound.changeExternally('a/found', { v: 1 });
    scheduler.pushNotification([{ key: 'a/found', value: { v: 1 } }]);
  });
  bench.armed = true;
  assert.deepEqual(await bench.commit({ 'a/1': { v: 1 } }), []);
  await bench.scheduler.plan({ mode: 'update', values: new Map() });
  assert.equal(bench.state('a/found'), 'OBTAINED');
});
