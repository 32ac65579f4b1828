import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { diffOf } from '../../../ui/src/components/value-diff.ts';

const shown = (before: unknown, after: unknown) =>
  diffOf(before, after).changes.map(
    ({ path, kind, before: old = '', after: now = '' }) => `${kind} ${path} ${old}→${now}`,
  );

describe('the difference of two values', () => {
  it('lists fields that were added, removed and changed', () => {
    assert.deepEqual(
      shown({ name: 'tap0', mtu: 1500, tap: { version: 1 } }, { name: 'tap0', mtu: 1450, vrf: 1 }),
      ['changed mtu 1500→1450', 'removed tap.version 1→', 'added vrf →1'],
    );
    assert.equal(diffOf({ name: 'tap0', mtu: 1 }, { name: 'tap0', mtu: 2 }).equal, 1);
  });

  it('lists every field of a value that was created or deleted', () => {
    const value = { name: 'tap0', addresses: ['10.1.1.1/24'], tap: {} };
    assert.deepEqual(shown(undefined, value), [
      'added name →"tap0"',
      'added addresses[0] →"10.1.1.1/24"',
      'added tap →{}',
    ]);
    assert.deepEqual(shown(value, null)[0], 'removed name "tap0"→');
    assert.deepEqual(diffOf(undefined, undefined), { changes: [], equal: 0 });
  });

  it('does not take what follows an item that was inserted or removed for changed', () => {
    const rules = ['a', 'b', 'c', 'd'].map((action) => ({ action, ports: [1, 2] }));
    const [a, b, c, d] = rules;
    assert.deepEqual(shown(rules, [a, c, d]), [
      'removed [1].action "b"→',
      'removed [1].ports[0] 1→',
      'removed [1].ports[1] 2→',
    ]);
    assert.deepEqual(shown([a, d], [a, b, d]).length, 3);
    assert.deepEqual(shown([a, d], [d, a]).length, 6);
    assert.equal(diffOf([a, b], [a, b, c]).equal, 6);
  });

  it('compares a removed item with the one in its place', () => {
    assert.deepEqual(shown([{ ip: '1', port: 80 }, 'x'], [{ ip: '2', port: 80 }, 'x']), [
      'changed [0].ip "1"→"2"',
    ]);
  });

  it('tells types apart, and shows a change of the type as one', () => {
    assert.deepEqual(shown({ v: 1 }, { v: '1' }), ['changed v 1→"1"']);
    assert.deepEqual(shown({ v: [1] }, { v: { a: 1 } }), ['changed v [1]→{"a":1}']);
    assert.deepEqual(shown({ v: null }, { v: 0 }), ['changed v null→0']);
  });

  it('compares long lists that have nothing in common', () => {
    const list = (from: number) => Array.from({ length: 3_000 }, (_, at) => from + at);
    assert.equal(diffOf(list(0), list(10_000)).changes.length, 3_000);
  });

  it('is empty exactly for equal values, and mirrored for swapped ones', () => {
    // JSON of protobuf has no null in its lists.
    const value = fc.object({
      withNullPrototype: false,
      values: [fc.integer(), fc.string(), fc.boolean()],
    });
    fc.assert(
      fc.property(value, value, (one, other) => {
        assert.deepEqual(diffOf(one, structuredClone(one)).changes, []);
        const forward = diffOf(one, other).changes;
        if (JSON.stringify(one) !== JSON.stringify(other) && forward.length === 0)
          // only the order of the fields differs
          assert.deepEqual(one, other);
      }),
    );
  });
});
