/** The simulated kernel against the real one: the same random calls, the same answers and state. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import { seededRandom } from '#infra/clock/manual.ts';
import type { LinuxHost, NamespaceState } from '#linux/api.ts';
import { LinuxError } from '#linux/api.ts';
import { SimLinux } from '#simulator/linux/linux.ts';
import { checkProperty } from '#test/support/random-cases.ts';
import { withoutKernel } from '#test/support/requirements.ts';
import { kernelBackend } from '../support/linux-kernel.ts';
import { anyCall, type Call } from './random-calls.ts';

/** Consecutive calls on the same namespaces are made in one turn. */
async function runAll(host: LinuxHost, paths: readonly string[], calls: readonly Call[]) {
  const answers: string[] = [];
  for (let i = 0; i < calls.length; ) {
    const first = calls[i]!;
    let end = i + 1;
    while (end < calls.length && String(calls[end]!.spaces) === String(first.spaces)) end++;
    const settled = await Promise.allSettled(calls.slice(i, end).map((c) => c.run(host, paths)));
    for (const [k, outcome] of settled.entries()) {
      const answer =
        outcome.status === 'fulfilled'
          ? 'done'
          : outcome.reason instanceof LinuxError
            ? (outcome.reason.errno ?? outcome.reason.message)
            : String(outcome.reason);
      answers.push(`${calls[i + k]!.text}: ${answer}`);
    }
    i = end;
  }
  return { answers, states: await Promise.all(paths.map((path) => host.dump(path))) };
}

/** Without indexes and MACs that were not set, which are random. */
function comparable(states: readonly NamespaceState[]) {
  return states.map((state) => ({
    ...state,
    links: state.links
      .map(({ index: _, peerIndex, mac: own, ...link }) => ({
        ...link,
        paired: peerIndex !== undefined,
        mac: own?.startsWith('02:fe:00:00:00:0') ? own : 'some',
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
  }));
}

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
