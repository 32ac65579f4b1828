import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { backendShares, MAX_BACKENDS } from '#plugins/service/nat44/backend-shares.ts';
import type { Backend } from '#plugins/service/rendered-service.ts';

const backends = (local: number, remote: number): Backend[] =>
  [...Array(local).fill(true), ...Array(remote).fill(false)].map((isLocal: boolean, at) => ({
    address: `10.1.${isLocal ? 1 : 2}.${at}`,
    port: 80,
    nodeName: isLocal ? 'node-a' : 'node-b',
    isLocal,
    place: 'pod',
  }));

const sum = (shares: readonly number[]) => shares.reduce((all, one) => all + one, 0);

describe('shares of backends', () => {
  it('are even, so that the alternating bit of the random number of VPP does not matter', () => {
    assert.deepEqual(backendShares(backends(1, 2), 1), [2, 2, 2]);
    assert.deepEqual(backendShares(backends(1, 2), 5), [10, 2, 2]);
    assert.deepEqual(backendShares(backends(1, 0), 5), [10]);
  });

  it('fit in a byte, and none is 0', () => {
    for (const weight of [1, 2, 3, 100, 255])
      for (const local of [0, 1, 2, 10, 127, 128, 254])
        for (const remote of [0, 1, 100, 254]) {
          if (local + remote === 0 || local + remote > MAX_BACKENDS) continue;
          const shares = backendShares(backends(local, remote), weight);
          const text = `weight ${weight}, ${local} local, ${remote} remote`;
          assert.ok(sum(shares) <= 255, text);
          assert.ok(
            shares.every((share) => share >= 1),
            text,
          );
        }
  });

  it('rarely change with the number of backends: VPP cannot change them in place', () => {
    const changes = (weight: number): number => {
      let count = 0;
      for (let local = 2; local <= 254; local++)
        if (
          backendShares(backends(local, 0), weight)[0] !==
          backendShares(backends(local - 1, 0), weight)[0]
        )
          count++;
      return count;
    };
    assert.equal(changes(1), 1);
    assert.ok(changes(10) <= 5);
  });
});
