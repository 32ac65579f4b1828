/** The indexes against their naive counterparts. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { Dependency } from '#kvscheduler/api/descriptor.ts';
import { MinHeap } from '#kvscheduler/executor/min-heap.ts';
import { DependencyIndex } from '#kvscheduler/graph/dependency-index.ts';
import { deepEqual } from '#kvscheduler/graph/equality.ts';
import { KeyIndex } from '#kvscheduler/graph/key-index.ts';

const key = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 5 });

test('keys are found by prefix, in order', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(key, fc.boolean())), fc.array(key), (changes, prefixes) => {
      const index = new KeyIndex();
      const naive = new Set<string>();
      for (const [one, isAdded] of changes) {
        if (isAdded) {
          index.add(one);
          naive.add(one);
        } else {
          index.delete(one);
          naive.delete(one);
        }
      }
      assert.equal(index.size, naive.size);
      for (const prefix of ['', ...prefixes]) {
        const expected = [...naive].filter((one) => one.startsWith(prefix)).sort();
        assert.deepEqual([...index.withPrefix(prefix)], expected);
      }
    }),
  );
});

test('very many keys in any order', () => {
  const index = new KeyIndex();
  const keys = Array.from({ length: 20_000 }, (_, i) => `k${((i * 7919) % 20_000) + 100_000}`);
  for (const one of keys) index.add(one);
  for (const one of keys) index.add(one);
  assert.equal(index.size, keys.length);
  assert.deepEqual([...index.withPrefix('k')], keys.toSorted());
  assert.equal([...index.withPrefix('k1000')].length, 100);
  for (const one of keys.slice(0, 15_000)) index.delete(one);
  assert.deepEqual([...index.withPrefix('')], keys.slice(15_000).sort());
});

const dependency: fc.Arbitrary<Dependency> = fc.oneof(
  key.map((one) => ({ label: 'l', key: one })),
  fc.array(key, { maxLength: 2 }).map((prefixes) => ({ label: 'l', anyOf: { prefixes } })),
);

test('dependents are found by key and by prefix', () => {
  const owners = fc.array(fc.tuple(fc.nat(4), fc.array(dependency, { maxLength: 3 })));
  fc.assert(
    fc.property(owners, fc.array(key), (changes, keys) => {
      const index = new DependencyIndex<{ id: number }>();
      const names = Array.from({ length: 5 }, (_, id) => ({ id }));
      const naive = new Map<{ id: number }, Dependency[]>();
      for (const [id, dependencies] of changes) {
        const owner = names[id] as { id: number };
        index.delete(owner, naive.get(owner) ?? []);
        index.add(owner, dependencies);
        naive.set(owner, dependencies);
      }
      for (const one of ['', ...keys]) {
        const found = new Set<{ id: number }>();
        index.collect(one, found);
        const expected = names.filter((owner) =>
          naive
            .get(owner)
            ?.some((d) => d.key === one || d.anyOf?.prefixes.some((p) => one.startsWith(p))),
        );
        assert.deepEqual(
          [...found].map(({ id }) => id).sort(),
          expected.map(({ id }) => id),
        );
      }
    }),
  );
});

test('a heap gives the smallest first', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(100))), (changes) => {
      const heap = new MinHeap();
      const naive: number[] = [];
      for (const change of changes) {
        if (change === null) assert.equal(heap.pop(), naive.sort((a, b) => a - b).shift());
        else {
          heap.push(change);
          naive.push(change);
        }
        assert.equal(heap.size, naive.length);
      }
    }),
  );
});

test('equality is that of structure; an undefined field is an absent one', () => {
  const value = fc.jsonValue();
  fc.assert(
    fc.property(value, value, (a, b) => {
      assert.equal(deepEqual(a, structuredClone(a)), true);
      assert.equal(deepEqual(a, b), JSON.stringify(sorted(a)) === JSON.stringify(sorted(b)));
    }),
  );
  assert.equal(deepEqual({ a: 1, b: undefined }, { a: 1 }), true);
  assert.equal(deepEqual({ a: undefined }, { b: undefined }), true);
  assert.equal(deepEqual({ a: undefined, b: 1 }, { a: 1 }), false);
  assert.equal(deepEqual([], {}), false);
  assert.equal(deepEqual({}, null), false);
  assert.equal(deepEqual(1n, 1n), true);
  assert.equal(deepEqual(Uint8Array.of(1, 2), Uint8Array.of(1, 2)), true);
  assert.equal(deepEqual(Uint8Array.of(1, 2), [1, 2]), false);
  assert.equal(deepEqual(Number.NaN, Number.NaN), true);
});

function sorted(value: unknown): unknown {
  if (typeof value === 'number') return value === 0 ? 0 : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([name, one]) => [name, sorted(one)]));
}
