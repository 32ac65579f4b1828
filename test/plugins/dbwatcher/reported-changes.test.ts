/** The publisher of states compares only what the scheduler reports, and values that wait. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { isWaiting } from '#plugins/dbwatcher/config-status/record.ts';
import { descriptorVariants } from '#test/kvscheduler/support/descriptor-variants.ts';
import { runScript } from '#test/kvscheduler/support/run-script.ts';
import { faults, scripts } from '#test/kvscheduler/support/scripts.ts';
import type { Bench } from '#test/kvscheduler/support/setup.ts';
import { checkProperty } from '#test/support/random-cases.ts';

const FILE = 'test/plugins/dbwatcher/reported-changes.test.ts';

test('each state that changes is reported, unless its value was waiting', async ({ name }) => {
  const script = scripts({ wild: false, conflicts: true, losses: true }, 8);
  await checkProperty(
    { file: FILE, name },
    1000,
    fc.asyncProperty(script, faults, descriptorVariants, async (steps, injected, described) => {
      const reported = new Set<string>();
      let before = new Map<string, string>();
      let waiting = new Set<string>();
      const check = ({ scheduler }: Bench) => {
        const statuses = scheduler.statuses();
        const now = new Map(statuses.map((status) => [status.value.key, JSON.stringify(status)]));
        for (const key of new Set([...before.keys(), ...now.keys()])) {
          if (reported.has(key) || waiting.has(key)) continue;
          assert.equal(now.get(key), before.get(key), key);
        }
        before = now;
        waiting = new Set(statuses.filter(isWaiting).map(({ value }) => value.key));
        reported.clear();
      };
      await runScript(steps, {
        window: 100,
        conflicts: true,
        variants: described,
        faults: injected,
        retry: { periodMs: 100, maxAttempts: 3, exponential: false },
        pause: 250,
        options: {
          onTransaction: (changed = []) => {
            for (const key of changed) reported.add(key);
          },
        },
        check,
      });
    }),
  );
});
