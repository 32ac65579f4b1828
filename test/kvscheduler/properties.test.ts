/**
 * Random values, transactions, reports, drifts and failures, held against a simple model; and
 * windows of different sizes held against each other. What the scheduler may never do is judged by
 * the southbound at every single step. `CV_CASES` multiplies the number of cases.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import {
  assertAsExpected,
  assertNothingLeftUndone,
  complaints,
  noTrouble,
  type Play,
  type Played,
  play,
} from './support/play.ts';
import { type Step, scripts, troubles } from './support/scripts.ts';
import { pass } from './support/setup.ts';

const factor = Number(process.env['CV_CASES'] ?? 1);
const runs = (n: number): fc.Parameters<unknown> => ({
  numRuns: Math.ceil(n * factor),
  ...(process.env['CV_SEED'] && { seed: Number(process.env['CV_SEED']) }),
});

test('whatever happens, the southbound becomes what the model says', async () => {
  await fc.assert(
    fc.asyncProperty(scripts({ wild: false }, 8), async (script) => {
      const { bench } = await play(script, { window: 1, check: (one) => assertAsExpected(one) });
      assert.deepEqual(complaints(bench), []);
      await assertNothingToDo(bench);
    }),
    runs(150),
  );
});

test('the window and the order of replies change nothing', async () => {
  await fc.assert(
    fc.asyncProperty(scripts({ wild: true }, 6), fc.nat(), async (script, seed) => {
      await playInWindows(script, seed, { conflicts: true });
    }),
    runs(60),
  );
});

test('the window and the order of replies change nothing when something fails', async () => {
  await fc.assert(
    fc.asyncProperty(
      scripts({ wild: true }, 5),
      fc.nat(),
      troubles,
      async (script, seed, trouble) => {
        await playInWindows(script, seed, { conflicts: true, trouble });
      },
    ),
    runs(100),
  );
});

test('with failures, all is done that is not behind one; without them again, all is', async () => {
  await fc.assert(
    fc.asyncProperty(scripts({ wild: false }, 6), troubles, async (script, trouble) => {
      // What is gone and cannot be read back stands in the way, but shows nowhere.
      const isHidden = trouble.losing.length > 0 && trouble.blind.length > 0;
      const check = isHidden ? () => undefined : assertNothingLeftUndone;
      const { bench } = await play(script, { window: 100, trouble, check });
      noTrouble(bench);
      await bench.commit({}, { mode: 'downstream-resync' });
      assertAsExpected(bench);
      await assertNothingToDo(bench);
    }),
    runs(150),
  );
});

test('repetitions alone bring everything to where it belongs', async () => {
  await fc.assert(
    fc.asyncProperty(scripts({ wild: false }, 5), troubles, async (script, trouble) => {
      const retry = { periodMs: 100, maxAttempts: 0, exponential: false };
      const { bench } = await play(script, { window: 100, trouble, retry, pause: 250 });
      noTrouble(bench);
      await pass(bench, 300, 50);
      assert.deepEqual(bench.southbound.problems, []);
      assertAsExpected(bench);
      await assertNothingToDo(bench);
    }),
    runs(100),
  );
});

async function playInWindows(
  script: readonly Step[],
  seed: number,
  options: Omit<Play, 'window'>,
): Promise<void> {
  const serial = await play(script, { ...options, window: 1 });
  const played: Played[] = [
    await play(script, { ...options, window: 100, shuffle: seed }),
    await play(script, { ...options, window: 3, shuffle: seed + 1 }),
  ];
  for (const { records, pictures } of played) {
    assert.deepEqual(records, serial.records);
    assert.deepEqual(pictures, serial.pictures);
  }
}

/** Neither held against the southbound nor wished once more. */
async function assertNothingToDo(bench: Played['bench']): Promise<void> {
  assert.deepEqual(await bench.calls({}, { mode: 'downstream-resync' }), []);
  const wishes = Object.fromEntries(bench.southbound.wished);
  for (const mode of ['upstream-resync', 'full-resync'] as const) {
    assert.deepEqual(await bench.calls(wishes, { mode }), []);
    assert.deepEqual(bench.lastRecord().Executed, undefined);
  }
}
