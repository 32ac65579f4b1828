/** A map of the kernel without space. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { BpfMap, type Entry } from '#linux/bpf/map.ts';
import { encodeNumber } from '#linux/socket-services/layout.ts';
import { withoutSocketHooks } from '#test/support/requirements.ts';

describe('a full map', { skip: withoutSocketHooks() }, () => {
  const entry = (number: number): Entry => [encodeNumber(number), encodeNumber(number)];
  const isFull = { message: /map slots is full: it has 4 entries/, errno: 'E2BIG' };

  test('names itself and its size, and has place again after a removal', async () => {
    const shape = { kind: 'hash', keyLength: 4, valueLength: 4, maxEntries: 4 } as const;
    const map = BpfMap.create('slots', shape);
    try {
      await map.setAll([0, 1, 2, 3].map(entry), systemClock);
      assert.throws(() => map.set(...entry(4)), isFull);
      await assert.rejects(map.setAll([3, 4].map(entry), systemClock), isFull);
      map.set(...entry(3));
      map.delete(encodeNumber(0));
      map.set(...entry(4));
      assert.equal((await map.entries(systemClock)).length, 4);
    } finally {
      map.close();
    }
  });
});
