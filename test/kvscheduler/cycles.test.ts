/**
 * Values that depend on each other in random cycles, which may lead through derived values: committed at
 * once, step by step and after a restart they reach the state of the model, with window 1 and
 * window 100. How to run a failure again: see properties.test.ts.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { silentLogger } from '#infra/log/log.ts';
import { createScheduler } from '#kvscheduler/kv-scheduler.ts';
import { checkProperty } from '#test/support/random-cases.ts';
import { assertAsExpected, assertNothingToDo, loggedProblems } from './support/run-script.ts';
import { type Bench, setUp } from './support/setup.ts';
import type { Spec } from './support/southbound.ts';

const FILE = 'test/kvscheduler/cycles.test.ts';
const bases = ['a/0', 'a/1', 'b/0', 'b/1'];

const childrenOf = (base: string) => [0, 1].map((n) => `d/${base.replace('/', '')}.${n}`);

const needs = fc.oneof(
  { weight: 1, arbitrary: fc.constant<string[]>([]) },
  {
    weight: 3,
    arbitrary: fc.array(
      fc.oneof(
        { weight: 20, arbitrary: fc.constantFrom(...bases, ...bases.flatMap(childrenOf)) },
        { weight: 1, arbitrary: fc.constant('a/none') },
      ),
      { minLength: 1, maxLength: 2 },
    ),
  },
);
const any = fc.oneof(
  { weight: 4, arbitrary: fc.constant<string[]>([]) },
  { weight: 1, arbitrary: fc.constantFrom(['a/'], ['b/'], ['d/'], ['d/b0.'], ['d/a1.']) },
);
const relations = { v: fc.constant(1), needs, any, recreate: fc.nat(9).map((n) => n === 0) };

function baseSpec(base: string): fc.Arbitrary<Spec> {
  const children = childrenOf(base).map((key) => fc.tuple(fc.constant(key), fc.record(relations)));
  const derives = fc.tuple(...children).chain((all) => fc.subarray(all));
  return fc.record({ ...relations, derives: derives.map((some) => Object.fromEntries(some)) });
}

const values: fc.Arbitrary<Record<string, Spec>> = fc
  .tuple(...bases.map((base) => fc.tuple(fc.constant(base), baseSpec(base))))
  .map((entries) => Object.fromEntries(entries));

test('values in a cycle get the same state at once, step by step and after a restart', async ({
  name,
}) => {
  await checkProperty(
    { file: FILE, name },
    300,
    fc.asyncProperty(
      values,
      fc.shuffledSubarray(bases, { minLength: bases.length }),
      fc.constantFrom(1, 100),
      async (desired, order, window) => {
        const atOnce = setUp({ window });
        await atOnce.commit(desired);
        const inSteps = setUp({ window });
        await inSteps.commit(withoutDependencies(desired));
        for (const key of order) await inSteps.commit({ [key]: desired[key] as Spec });
        const removed = setUp({ window });
        await removed.commit(desired);
        for (const key of order) {
          await removed.commit({ [key]: null });
          assertAsExpected(removed);
          await removed.commit({ [key]: desired[key] as Spec });
        }
        for (const bench of [atOnce, inSteps, removed]) {
          assertAsExpected(bench);
          assert.deepEqual(bench.southbound.violations, []);
          assert.deepEqual(loggedProblems(bench), []);
          await assertNothingToDo(bench);
        }
        assert.deepEqual(inSteps.southbound.contents(), atOnce.southbound.contents());
        assert.deepEqual(removed.southbound.contents(), atOnce.southbound.contents());
        await restart(atOnce, desired);
      },
    ),
  );
});

/** A new scheduler finds the values of the former one in the southbound, and changes nothing. */
async function restart(
  { southbound, clock }: Bench,
  desired: Readonly<Record<string, Spec>>,
): Promise<void> {
  southbound.takeCalls();
  const descriptors = southbound.descriptors();
  const scheduler = createScheduler({ descriptors, clock, log: silentLogger });
  await scheduler.commit({
    description: 'restart',
    mode: 'full-resync',
    onFailure: 'best-effort',
    values: new Map(Object.entries(desired)),
  });
  assert.deepEqual(southbound.takeCalls(), []);
}

function withoutDependencies(desired: Readonly<Record<string, Spec>>): Record<string, Spec> {
  const without = ({ v, recreate, derives = {} }: Spec): Spec => ({
    v,
    recreate: recreate ?? false,
    derives: Object.fromEntries(Object.entries(derives).map(([key, one]) => [key, without(one)])),
  });
  return Object.fromEntries(Object.entries(desired).map(([key, spec]) => [key, without(spec)]));
}
