/** GET /scheduler/values: some of the values of a graph of any size. */

import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { describe, it, test } from 'node:test';
import fc from 'fast-check';
import type { ValueSummary } from '#documents/scheduler/value-search.ts';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { ValueStatus } from '#kvscheduler/graph/value-status.ts';
import { createScheduler } from '#kvscheduler/kv-scheduler.ts';
import { checkProperty } from '#test/support/random-cases.ts';
import { type Ask, makeBench, restOf } from '../support/rest.ts';
import { runScript } from '../support/run-script.ts';
import { faults, scripts } from '../support/scripts.ts';
import { setUp } from '../support/setup.ts';
import { Southbound, type Spec } from '../support/southbound.ts';

const FILE = 'test/kvscheduler/rest/value-search.test.ts';

async function keysOf(ask: Ask, query: string): Promise<string[]> {
  const { status, text, body } = await ask(`GET /scheduler/values?${query}`);
  assert.equal(status, 200, text);
  return body.values.map(({ key }: ValueSummary) => key);
}

describe('/scheduler/values', () => {
  it('shows each value with what it waits for, and their number by state', async () => {
    const bench = await makeBench();
    bench.southbound.fails = (_, key) => (key === 'a/3' ? new Error('Is Full') : undefined);
    await bench.commit({ 'a/3': { v: 1 }, 'a/4': { v: 1, invalid: true }, 'z/0': { v: 1 } });
    const { body } = await restOf(bench)('GET /scheduler/values');
    const created = { state: 'CONFIGURED', lastOperation: 'CREATE', details: [], detailCount: 0 };
    assert.deepEqual(body, {
      states: { CONFIGURED: 3, PENDING: 1, FAILED: 1, INVALID: 1, UNIMPLEMENTED: 1 },
      total: 7,
      matches: 7,
      hasMore: false,
      values: [
        { key: 'a/1', descriptor: 'alpha', ...created },
        {
          key: 'a/2',
          descriptor: 'alpha',
          state: 'PENDING',
          lastOperation: 'CREATE',
          details: ['b/9'],
          detailCount: 1,
        },
        {
          key: 'a/3',
          descriptor: 'alpha',
          state: 'FAILED',
          lastOperation: 'CREATE',
          error: 'Is Full',
          details: [],
          detailCount: 0,
        },
        {
          key: 'a/4',
          descriptor: 'alpha',
          state: 'INVALID',
          lastOperation: 'CREATE',
          error: body.values[3].error,
          details: ['invalid'],
          detailCount: 1,
        },
        { key: 'b/1', descriptor: 'beta', ...created },
        { key: 'd/a1.0', descriptor: 'derived', derivedFrom: 'a/1', ...created },
        {
          key: 'z/0',
          state: 'UNIMPLEMENTED',
          lastOperation: 'CREATE',
          details: [],
          detailCount: 0,
          ...(body.values[6].error && { error: body.values[6].error }),
        },
      ],
    });
  });

  it('finds words in the key or the error, states, problems and descriptors', async () => {
    const bench = await makeBench();
    bench.southbound.fails = (_, key) => (key === 'a/3' ? new Error('Is Full') : undefined);
    await bench.commit({ 'a/3': { v: 1 } });
    const ask = restOf(bench);
    assert.deepEqual(await keysOf(ask, 'search=A/'), ['a/1', 'a/2', 'a/3']);
    assert.deepEqual(await keysOf(ask, 'search=a1%20D'), ['d/a1.0']);
    assert.deepEqual(await keysOf(ask, 'search=full+a/'), ['a/3']);
    assert.deepEqual(await keysOf(ask, 'search=full+b/'), []);
    assert.deepEqual(await keysOf(ask, 'state=problem'), ['a/2', 'a/3']);
    assert.deepEqual(await keysOf(ask, 'state=PENDING'), ['a/2']);
    assert.deepEqual(await keysOf(ask, 'state=OBTAINED'), []);
    assert.deepEqual(await keysOf(ask, 'state=PENDING&state=FAILED'), ['a/2', 'a/3']);
    assert.deepEqual(await keysOf(ask, 'descriptor=beta'), ['b/1']);
    assert.deepEqual(await keysOf(ask, 'descriptor=alpha&state=CONFIGURED&search=1'), ['a/1']);
    assert.deepEqual(await keysOf(ask, 'descriptor=gamma'), []);
  });

  it('shows at most 200 values, and those after a key', async () => {
    const bench = setUp();
    bench.southbound.checksRules = false;
    const keys = Array.from({ length: 450 }, (_, i) => `a/${String(i).padStart(3, '0')}`);
    await bench.commit(Object.fromEntries(keys.map((key) => [key, { v: 1 }])));
    const ask = restOf(bench);
    assert.deepEqual(await keysOf(ask, ''), keys.slice(0, 50));
    const { body } = await ask('GET /scheduler/values?limit=200&after=a/199');
    assert.deepEqual([body.matches, body.hasMore, body.total], [450, true, 450]);
    assert.deepEqual(
      body.values.map(({ key }: ValueSummary) => key),
      keys.slice(200, 400),
    );
    assert.deepEqual(await keysOf(ask, 'limit=200&after=a/399'), keys.slice(400));
    // A key that was removed meanwhile.
    assert.deepEqual(await keysOf(ask, 'limit=1&after=a/3995'), ['a/400']);
    assert.deepEqual(await keysOf(ask, 'limit=0'), []);
    const wrong = ['limit=201', 'limit=x', 'state=GREAT', 'words=a', 'search=a&search=b'];
    for (const query of wrong)
      assert.equal((await ask(`GET /scheduler/values?${query}`)).status, 400, query);
  });

  it('names no more than five of what a value waits for, and their number', async () => {
    const bench = setUp();
    const needs = Array.from({ length: 9 }, (_, i) => `b/${i}`);
    await bench.commit({ 'a/1': { v: 1, needs }, 'b/0': { v: 1 } });
    const { body } = await restOf(bench)('GET /scheduler/values?state=problem');
    assert.deepEqual(body.values[0].details, ['b/1', 'b/2', 'b/3', 'b/4', 'b/5']);
    assert.equal(body.values[0].detailCount, 8);
  });
});

