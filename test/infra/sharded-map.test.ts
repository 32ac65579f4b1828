import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { ShardedMap } from '#infra/collections/sharded-map.ts';

const change = fc.record({
  name: fc.string({ maxLength: 2 }),
  value: fc.option(fc.nat(), { nil: undefined }),
});

test('it has what a map has', () => {
  fc.assert(
    fc.property(fc.array(change), (changes) => {
      const [sharded, map] = [new ShardedMap<number>(), new Map<string, number>()];
      for (const { name, value } of changes) {
        assert.equal(sharded.get(name), map.get(name));
        if (value === undefined) assert.equal(sharded.delete(name), map.delete(name));
        else sharded.set(name, value);
        if (value !== undefined) map.set(name, value);
      }
      assert.deepEqual(new Map(sharded), map);
      sharded.clear();
      assert.deepEqual([...sharded], []);
    }),
  );
});
