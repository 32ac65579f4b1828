/**
 * Random descriptors, values, transactions, reports, drifts, time-outs and failures, with window 1
 * and window 100, compared with a simple serial model. The southbound checks at every step that the
 * scheduler breaks no rule. A failure begins with the command that runs it again; `CV_CASES=10` runs
 * ten times as many cases.
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
          modeled: true,
          variants: described,
          check: assertAsExpected,
        });
        assert.deepEqual(loggedProblems(bench), []);
        await assertNothingToDo(bench);
      }
    }),
  );
});

test('of two values with one claim, the same one has it as in the model', async ({ name }) => {
  const script = scripts({ wild: false, conflicts: true, losses: true }, 8);
  await checkProperty(
    { file: FILE, name },
    1500,
    fc.asyncProperty(script, descriptorVariants, async (steps, described) => {
      for (const window of windows) {
        const { bench } = await runScript(steps, {
          window,
          modeled: true,
          variants: described,
          conflicts: true,
          check: assertAsExpected,
        });
        assert.deepEqual(loggedProblems(bench), []);
        await bench.commit({}, { mode: 'downstream-resync' });
        await assertNothingToDo(bench);
      }
    }),
  );
});

test('values that no failure blocks are configured; without failures, all are', async ({
  name,
}) => {
  const script = scripts({ wild: false, conflicts: false, losses: true, steady: true }, 6);
  await checkProperty(
    { file: FILE, name },
    2500,
    fc.asyncProperty(script, faults, descriptorVariants, async (steps, injected, described) => {
      // A deleted value that cannot be read back may block others, but is in no status.
      const isHidden = injected.losing.length > 0 && injected.blind.length > 0;
      for (const window of windows) {
        const broken = new Set<string>();
        const check = (one: Bench) => (isHidden ? undefined : assertNothingLeftUndone(one, broken));
        const { bench } = await runScript(steps, {
          window,
          modeled: true,
          variants: described,
          faults: injected,
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
  const script = scripts({ wild: false, conflicts: false, losses: true, steady: true }, 5);
  await checkProperty(
    { file: FILE, name },
    2000,
    fc.asyncProperty(script, faults, descriptorVariants, async (steps, injected, described) => {
      const retry = { periodMs: 100, maxAttempts: 0, exponential: false };
      for (const window of windows) {
        const { bench } = await runScript(steps, {
          window,
          modeled: true,
          variants: described,
          faults: injected,
          retry,
          pause: 250,
        });
        clearFaults(bench);
        await pass(bench, 300, 50);
        assert.deepEqual(bench.southbound.violations, []);
        assertAsExpected(bench);
        await assertNothingToDo(bench);
      }
    }),
  );
});
