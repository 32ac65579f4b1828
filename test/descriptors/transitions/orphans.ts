/** What an agent that is gone has left is found and removed; what others have made stays. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import type { Backend } from '../compliance/suite.ts';
import type { Family } from './family.ts';
import { TestAgent } from './test-agent.ts';

export interface OrphanOptions {
  /** Places in the course of an agent at which it is killed. */
  readonly kills: number;
  /** Makes things of all kinds as somebody else would. */
  readonly others: () => Promise<void>;
  /** What the world does not tell of them. */
  readonly moreOfOthers: () => Promise<unknown>;
  /** Makes, message by message, what an agent had begun. */
  readonly begun: Readonly<Record<string, () => Promise<void>>>;
}

export function orphanSuite(
  start: () => Promise<{ readonly backend: Backend } & OrphanOptions>,
  families: readonly Family[],
): void {
  describe('leftovers of an agent beside things of others', () => {
    let backend: Backend;
    let options: OrphanOptions;
    /** With nothing but the things of others. */
    let theirs: unknown;

    const world = async () => [await backend.state(), await options.moreOfOthers()];

    before(async () => {
      ({ backend, ...options } = await start());
      await options.others();
      theirs = await world();
    });
    after(() => backend?.stop());

    for (const { name, key, setup, dependents = [], configurations, requiresTaps } of families)
      test(name, async (context) => {
        const { withoutTaps = false } = backend;
        if (requiresTaps && withoutTaps) return context.skip(withoutTaps);
        context.after(() => wantNothing(backend));
        const around = [...setup, ...dependents].map((each) => [each.key, each.value] as const);
        for (const { name: configuration, value } of configurations) {
          const gone = new TestAgent(backend);
          await gone.resync(new Map([...around, [key, value]]));
          await gone.close();
          await wantNothing(backend);
          assert.deepEqual(await world(), theirs, configuration);
        }
      });

    test('that was killed at any message', async () => {
      const wishes = new Map<string, object>();
      for (const { key, setup, dependents = [], configurations, requiresTaps } of families) {
        if (requiresTaps && backend.withoutTaps) continue;
        for (const each of [...setup, ...dependents]) wishes.set(each.key, each.value);
        if (configurations[0]) wishes.set(key, configurations[0].value);
      }
      const whole = new TestAgent(backend);
      backend.cut(0);
      await whole.resync(wishes);
      const { changes } = backend;
      await whole.close();
      await wantNothing(backend);
      assert.deepEqual(await world(), theirs);

      const property = fc.asyncProperty(fc.integer({ min: 1, max: changes }), async (at) => {
        const dying = new TestAgent(backend);
        backend.cut(at);
        await dying.resync(wishes).catch(() => undefined);
        await dying.close();
        backend.cut(0);
        const next = new TestAgent(backend);
        await next.resync(wishes);
        await next.assertSettled();
        await next.close();
        await wantNothing(backend);
        assert.deepEqual(await world(), theirs);
      });
      const around = property.beforeEach(() => wantNothing(backend));
      await fc.assert(around, { numRuns: options.kills });
    });

    test('that had just begun', async () => {
      for (const [what, make] of Object.entries(options.begun)) {
        await make();
        assert.notDeepEqual(await world(), theirs, `${what} is there`);
        await wantNothing(backend);
        assert.deepEqual(await world(), theirs, what);
      }
    });
  });
}

async function wantNothing(backend: Backend): Promise<void> {
  backend.cut(0);
  const agent = new TestAgent(backend);
  try {
    await agent.resync(new Map());
  } finally {
    await agent.close();
  }
}
