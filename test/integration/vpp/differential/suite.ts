/** Random messages, the same to a real VPP and to a simulated one: the same answers and state. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  hasEnded,
  type Message,
  type MessageGenerator,
  sendAll,
} from '#test/simulator/random-requests.ts';
import { checkProperty } from '#test/support/random-cases.ts';
import { type SkipReason, withoutIsolatedVpp } from '#test/support/requirements.ts';
import { type RunningSim, startSim } from '#test/vpp/descriptors/simulated-vpp.ts';
import type { VppClient } from '#vpp/binapi/api.ts';
import { type IsolatedVpp, startIsolatedVpp } from '../../support/vpp-process.ts';

export interface Differential {
  readonly name: string;
  /** Path of the test file, for the command that repeats a failure. */
  readonly file: string;
  /** Path of the file with the generators and `stateOf`. */
  readonly source: string;
  readonly generators: readonly MessageGenerator[];
  /** Cases in which the two differed. */
  readonly examples?: readonly Example[];
  /** Messages of one case. */
  readonly maxLength: number;
  /** Before the first message. */
  prepare?(real: IsolatedVpp, sim: RunningSim): Promise<void>;
  stateOf(client: VppClient): Promise<unknown>;
}

export interface Example {
  readonly name: string;
  readonly messages: readonly Message[];
}

const CASES = 4;
const TITLE = 'random messages have the same answers and leave the same state';

/** @param reason to skip it, besides a missing VPP */
export function differentialSuite(suite: Differential, reason: SkipReason = false): void {
  describe(suite.name, { skip: withoutIsolatedVpp() || reason }, () => {
    for (const { name, messages } of suite.examples ?? [])
      test(name, async () => {
        assert.ok(await isSame(suite, messages), 'VPP ended itself');
      });

    test(TITLE, async (context) => {
      const { file, generators, maxLength } = suite;
      const message = fc.oneof(...generators);
      let whole = 0;
      let ended = 0;
      const sequence = fc.array(message, { minLength: 1, maxLength, size: 'max' });
      const property = fc.asyncProperty(sequence, async (all) => {
        if (await isSame(suite, all)) whole++;
        else ended++;
      });
      await checkProperty({ file, name: TITLE }, CASES, property);
      context.diagnostic(`${whole} compared whole, in ${ended} VPP ended itself`);
      assert.ok(whole > 0);
    });
  });
}

/** @returns false when VPP ended itself: some mixtures end it, which is not to be simulated */
async function isSame(suite: Differential, messages: readonly Message[]): Promise<boolean> {
  const real = await startIsolatedVpp();
  try {
    const sim = await startSim();
    try {
      await suite.prepare?.(real, sim);
      const expected = await sendAll(real.client, messages);
      const actual = await sendAll(sim.client, messages.slice(0, expected.length));
      assert.deepEqual(actual, expected);
      if (expected.length < messages.length) return false;
      const state = await stateOrEnd(suite, real.client);
      if (state === undefined) return false;
      assert.deepEqual(await suite.stateOf(sim.client), state);
      return true;
    } finally {
      await sim.stop();
    }
  } finally {
    await real.stop();
  }
}

async function stateOrEnd({ stateOf }: Differential, client: VppClient): Promise<unknown> {
  try {
    return await stateOf(client);
  } catch (error) {
    if (hasEnded(error)) return undefined;
    throw error;
  }
}
