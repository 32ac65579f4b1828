/**
 * Every message of a change is refused once. Whatever the reaction, the desired state is reached after the
 * southbound has been read back.
 */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import { checkProperty } from '#test/support/random-cases.ts';
import type { Backend } from '../compliance/suite.ts';
import type { Family } from './family.ts';
import { type FreshComparison, TestAgent } from './test-agent.ts';

/** The reaction to a failed change, before the southbound is read back. */
const recoveries = ['nothing', 'repeated', 'reverted'] as const;

interface Case {
  readonly family: Family;
  /** Undefined: the value is not there. */
  readonly from: object | undefined;
  readonly to: object | undefined;
  readonly way: (typeof recoveries)[number];
}

const MAX_MESSAGES = 60;

export interface RefusalOptions {
  /** Path of the test file, for the command that repeats a failure. */
  readonly file: string;
  /** `CV_CASES` multiplies them. */
  readonly runs: number;
  readonly past?: FreshComparison;
}

export function refusalSuite(
  start: () => Promise<Backend>,
  families: readonly Family[],
  { file, runs, past }: RefusalOptions,
): void {
  const name = 'refused changes';
  describe(name, () => {
    /** None after a case that failed. */
    let backend: Backend | undefined;
    after(() => backend?.stop());

    test('of one value reach the desired state', async (context) => {
      let refused = 0;
      const property = fc.asyncProperty(caseOf(families), async (each) => {
        const own = backend ?? (await start());
        backend = undefined;
        try {
          if (!(each.family.requiresTaps && own.withoutTaps))
            refused += await refuseEach(own, each, past);
          backend = own;
        } finally {
          if (backend === undefined) await own.stop();
        }
      });
      await checkProperty({ file, name }, runs, property);
      context.diagnostic(`${refused} messages refused`);
      assert.ok(refused > 0);
    });
  });
}

function caseOf(families: readonly Family[]): fc.Arbitrary<Case> {
  const record = {
    family: fc.constantFrom(...families),
    from: fc.nat(99),
    step: fc.nat(99),
    way: fc.constantFrom(...recoveries),
  };
  return fc.record(record).map(({ family, from, step, way }) => {
    const values = [undefined, ...family.configurations.map(({ value }) => value)];
    const first = from % values.length;
    const second = (first + 1 + (step % (values.length - 1))) % values.length;
    const each = { family, from: values[first], to: values[second], way };
    const text = () => JSON.stringify({ ...each, family: family.name });
    return { ...each, [fc.toStringMethod]: text };
  });
}

/** @returns how many messages were refused */
async function refuseEach(
  backend: Backend,
  { family, from, to, way }: Case,
  past?: FreshComparison,
): Promise<number> {
  const { key, setup, dependents = [] } = family;
  const around = [...setup, ...dependents].map((each) => [each.key, each.value] as const);
  const desired = (value: object | undefined) =>
    new Map<string, object>(value === undefined ? around : [...around, [key, value]]);
  const atOnce = new Map<object | undefined, unknown>();
  for (let n = 1; n <= MAX_MESSAGES; n++) {
    const agent = new TestAgent(backend);
    try {
      await agent.resync(desired(from));
      const change = new Map([[key, to ?? null]]);
      const { failures, isRefused } = await agent.updateRefused(change, n, way === 'reverted');
      if (way === 'repeated') await agent.attempt(new Map([...around, ...change]), false);
      await agent.recover();
      await agent.assertSettled();
      const end = way === 'reverted' && failures > 0 ? from : to;
      assert.deepEqual(new Map(agent.desired), desired(end));
      if (past) {
        if (!atOnce.has(end))
          atOnce.set(end, past.withoutResidue(await past.configuredAtOnce(desired(end))));
        const state = past.withoutResidue(past.stateOf(backend));
        assert.deepEqual(state, atOnce.get(end), 'as if configured at once');
      }
      // unmarked values: the next agent would not recognize them as managed
      await agent.resync(new Map());
      if (!isRefused) return n - 1;
    } catch (cause) {
      throw new Error(`message ${n} refused`, { cause });
    } finally {
      await agent.close();
    }
  }
  return assert.fail('more messages than the test counts');
}
