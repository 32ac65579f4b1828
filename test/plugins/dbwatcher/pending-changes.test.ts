import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { KvChange, Revision } from '#datastore/api.ts';
import { PendingChanges } from '#plugins/dbwatcher/pending-changes.ts';

type Step =
  | { readonly change: readonly [key: string, value: string | undefined] }
  | { readonly hasten: readonly string[] }
  | { readonly take: number };

const REVISION = '1' as Revision;
const key = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const value = fc.constantFrom('1', '2', undefined);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(key, value).map((change) => ({ change })) },
  { weight: 1, arbitrary: fc.array(key, { maxLength: 2 }).map((hasten) => ({ hasten })) },
  { weight: 2, arbitrary: fc.nat(4).map((take) => ({ take })) },
);

describe('pending changes', () => {
  it('lead to the same state as all changes one by one, with one event of a key at most', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const database = new Map<string, string>();
        const known = new Map<string, string>();
        const pending = new PendingChanges(
          (one) => known.get(one.key) === one.value,
          () => false,
        );
        const apply = (map: Map<string, string>, one: Pick<KvChange, 'key' | 'value'>) => {
          if (one.value === undefined) map.delete(one.key);
          else map.set(one.key, one.value);
        };
        const take = (count: number) => {
          for (let left = count; left > 0; left--) {
            const next = pending.next();
            if (!next) return;
            assert.equal(next.value, database.get(next.key), 'an older value');
            assert.notEqual(next.value, known.get(next.key), 'nothing new');
            apply(known, next);
          }
        };
        for (const one of steps) {
          if ('change' in one) {
            const [changed, text] = one.change;
            const change = { key: changed, value: text, revision: REVISION, heard: 0 };
            apply(database, change);
            pending.add(change);
          } else if ('hasten' in one) pending.hasten(one.hasten);
          else take(one.take);
          const differing = ['a', 'b', 'c', 'd', 'e'].filter(
            (name) => database.get(name) !== known.get(name),
          );
          assert.equal(pending.size, differing.length);
        }
        take(pending.size);
        assert.deepEqual(known, database);
      }),
      { numRuns: 1_000 },
    );
  });

  it('are taken in their order, those that were hastened first', () => {
    const pending = new PendingChanges(
      () => false,
      () => false,
    );
    const add = (name: string) =>
      pending.add({ key: name, value: 'x', revision: REVISION, heard: 0 });
    for (const name of ['a', 'b', 'c', 'd', 'a']) add(name);
    pending.hasten(['d', 'unknown']);
    add('d');
    const taken: string[] = [];
    for (let next = pending.next(); next; next = pending.next()) {
      taken.push(next.key);
      if (next.key === 'b') add('e');
    }
    add('f');
    taken.push(pending.next()!.key);
    assert.deepEqual(taken, ['d', 'b', 'c', 'a', 'e', 'f']);
  });

  it('counts those of external configuration', () => {
    const known = new Set<string>();
    const pending = new PendingChanges(
      ({ key }) => known.has(key),
      (key) => key.startsWith('config/'),
    );
    const add = (key: string) => pending.add({ key, value: '', revision: REVISION, heard: 0 });
    for (const key of ['config/a', 'k8s/a', 'config/b', 'config/a']) add(key);
    assert.equal(pending.externalSize, 2);
    pending.hasten(['config/a']);
    known.add('config/b');
    add('config/b');
    assert.equal(pending.externalSize, 1);
    assert.equal(pending.next()?.key, 'config/a');
    assert.equal(pending.externalSize, 0);
  });
});
