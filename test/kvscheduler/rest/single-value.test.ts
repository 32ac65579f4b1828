/** GET /scheduler/value: one value with its relations. */
import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { describe, it } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { createScheduler } from '#kvscheduler/kv-scheduler.ts';
import { type Ask, makeBench, restOf } from '../support/rest.ts';
import { pass, setUp, withDescriptor } from '../support/setup.ts';
import { Southbound, type Spec } from '../support/southbound.ts';

async function readValue(ask: Ask, key: string) {
  const { status, text, body } = await ask(`GET /scheduler/value?key=${encodeURIComponent(key)}`);
  assert.equal(status, 200, text);
  return body;
}

describe('/scheduler/value', () => {
  it('shows a value with what derives from it', async () => {
    const ask = restOf(await makeBench());
    assert.deepEqual(await readValue(ask, 'a/1'), {
      key: 'a/1',
      state: 'CONFIGURED',
      descriptor: 'alpha',
      type: 'test.alpha',
      lastOperation: 'CREATE',
      lastTransaction: 0,
      invalidFields: [],
      waitsFor: [],
      wantedBy: [],
      isAsDesired: true,
      desired: { v: 1, derives: { 'd/a1.0': { v: 1 } } },
      actual: { v: 1, derives: { 'd/a1.0': { v: 1 } } },
      metadata: 1,
      derived: { total: 1, values: [{ key: 'd/a1.0', state: 'CONFIGURED' }] },
      dependencies: { total: 0, list: [] },
      dependents: { total: 0, values: [] },
    });
    const { derivedFrom } = await readValue(ask, 'd/a1.0');
    assert.deepEqual(derivedFrom, { key: 'a/1', state: 'CONFIGURED' });
  });

  it('says who wants a value, and by the wiring, because the scheduler knows no owners', async () => {
    const ask = restOf(await makeBench(), undefined, (key) => [`own/${key}`, 'external/db']);
    assert.deepEqual((await readValue(ask, 'a/1')).wantedBy, ['own/a/1', 'external/db']);
    assert.deepEqual((await readValue(ask, 'b/9')).wantedBy, ['own/b/9', 'external/db']);
  });

  it('says what a pending value waits for, and who waits for a key without a value', async () => {
    const bench = setUp();
    await bench.commit({
      'a/1': { v: 1, needs: ['b/9'] },
      'a/2': { v: 1, needs: ['a/1', 'b/1'], any: ['d/', 'b/'] },
      'b/1': { v: 1 },
    });
    const ask = restOf(bench);
    const waiting = await readValue(ask, 'a/2');
    assert.deepEqual(waiting.waitsFor, [
      'a/1: a/1 is PENDING',
      'any of d/: there is no value with a key that begins with d/',
    ]);
    const { total, list } = waiting.dependencies;
    assert.equal(total, 4);
    assert.deepEqual(list[0], {
      label: 'a/1',
      key: 'a/1',
      isMet: false,
      values: [],
      hasMore: false,
      unavailable: [{ key: 'a/1', state: 'PENDING' }],
    });
    assert.deepEqual(list[3], {
      label: 'any of b/',
      prefixes: ['b/'],
      isSelective: false,
      isMet: true,
      values: [{ key: 'b/1', state: 'CONFIGURED' }],
      hasMore: false,
      unavailable: [],
    });
    assert.deepEqual((await readValue(ask, 'a/1')).waitsFor, ['b/9: b/9 does not exist']);

    const missing = await readValue(ask, 'b/9');
    assert.equal(missing.state, 'NONEXISTENT');
    // The selector of a/2 is met by another value: it would not wait for this one.
    assert.deepEqual(missing.dependents, {
      total: 2,
      values: [
        { key: 'a/1', state: 'PENDING', labels: ['b/9'], isWaiting: true },
        { key: 'a/2', state: 'PENDING', labels: ['any of b/'], isWaiting: false },
      ],
    });
    assert.deepEqual([missing.desired, missing.actual, missing.metadata], [null, null, null]);
  });

  it('limits its relations, and says how many there are', async () => {
    const bench = setUp();
    bench.southbound.checksRules = false;
    const children = Array.from({ length: 60 }, (_, i) => [`d/a1.${i}`, { v: 1 }] as const);
    const needing = Array.from(
      { length: 70 },
      (_, i) => [`a/n${i}`, { v: 1, needs: ['a/1'] }] as const,
    );
    await bench.commit({
      'a/1': { v: 1, derives: Object.fromEntries(children) },
      ...Object.fromEntries(needing),
      'b/1': { v: 1, any: ['a/n'] },
      'a/zz': { v: 1, needs: ['a/1', 'a/none'] },
    });
    const ask = restOf(bench);
    const { derived, dependents } = await readValue(ask, 'a/1');
    assert.deepEqual([derived.total, derived.values.length], [60, 50]);
    assert.deepEqual([dependents.total, dependents.values.length], [71, 50]);
    // The one that is not configured is shown, although it is the last by its key.
    assert.equal(dependents.values[0].key, 'a/zz');
    assert.equal(dependents.values[0].isWaiting, false);
    const [any] = (await readValue(ask, 'b/1')).dependencies.list;
    assert.deepEqual([any.isMet, any.values.length, any.hasMore], [true, 50, true]);
  });

  it('counts only keys that a selector accepts', async () => {
    const accepts = (key: string) => key.endsWith('1');
    const bench = setUp(
      {},
      withDescriptor('beta', {
        dependencies: () => [{ label: 'odd', anyOf: { prefixes: ['a/'], accepts } }],
      }),
    );
    bench.southbound.checksRules = false;
    await bench.commit({ 'a/0': { v: 1 }, 'b/1': { v: 1 } });
    const ask = restOf(bench);
    const waiting = await readValue(ask, 'b/1');
    assert.deepEqual(waiting.waitsFor, [
      'odd: there is no value with a suitable key that begins with a/',
    ]);
    assert.equal((await readValue(ask, 'a/0')).dependents.total, 0);
    await bench.commit({ 'a/1': { v: 1 } });
    assert.deepEqual((await readValue(ask, 'b/1')).dependencies.list[0].values, [
      { key: 'a/1', state: 'CONFIGURED' },
    ]);
    assert.equal((await readValue(ask, 'a/1')).dependents.total, 1);
  });

  it('shows who holds the claim that a value waits for, from both sides', async () => {
    const bench = setUp();
    await bench.commit({ 'a/1': { v: 1, claims: ['x'] } });
    await bench.commit({ 'a/2': { v: 1, claims: ['x'] } });
    const ask = restOf(bench);
    assert.deepEqual((await readValue(ask, 'a/2')).waitsFor, ['claim x (held by a/1)']);
    assert.deepEqual((await readValue(ask, 'a/1')).dependents, {
      total: 1,
      values: [{ key: 'a/2', state: 'PENDING', labels: ['claim x'], isWaiting: true }],
    });
  });

  it('shows the retries of a failed value until they end', async () => {
    const bench = setUp();
    const retry = { periodMs: 1_000, maxAttempts: 2, exponential: true };
    bench.southbound.fails = (_, key) => (key === 'a/1' ? new Error('no') : undefined);
    await bench.commit({ 'a/1': { v: 1 } }, { retry });
    const ask = restOf(bench);
    const at = (ms: number) => new Date(bench.clock.now() + ms).toISOString();
    const first = await readValue(ask, 'a/1');
    assert.deepEqual([first.state, first.error, first.isAsDesired], ['RETRYING', 'no', false]);
    assert.deepEqual(first.retries, {
      started: 0,
      maximum: 2,
      nextAt: at(1_000),
      firstTransaction: 0,
    });
    await pass(bench, 1_000);
    assert.deepEqual((await readValue(ask, 'a/1')).retries, {
      started: 1,
      maximum: 2,
      nextAt: at(2_000),
      firstTransaction: 0,
    });
    await pass(bench, 2_000);
    const last = await readValue(ask, 'a/1');
    assert.equal(last.state, 'FAILED');
    assert.deepEqual(last.retries, { started: 2, maximum: 2, firstTransaction: 0 });
    bench.southbound.fails = () => undefined;
    await bench.commit({ 'a/1': { v: 2 } }, { retry });
    assert.equal((await readValue(ask, 'a/1')).retries, undefined);
  });

  it('shows the rejected value beside the last valid one', async () => {
    const bench = await makeBench();
    await bench.commit({ 'b/1': { v: 3, invalid: true } });
    const body = await readValue(restOf(bench), 'b/1');
    assert.deepEqual([body.state, body.lastValidState], ['INVALID', 'CONFIGURED']);
    assert.deepEqual(body.invalidFields, ['invalid']);
    assert.deepEqual([body.desired, body.actual, body.isAsDesired], [{ v: 2 }, { v: 2 }, false]);
    assert.deepEqual(body.rejected.value, { v: 3, invalid: true });
    assert.match(body.rejected.error, /is bad/);
  });

  it('shows metadata that JSON cannot express', async () => {
    const bench = setUp(
      {},
      withDescriptor('beta', { create: async () => ({ index: 7n, none: null }) }),
    );
    await bench.commit({ 'b/1': { v: 1 } });
    assert.deepEqual((await readValue(restOf(bench), 'b/1')).metadata, { index: '7', none: null });
  });

  it('is read in slices, however many values need it', { timeout: 120_000 }, async (context) => {
    const southbound = new Southbound();
    southbound.checksRules = false;
    const scheduler = createScheduler({
      descriptors: southbound.descriptors(),
      clock: systemClock,
      log: silentLogger,
    });
    const values = new Map<string, Spec>([['a/hub', { v: 1 }]]);
    for (let i = 0; i < 20_000; i++)
      values.set(`b/${i}`, { v: i, needs: ['a/hub'], any: ['a/none'] });
    await scheduler.commit({ description: '', mode: 'update', onFailure: 'best-effort', values });
    const ask = restOf({ scheduler, clock: systemClock });
    const delays = monitorEventLoopDelay({ resolution: 1 });
    for (const key of ['a/hub', 'a/none']) {
      // Compiled code, and no garbage of the preparation.
      await readValue(ask, key);
      delays.enable();
      const startedAt = systemClock.monotonic();
      const { dependents } = await readValue(ask, key);
      const took = systemClock.monotonic() - startedAt;
      delays.disable();
      context.diagnostic(
        `${key}: ${dependents.total} dependents in ${took.toFixed(0)} ms, ` +
          `longest delay of the event loop ${(delays.max / 1e6).toFixed(1)} ms`,
      );
      delays.reset();
      assert.equal(dependents.total, 20_000);
      assert.equal(dependents.values.length, 50);
    }
    await scheduler.close();
  });

  it('needs a key', async () => {
    const ask = restOf(setUp());
    for (const query of ['', '?key=', '?key=a&key=b', '?name=a'])
      assert.equal((await ask(`GET /scheduler/value${query}`)).status, 400, query);
  });
});
