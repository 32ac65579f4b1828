/**
 * The same random scripts with windows of different sizes and replies in shuffled order: equal
 * records, times aside, and an equal southbound after every step, whatever fails and however values
 * depend on each other. How to run a failure again: see properties.test.ts.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { checkProperty } from '#test/support/random-cases.ts';
import { kinds } from './support/kinds.ts';
import { type Play, type Played, play } from './support/play.ts';
import { type Step, scripts, troubles } from './support/scripts.ts';

const FILE = 'test/kvscheduler/windows.test.ts';
const wild = { wild: true, conflicts: true };

test('the window and the order of replies change nothing', async ({ name }) => {
  await checkProperty(
    { file: FILE, name },
    1000,
    fc.asyncProperty(scripts(wild, 6), kinds, fc.nat(), async (script, described, seed) => {
      await playInWindows(script, seed, { kinds: described, conflicts: true });
    }),
  );
});

test('the window and the order of replies change nothing when something fails', async ({
  name,
}) => {
  await checkProperty(
    { file: FILE, name },
    1500,
    fc.asyncProperty(
      scripts(wild, 5),
      kinds,
      troubles,
      fc.nat(),
      async (script, described, trouble, seed) => {
        await playInWindows(script, seed, { kinds: described, conflicts: true, trouble });
      },
    ),
  );
});

test('the window and the order of replies change nothing in what is repeated', async ({ name }) => {
  const retry = { periodMs: 40, maxAttempts: 3, exponential: true };
  await checkProperty(
    { file: FILE, name },
    200,
    fc.asyncProperty(
      scripts(wild, 4),
      kinds,
      troubles,
      fc.nat(),
      async (script, described, trouble, seed) => {
        const settings = { kinds: described, conflicts: true, trouble, retry, pause: 200 };
        await playInWindows(script, seed, settings);
      },
    ),
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
