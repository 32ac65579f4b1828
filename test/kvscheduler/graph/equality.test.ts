import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { deepEqual } from '#kvscheduler/graph/equality.ts';

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
