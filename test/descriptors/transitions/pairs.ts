/** Every change from one configuration of a value to another, compared with the southbound. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import type { Backend } from '../compliance/suite.ts';
import { type Configuration, type Family, tour } from './family.ts';
import { type FreshComparison, TestAgent } from './test-agent.ts';

const absent = { name: 'absent', value: undefined } as const;

function entries(values: readonly KeyedValue[]): (readonly [string, object])[] {
  return values.map(({ key, value }) => [key, value] as const);
}

/**
 * @param past compares with a southbound that was configured at once; undefined: no comparison
 * @param release of which it is a proof
 */
export function pairSuite(
  start: () => Promise<Backend>,
  families: readonly Family[],
  { past, release = '' }: { readonly past?: FreshComparison; readonly release?: string } = {},
): void {
  describe(`every change of one value ${release}`.trim(), () => {
    let backend: Backend;
    before(async () => {
      backend = await start();
    });
    after(() => backend?.stop());

    for (const family of families) {
      const count = family.configurations.length + 1;
      test(`${family.name}: ${count * (count - 1)} changes`, async (context) => {
        const { withoutTaps = false } = backend;
        if (family.requiresTaps && withoutTaps) return context.skip(withoutTaps);
        // a failure must not be the next family's
        context.after(() => cleanUp(backend));
        await applyAllPairs(backend, family, past);
      });
    }
  });
}

async function cleanUp(backend: Backend): Promise<void> {
  backend.cut(0);
  const last = new TestAgent(backend);
  await last.resync(new Map()).catch(() => undefined);
  await last.close();
}

async function applyAllPairs(
  backend: Backend,
  family: Family,
  past?: FreshComparison,
): Promise<void> {
  const { key, setup, dependents = [] } = family;
  const configurations: readonly (Configuration | typeof absent)[] = [
    absent,
    ...family.configurations,
  ];
  const start = await backend.state();
  const agent = new TestAgent(backend);
  try {
    await agent.resync(new Map(entries([...setup, ...dependents])));
    const empty = await backend.state();
    const mayWait = new Set(dependents.map((each) => each.key));
    const hasExisted = new Set<string>();
    const atOnce = new Map<object | undefined, unknown>();
    let from: (typeof configurations)[number] = absent;
    for (const index of tour(configurations.length)) {
      const to = configurations[index] ?? absent;
      try {
        await agent.update(new Map([[key, to.value ?? null]]));
        const waiting = agent.pending;
        assert.deepEqual(
          waiting.filter((each) => !mayWait.has(each)),
          [],
          'waiting',
        );
        for (const each of mayWait) if (!waiting.includes(each)) hasExisted.add(each);
        await agent.assertSettled();
        if (past) {
          if (!atOnce.has(to.value))
            atOnce.set(to.value, await past.configuredAtOnce(agent.desired));
          assert.deepEqual(past.stateOf(backend), atOnce.get(to.value), 'as if configured at once');
        }
      } catch (cause) {
        throw new Error(`from ${from.name} to ${to.name}`, { cause });
      }
      from = to;
    }
    assert.deepEqual(
      [...hasExisted].sort(),
      [...mayWait].sort(),
      'dependents that existed at times',
    );
    if (family.isUnmarked !== true)
      assert.deepEqual(await backend.state(), empty, 'left behind by the value');
    await agent.resync(new Map());
    if (family.isUnmarked !== true)
      assert.deepEqual(await backend.state(), start, 'left behind by all');
  } finally {
    await agent.close();
  }
}
