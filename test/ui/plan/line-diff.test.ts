import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lineDiff } from '../../../ui/src/views/plan/line-diff.ts';

const text = (before: object | null, after: object | null): string =>
  lineDiff(before, after)
    .lines.map(({ sign, text: line }) => sign + line.trim())
    .join('|');

describe('difference of two values', () => {
  it('has the changed lines, and two around them', () => {
    assert.equal(
      text({ a: 1, b: 2, c: 3 }, { a: 1, b: 4, c: 3 }),
      ' {| "a": 1,|-"b": 2,|+"b": 4,| "c": 3| }',
    );
  });

  it('keeps equal lines between changes', () => {
    assert.equal(text([1, 2, 3], [2, 3, 4]), ' [|-1,| 2,|-3|+3,|+4| ]');
  });

  it('is everything, where a value comes or goes', () => {
    assert.equal(text(null, { a: 1 }), '+{|+"a": 1|+}');
    assert.equal(text({ a: 1 }, null), '-{|-"a": 1|-}');
  });

  it('is cut for large values', () => {
    const many = (offset: number) => Array.from({ length: 5_000 }, (_, at) => at + offset);
    const { lines, omitted } = lineDiff(many(0), many(10_000));
    assert.equal(lines.length, 200);
    assert.ok(omitted > 9_000);
  });
});
