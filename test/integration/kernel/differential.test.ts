/** The simulated kernel against the real one: the same random calls, the same answers and state. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import { seededRandom } from '#infra/clock/manual.ts';
import { SimLinux } from '#simulator/linux/linux.ts';
import { checkProperty } from '#test/support/random-cases.ts';
import { withoutKernel } from '#test/support/requirements.ts';
import { kernelBackend } from '../support/linux-kernel.ts';
import { anyCall, comparable, runAll } from './random-calls.ts';

describe('the simulated kernel against the real one', { skip: withoutKernel() }, () => {
  test('random calls have the same answers and leave the same state', async () => {
    const backend = await kernelBackend();
    after(() => backend.close());
    await checkProperty(
      { file: 'test/integration/kernel/differential.test.ts', name: 'random calls' },
      12,
      fc.asyncProperty(
        fc.array(anyCall, { minLength: 1, maxLength: 40, size: 'max' }),
        async (calls) => {
          const real = [await backend.makeNamespace(), await backend.makeNamespace()];
          const sim = new SimLinux(seededRandom(1));
          for (const path of ['/s0', '/s1']) sim.addNamespace(path);
          const expected = await runAll(backend.host, real, calls);
          const actual = await runAll(sim, ['/s0', '/s1'], calls);
          for (const path of real) await backend.removeNamespace(path);
          assert.deepEqual(actual.answers, expected.answers);
          assert.deepEqual(comparable(actual.states), comparable(expected.states));
        },
      ),
    );
  });
});
