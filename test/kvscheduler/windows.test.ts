/**
 * The same random scripts with windows of different sizes and replies in shuffled order: equal
 * records, times aside, and an equal southbound after every step, whatever fails and however values
 * depend on each other. How to run a failure again: see properties.test.ts.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { checkProperty } from '#test/support/random-cases.ts';
import { descriptorVariants } from './support/descriptor-variants.ts';
import { type RunOptions, runScript, type ScriptResult } from './support/run-script.ts';
import { faults, type Step, scripts } from './support/scripts.ts';

const FILE = 'test/kvscheduler/windows.test.ts';
const wild = { wild: true, conflicts: true };

test('the window and the order of replies do not change the outcome', async ({ name }) => {
  await checkProperty(
    { file: FILE, name },
    1000,
    fc.asyncProperty(
      scripts(wild, 6),
      descriptorVariants,
      fc.nat(),
      async (script, described, seed) => {
        await compareWindows(script, seed, { variants: described, conflicts: true });
      },
    ),
  );
});

test('the window and the order of replies do not change the outcome with failures', async ({
  name,
}) => {
  await checkProperty(
    { file: FILE, name },
    1500,
    fc.asyncProperty(
      scripts(wild, 5),
      descriptorVariants,
      faults,
      fc.nat(),
      async (script, described, injected, seed) => {
        await compareWindows(script, seed, {
          variants: described,
          conflicts: true,
          faults: injected,
        });
      },
    ),
  );
});

test('the window and the order of replies do not change the retries', async ({ name }) => {
  const retry = { periodMs: 40, maxAttempts: 3, exponential: true };
  await checkProperty(
    { file: FILE, name },
    200,
    fc.asyncProperty(
      scripts(wild, 4),
      descriptorVariants,
      faults,
      fc.nat(),
      async (script, described, injected, seed) => {
        await compareWindows(script, seed, {
          variants: described,
          conflicts: true,
          faults: injected,
          retry,
          pause: 200,
        });
      },
    ),
  );
});

async function compareWindows(
  script: readonly Step[],
  seed: number,
  options: Omit<RunOptions, 'window'>,
): Promise<void> {
  const serial = await runScript(script, { ...options, window: 1 });
  const others: ScriptResult[] = [
    await runScript(script, { ...options, window: 100, shuffle: seed }),
    await runScript(script, { ...options, window: 3, shuffle: seed + 1 }),
  ];
  for (const { records, pictures } of others) {
    assert.deepEqual(records, serial.records);
    assert.deepEqual(pictures, serial.pictures);
  }
}
