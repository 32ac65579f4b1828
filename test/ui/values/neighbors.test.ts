import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type {
  RelatedValue,
  SingleValue,
  ValueDependency,
} from '#documents/scheduler/single-value.ts';
import { MAX_NEIGHBORS, neededBy, needing } from '../../../ui/src/views/values/neighbors.ts';

const none: SingleValue = {
  key: 'a',
  state: 'CONFIGURED',
  invalidFields: [],
  waitsFor: [],
  wantedBy: [],
  isAsDesired: true,
  desired: {},
  actual: {},
  metadata: null,
  derived: { total: 0, values: [] },
  dependencies: { total: 0, list: [] },
  dependents: { total: 0, values: [] },
};

const unmet: ValueDependency = {
  label: 'exists',
  isMet: false,
  values: [],
  hasMore: false,
  unavailable: [],
};

function keys(count: number, prefix: string): RelatedValue[] {
  return Array.from({ length: count }, (_, i) => ({ key: `${prefix}${i}`, state: 'CONFIGURED' }));
}

describe('values that one needs', () => {
  it('are its base, then those that are missing, then the others', () => {
    const list: ValueDependency[] = [
      { ...unmet, label: 'ready', isMet: true, values: keys(3, 'r'), hasMore: true },
      { ...unmet, label: 'b', isMet: true, values: [{ key: 'b', state: 'OBTAINED' }] },
      { ...unmet, key: 'missing' },
      { ...unmet, label: 'any', prefixes: ['x/', 'y/'], isSelective: true },
      { ...unmet, label: 'late', key: 'p', unavailable: [{ key: 'p', state: 'PENDING' }] },
    ];
    const base: RelatedValue = { key: 'base', state: 'FAILED' };
    const { neighbors, more } = neededBy({
      ...none,
      derivedFrom: base,
      dependencies: { total: 7, list },
    });
    assert.deepEqual(
      neighbors.map(({ key, text, state, relation, label }) => [key, text, state, relation, label]),
      [
        ['base', 'base', 'FAILED', 'base', 'derived from'],
        ['missing', 'missing', 'NONEXISTENT', 'unmet', 'exists'],
        [undefined, 'some keys with x/… or y/…', 'NONEXISTENT', 'unmet', 'any'],
        ['p', 'p', 'PENDING', 'unmet', 'late'],
        ['r0', 'r0', 'CONFIGURED', 'met', 'ready and 2+ more'],
        ['b', 'b', 'OBTAINED', 'met', ''],
      ],
    );
    assert.equal(more, 2);
  });
});

describe('values that need one', () => {
  const dependents = (count: number, isWaiting: boolean) =>
    keys(count, isWaiting ? 'w' : 'n').map((one) => ({ ...one, labels: ['exists'], isWaiting }));

  it('begin with those that wait, and leave places for derived ones', () => {
    const { neighbors, more } = needing({
      ...none,
      derived: { total: 300, values: keys(50, 'd') },
      dependents: { total: 60, values: [...dependents(8, true), ...dependents(42, false)] },
    });
    assert.equal(neighbors.length, MAX_NEIGHBORS);
    assert.equal(more, 348);
    assert.deepEqual(
      neighbors.map(({ relation }) => relation),
      [...Array(6).fill('waiting'), ...Array(6).fill('derived')],
    );
  });

  it('use all places, whichever there are', () => {
    const relations = (derived: number, waiting: number, others: number) => {
      const values = [...dependents(waiting, true), ...dependents(others, false)];
      const counts = new Map<string, number>();
      for (const { relation } of needing({
        ...none,
        derived: { total: derived, values: keys(derived, 'd') },
        dependents: { total: values.length, values },
      }).neighbors)
        counts.set(relation, (counts.get(relation) ?? 0) + 1);
      return Object.fromEntries(counts);
    };
    assert.deepEqual(relations(20, 0, 0), { derived: 12 });
    assert.deepEqual(relations(0, 20, 0), { waiting: 12 });
    assert.deepEqual(relations(0, 0, 20), { dependent: 12 });
    assert.deepEqual(relations(20, 1, 1), { waiting: 1, derived: 10, dependent: 1 });
    assert.deepEqual(relations(2, 1, 20), { waiting: 1, derived: 2, dependent: 9 });
    assert.deepEqual(relations(0, 0, 0), {});
  });
});
