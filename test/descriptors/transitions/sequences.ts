/** Random changes of many values at once, compared with the southbound after each transaction. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import type { AnyDescriptor } from '#kvscheduler/api/descriptor.ts';
import { checkProperty } from '#test/support/random-cases.ts';
import { descriptorOf } from '../compliance/driver.ts';
import type { Backend } from '../compliance/suite.ts';
import type { Family } from './family.ts';
import { type DesiredState, type FreshComparison, TestAgent } from './test-agent.ts';

/** The possible values of each key. */
export type Pool = readonly (readonly [key: string, values: readonly object[]])[];

export function poolOf(families: readonly Family[]): Pool {
  const values = new Map<string, Map<string, object>>();
  const add = (key: string, value: object): void => {
    const known = values.get(key) ?? new Map<string, object>();
    values.set(key, known.set(JSON.stringify(value), value));
  };
  for (const { key, configurations, setup, dependents = [] } of families) {
    for (const { value } of configurations) add(key, value);
    for (const each of [...setup, ...dependents]) add(each.key, each.value);
  }
  return [...values].map(([key, known]) => [key, [...known.values()]] as const);
}

interface Change {
  readonly key: string;
  /** Null deletes the value. */
  readonly value: object | null;
}

interface Step {
  readonly changes: readonly Change[];
  /** The agent crashes after it, and another one continues. */
  readonly restart: boolean;
  /** Which message of it is refused; 0: none. */
  readonly refused: number;
}

const percentage = fc.nat(99);

function stepOf(pool: Pool, mayBeRefused: boolean): fc.Arbitrary<Step> {
  const change = fc
    .record({ key: fc.nat(pool.length - 1), value: fc.nat(999), stays: percentage })
    .map(({ key, value, stays }): Change => {
      const [name, values] = pool[key]!;
      return { key: name, value: stays < 70 ? values[value % values.length]! : null };
    });
  return fc.record({
    changes: fc.array(change, { minLength: 1, maxLength: 25, size: 'max' }),
    restart: percentage.map((chance) => chance < 15),
    refused: mayBeRefused ? percentage.map((chance) => (chance < 40 ? chance : 0)) : fc.constant(0),
  });
}

export interface SequenceOptions {
  /** Path of the test file, for the command that repeats a failure. */
  readonly file: string;
  /** `CV_CASES` multiplies them. */
  readonly runs: number;
  readonly steps: number;
  readonly past?: FreshComparison;
}

export function sequenceSuite(
  start: () => Promise<Backend>,
  pool: Pool,
  { file, runs, steps, past }: SequenceOptions,
): void {
  describe('random changes', () => {
    /** None after a failed case: its residue would fail the following cases. */
    let backend: Backend | undefined;
    after(() => backend?.stop());

    test(`of ${pool.length} values reach the desired state after each step`, async (context) => {
      const length = { minLength: 1, maxLength: steps, size: 'max' } as const;
      const sequence = fc.oneof(
        fc.array(stepOf(pool, false), length),
        fc.array(stepOf(pool, true), length),
      );
      let compared = 0;
      const check = async (on: Backend, all: readonly Step[]): Promise<void> => {
        const empty = await on.state();
        const desired = await applySteps(on, all);
        if (past && !hasContest(on.descriptors(), desired)) {
          compared++;
          const isWhole = all.every(({ refused }) => refused === 0);
          const [state, atOnce] = [past.stateOf(on), await past.configuredAtOnce(desired)].map(
            (each) => (isWhole ? each : past.withoutResidue(each)),
          );
          assert.deepEqual(state, atOnce, 'as if configured at once');
        }
        await clear(on);
        assert.deepEqual(await on.state(), empty, 'left behind');
      };
      const property = fc.asyncProperty(sequence, async (all) => {
        const own = backend ?? (await start());
        backend = undefined;
        try {
          await check(own, all);
          backend = own;
        } finally {
          if (backend === undefined) await own.stop();
        }
      });
      await checkProperty({ file, name: 'random changes' }, runs, property);
      if (!past) return;
      context.diagnostic(`${compared} compared with what was made in one go`);
      assert.ok(compared > 0);
    });
  });
}

async function clear(backend: Backend): Promise<void> {
  backend.cut(0);
  const agent = new TestAgent(backend);
  await agent.resync(new Map());
  await agent.close();
}

async function applySteps(backend: Backend, steps: readonly Step[]): Promise<DesiredState> {
  let agent = new TestAgent(backend);
  try {
    await agent.resync(new Map());
    for (const { changes, restart, refused } of steps) {
      const values = new Map(changes.map(({ key, value }) => [key, value]));
      if (refused === 0) await agent.update(values);
      else {
        await agent.updateRefused(values, refused);
        await agent.recover();
      }
      await agent.assertSettled();
      if (!restart) continue;
      const { desired } = agent;
      await agent.close();
      agent = new TestAgent(backend);
      await agent.resync(desired);
    }
    return agent.desired;
  } finally {
    await agent.close();
  }
}

/** Whether two values have one claim: then earlier states decide which value has it. */
function hasContest(descriptors: readonly AnyDescriptor[], desired: DesiredState): boolean {
  const taken = new Set<string>();
  for (const [key, value] of desired) {
    const all = [{ key, value }, ...(descriptorOf(descriptors, key)?.derived?.(key, value) ?? [])];
    for (const each of all)
      for (const claim of descriptorOf(descriptors, each.key)?.claims?.(each.key, each.value) ??
        []) {
        if (taken.has(claim)) return true;
        taken.add(claim);
      }
  }
  return false;
}
