import assert from 'node:assert/strict';
import test, { describe, it } from 'node:test';
import fc from 'fast-check';
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

describe('reading keys block by block', () => {
  const keys = fc.array(fc.stringMatching(/^[ab]\/[0-9]{1,4}$/), { maxLength: 1_500 });

  it('returns all keys with the prefix, in order', () => {
    fc.assert(
      fc.property(keys, fc.constantFrom('', 'a/', 'a/1', 'b/', 'c'), (all, prefix) => {
        const index = new KeyIndex();
        for (const key of all) index.add(key);
        const met: string[] = [];
        for (let some = index.next(prefix); some.length > 0; some = index.next(prefix, met.at(-1)))
          met.push(...some);
        assert.deepEqual(met, [...index.withPrefix(prefix)]);
        assert.deepEqual(met, [...new Set(all)].filter((key) => key.startsWith(prefix)).sort());
      }),
      { numRuns: 60 },
    );
  });

  it('misses no key that stays while others are added and removed', () => {
    fc.assert(
      fc.property(keys, keys, keys, (staying, coming, going) => {
        const index = new KeyIndex();
        const stays = new Set(staying);
        const goes = new Set(going.filter((key) => !stays.has(key)));
        for (const key of [...stays, ...goes]) index.add(key);
        const met: string[] = [];
        for (let some = index.next(''); some.length > 0; some = index.next('', met.at(-1))) {
          met.push(...some);
          for (const key of coming.splice(0, 200)) index.add(key);
          for (const key of [...goes].slice(0, 200)) {
            goes.delete(key);
            index.delete(key);
          }
        }
        assert.deepEqual(met, [...new Set(met)].sort());
        for (const key of stays) assert.ok(met.includes(key), key);
      }),
      { numRuns: 40 },
    );
  });
});
