/** The finder of matches, compared with a naive one, and what it costs. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { Dependency } from '#kvscheduler/api/descriptor.ts';
import { KeyIndex } from '#kvscheduler/graph/key-index.ts';
import { MatchFinder } from '#kvscheduler/planner/match-finder.ts';
import { matches } from '#kvscheduler/planner/planned-graph.ts';

function setUp(keys: readonly string[]) {
  const index = new KeyIndex();
  for (const key of keys) index.add(key);
  const having = new Set<string>();
  const counts = { calls: 0 };
  const finder = new MatchFinder(
    (prefix, after) => index.withPrefix(prefix, after),
    (key) => {
      counts.calls++;
      return having.has(key);
    },
    baseOf,
  );
  return { finder, having, counts };
}

/** Keys of an even length are derived, from a value with the name of their first character. */
const baseOf = (key: string): string | undefined =>
  key.length === 0 || key.length % 2 === 1 ? undefined : key[0];

const name = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 3 });
const isEven = (key: string): boolean => key.length % 2 === 0;
const dependency: fc.Arbitrary<Dependency> = fc.oneof(
  name.map((key) => ({ label: 'l', key })),
  fc
    .tuple(fc.array(name, { minLength: 1, maxLength: 2 }), fc.boolean())
    .map(([prefixes, isSelective]) => ({
      label: 'l',
      anyOf: { prefixes, ...(isSelective && { accepts: isEven }) },
    })),
);
const step = fc.record({ key: name, has: fc.boolean(), dependency, excluded: name });

test('a key is found exactly if one matches', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const { finder, having } = setUp(steps.map(({ key }) => key));
      for (const { key, has, dependency, excluded } of steps) {
        if (has) having.add(key);
        else having.delete(key);
        if (has) finder.gained(key);
        for (const isExcluded of [undefined, (one: string) => one === excluded]) {
          const found = finder.find(dependency, isExcluded);
          const matching = [...having].filter(
            (one) => matches(dependency, one) && !isExcluded?.(one),
          );
          assert.equal(found !== undefined, matching.length > 0);
          if (found !== undefined) assert.ok(matching.includes(found));
        }
      }
    }),
  );
});

test('a value is unserved exactly if all keys are derived from it', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), name, (steps, prefix) => {
      const { finder, having } = setUp(steps.map(({ key }) => key));
      for (const { key, has } of steps) {
        if (has) having.add(key);
        else having.delete(key);
        if (has) finder.gained(key);
        const bases = new Set([...having].filter((one) => one.startsWith(prefix)).map(baseOf));
        const only = bases.size === 1 ? [...bases][0] : undefined;
        assert.equal(finder.unserved(prefix), bases.size === 0 ? '' : only);
      }
    }),
  );
});

test('keys with a prefix are looked through once, whether none has the property or they lose it one by one', () => {
  const keys = Array.from({ length: 500 }, (_, i) => `a/${String(i).padStart(3, '0')}`);
  const { finder, having, counts } = setUp(keys);
  const any: Dependency = { label: 'any', anyOf: { prefixes: ['a/'] } };
  for (const _ of keys) assert.equal(finder.find(any), undefined);
  for (const key of keys) {
    having.add(key);
    finder.gained(key);
  }
  for (const key of keys) {
    assert.equal(finder.find(any), key);
    having.delete(key);
  }
  assert.equal(finder.find(any), undefined);
  assert.ok(counts.calls <= 5 * keys.length, `${counts.calls} calls`);
});
