/** The index of dependencies, compared with a naive one. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { Dependency } from '#kvscheduler/api/descriptor.ts';
import { DependencyIndex } from '#kvscheduler/graph/dependency-index.ts';

const key = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 5 });

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
        const expected = names.filter((owner) =>
          naive
            .get(owner)
            ?.some((d) => d.key === one || d.anyOf?.prefixes.some((p) => one.startsWith(p))),
        );
        assert.deepEqual(
          index
            .find(one)
            .map(({ id }) => id)
            .sort(),
          expected.map(({ id }) => id),
        );
      }
    }),
  );
});
