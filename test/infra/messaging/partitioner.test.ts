import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '#infra/clock/manual.ts';
import { hashPartition, partitionOf } from '#infra/messaging/partitioner.ts';

/** Computed with Go's hash/fnv as sarama's hash partitioner does: key, of 3 partitions, of 7. */
const golden: readonly (readonly [string, number, number])[] = [
  ['node1', 0, 6],
  ['node2', 0, 0],
  ['pod/a', 2, 1],
  ['x', 1, 0],
  ['é', 0, 2],
  ['a long key with 漢字', 0, 1],
];

test('a key is in the partition in which the original has it', () => {
  for (const [key, ofThree, ofSeven] of golden) {
    assert.equal(hashPartition(key, 3), ofThree, key);
    assert.equal(hashPartition(key, 7), ofSeven, key);
    assert.equal(partitionOf(key, 7, seededRandom(1)), ofSeven, key);
  }
});

test('messages without a key are spread over all partitions', () => {
  const random = seededRandom(1);
  const counts = [0, 0, 0, 0];
  for (let at = 0; at < 4000; at++) counts[partitionOf('', 4, random)]!++;
  for (const count of counts) assert.ok(count > 800, String(counts));
});
