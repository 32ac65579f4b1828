/**
 * Random descriptors, values, transactions, reports, drifts, time-outs and failures, with window 1
 * and window 100, held against a simple serial model. What the scheduler may never do is judged by
 * the southbound at every single step. A failure begins with the command that runs it again;
 * `CV_CASES=10` runs ten times as many cases.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { checkProperty } from '#test/support/random-cases.ts';
import { descriptorVariants } from './support/descriptor-variants.ts';
import {
  assertAsExpected,
  assertNothingLeftUndone,
  assertNothingToDo,
  clearFaults,
  loggedProblems,
  runScript,
} from './support/run-script.ts';
import { faults, scripts } from './support/scripts.ts';
import { type Bench, pass } from './support/setup.ts';

const FILE = 'test/kvscheduler/properties.test.ts';
const windows = [1, 100] as const;

test('the southbound always reaches the state of the model', async ({ name }) => {
  const script = scripts({ wild: false, conflicts: false, losses: true }, 8);
  await checkProperty(
    { file: FILE, name },
    1500,
    fc.asyncProperty(script, descriptorVariants, async (steps, described) => {
      for (const window of windows) {
        const { bench } = await runScript(steps, {
          window,
          variants: described,
          check: assertAsExpected,
        });
        assert.deepEqual(loggedProblems(bench), []);
        await assertNothingToDo(bench);
      }
    }),
  );
});

test('of two values with one claim, the one of the model has it', async ({ name }) => {
  const script = scripts({ wild: false, conflicts: true, losses: true }, 8);
  await checkProperty(
    { file: FILE, name },
    1500,
    fc.asyncProperty(script, descriptorVariants, async (steps, described) => {
      for (const window of windows) {
        const settings = { window, kinds: described, conflicts: true };
        const { bench } = await runScript(steps, { ...settings, check: assertAsExpected });
        assert.deepEqual(loggedProblems(bench), []);
      }
    }),
  );
});

test('with failures, all that does not depend on one is done; after them, everything is', async ({
  name,
}) => {
  const script = scripts({ wild: false, conflicts: false, losses: true }, 6);
  await checkProperty(
    { file: FILE, name },
    2500,
    fc.asyncProperty(script, faults, descriptorVariants, async (steps, trouble, described) => {
      // What is gone and cannot be read back stands in the way, but shows nowhere.
      const isHidden = trouble.losing.length > 0 && trouble.blind.length > 0;
      for (const window of windows) {
        const broken = new Set<string>();
        const check = (one: Bench) => (isHidden ? undefined : assertNothingLeftUndone(one, broken));
        const { bench } = await runScript(steps, {
          window,
          variants: described,
          faults: trouble,
          check,
        });
        clearFaults(bench);
        await bench.commit({}, { mode: 'downstream-resync' });
        assertAsExpected(bench);
        await assertNothingToDo(bench);
      }
    }),
  );
});

test('retries alone reach the state of the model', async ({ name }) => {
  const script = scripts({ wild: false, conflicts: false, losses: true }, 5);
  await checkProperty(
    { file: FILE, name },
    2000,
    fc.asyncProperty(script, faults, descriptorVariants, async (steps, trouble, described) => {
      const retry = { periodMs: 100, maxAttempts: 0, exponential: false };
      for (const window of windows) {
        const settings = { window, kinds: described, trouble, retry, pause: 250 };
        const { bench } = await runScript(steps, settings);
        clearFaults(bench);
        await pass(bench, 300, 50);
        assert.deepEqual(bench.southbound.violations, []);
        assertAsExpected(bench);
        await assertNothingToDo(bench);
      }
    }),
  );
});