interface Line {
  readonly key: string;
  readonly state: string;
  readonly error: string | undefined;
  readonly details: readonly string[];
}

const words = fc.array(fc.constantFrom('a', 'A/', 'd/', '0', '.1', 'Failed', 'b', '/1'), {
  maxLength: 2,
});
const someStates = fc.subarray(['CONFIGURED', 'PENDING', 'FAILED', 'INVALID', 'OBTAINED']);

test('the search finds what a filter of the whole status finds', async ({ name }) => {
  const script = scripts({ wild: false, conflicts: true, losses: true }, 5);
  await checkProperty(
    { file: FILE, name },
    300,
    fc.asyncProperty(script, faults, words, someStates, async (steps, injected, some, states) => {
      const { bench } = await runScript(steps, { window: 100, faults: injected, conflicts: true });
      const ask = restOf(bench);
      const statuses = (await ask('GET /scheduler/status')).body as {
        value: ValueStatus;
        derived_values?: ValueStatus[];
      }[];
      const all = statuses.flatMap(({ value, derived_values = [] }) => [value, ...derived_values]);
      const query = new URLSearchParams([
        ['search', some.join(' ')] as [string, string],
        ['limit', '200'] as [string, string],
        ...states.map((state): [string, string] => ['state', state]),
      ]);
      const { body } = await ask(`GET /scheduler/values?${query}`);
      const lineOf = ({ key, state, error, details = [] }: Partial<Line> & { key: string }) =>
        JSON.stringify({ key, state, error, details: details.slice(0, 5) });
      const expected = all
        .filter(({ state }) => states.length === 0 || states.includes(state as string))
        .filter(({ key, error = '' }) =>
          some.every((word) =>
            [key, error].some((text) => text.toLowerCase().includes(word.toLowerCase())),
          ),
        )
        .sort((a, b) => (a.key < b.key ? -1 : 1));
      assert.deepEqual(body.values.map(lineOf), expected.map(lineOf));
      assert.equal(body.matches, expected.length);
      assert.equal(body.total, all.length);
      const counts: Record<string, number> = {};
      for (const { state } of all) counts[state] = (counts[state] ?? 0) + 1;
      assert.deepEqual(body.states, counts);
    }),
  );
});

test('100,000 values are searched in slices', { timeout: 120_000 }, async (context) => {
  const southbound = new Southbound();
  southbound.checksRules = false;
  const scheduler = createScheduler({
    descriptors: southbound.descriptors(),
    clock: systemClock,
    log: silentLogger,
  });
  const values = new Map<string, Spec>();
  for (let i = 0; i < 100_000; i++)
    values.set(`a/vrf/0/route/10.${i >> 8}.${i & 255}.0/24`, i % 3 ? { v: i } : pending(i));
  await scheduler.commit({ description: '', mode: 'update', onFailure: 'best-effort', values });
  const ask = restOf({ scheduler, clock: systemClock });
  const delays = monitorEventLoopDelay({ resolution: 1 });
  for (const query of ['search=10.7+24', 'state=problem&limit=200', 'descriptor=beta', '']) {
    // Compiled code, and no garbage of the preparation.
    await ask(`GET /scheduler/values?${query}`);
    delays.enable();
    const startedAt = systemClock.monotonic();
    const { body } = await ask(`GET /scheduler/values?${query}`);
    const took = systemClock.monotonic() - startedAt;
    delays.disable();
    context.diagnostic(
      `${query || 'all'}: ${body.matches} matches in ${took.toFixed(0)} ms, ` +
        `longest delay of the event loop ${(delays.max / 1e6).toFixed(1)} ms`,
    );
    delays.reset();
  }
  await scheduler.close();
});

/** All wait for a value of which there are many that are not available. */
function pending(v: number): Spec {
  return { v, any: ['b/none/'] };
}
