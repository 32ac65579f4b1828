import assert from 'node:assert/strict';
import { test } from 'node:test';
import { casesOfPart } from './part-of-cases.ts';

test('a case is in exactly one part, and neighbors are in different ones', () => {
  const cases = [...'abcdefghij'];
  const parts = [1, 2, 3, 4].map((number) => casesOfPart(cases, `${number}/4`).join(''));
  assert.deepEqual(parts, ['aei', 'bfj', 'cg', 'dh']);
});

test('with fewer cases than parts, each part has one case and each case is in a part', () => {
  const parts = [1, 2, 3, 4].map((number) => casesOfPart(['IPv4', 'IPv6'], `${number}/4`));
  assert.deepEqual(parts, [['IPv4'], ['IPv6'], ['IPv4'], ['IPv6']]);
});
