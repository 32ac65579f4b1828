/** Orphans of an earlier agent are found and deleted; unmanaged objects stay. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import type { Backend } from '../compliance/suite.ts';
import type { Family } from './family.ts';
import { TestAgent } from './test-agent.ts';

export interface OrphanOptions {
  /** Number of messages at which an agent is killed. */
  readonly kills: number;
  /** Creates unmanaged objects of all types. */
  readonly others: () => Promise<void>;
  /** Their state that `Backend.state` does not contain. */
  readonly moreOfOthers: () => Promise<unknown>;
  /** Creates, message by message, what an agent had begun. */
  readonly begun: Readonly<Record<string, () => Promise<void>>>;
}

export function orphanSuite(
  start: () => Promise<{ readonly backend: Backend } & OrphanOptions>,
  families: readonly Family[],
): void {
  describe('orphans of an agent beside unmanaged objects', () => {
    let backend: Backend;
    let options: OrphanOptions;
    /** The state with only unmanaged objects. */
    let unmanaged: unknown;

    const world = async () => [await backend.state(), await options.moreOfOthers()];

    before(async () => {
      ({ backend, ...options } = await start());
      await options.others();
      unmanaged = await world();
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
          assert.deepEqual(await world(), unmanaged, configuration);
        }
      });

    test('that was killed at any message', async () => {
      const desired = new Map<string, object>();
      for (const { key, setup, dependents = [], configurations, requiresTaps } of families) {
        if (requiresTaps && backend.withoutTaps) continue;
        for (const each of [...setup, ...dependents]) desired.set(each.key, each.value);
        if (configurations[0]) desired.set(key, configurations[0].value);
      }
      const whole = new TestAgent(backend);
      backend.cut(0);
      await whole.resync(desired);
      const { changes } = backend;
      await whole.close();
      await wantNothing(backend);
      assert.deepEqual(await world(), unmanaged);

      const property = fc.asyncProperty(fc.integer({ min: 1, max: changes }), async (at) => {
        const dying = new TestAgent(backend);
        backend.cut(at);
        await dying.resync(desired).catch(() => undefined);
        await dying.close();
        backend.cut(0);
        const next = new TestAgent(backend);
        await next.resync(desired);
        await next.assertSettled();
        await next.close();
        await wantNothing(backend);
        assert.deepEqual(await world(), unmanaged);
      });
      const around = property.beforeEach(() => wantNothing(backend));
      await fc.assert(around, { numRuns: options.kills });
    });

    test('that had just begun', async () => {
      for (const [what, make] of Object.entries(options.begun)) {
        await make();
        assert.notDeepEqual(await world(), unmanaged, `${what} is there`);
        await wantNothing(backend);
        assert.deepEqual(await world(), unmanaged, what);
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
