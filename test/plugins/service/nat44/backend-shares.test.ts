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

/** How often VPP chooses each backend: its generator, and the search for the share of the number. */
function chosen(shares: readonly number[], drawsOfSession: number): number[] {
  const counts = Array<number>(shares.length).fill(0);
  let seed = 1;
  const draw = (): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed;
  };
  for (let session = 0; session < shares.length * 100; session++) {
    const chosenShare = 1 + (draw() % sum(shares));
    let [at, reached] = [0, shares[0]!];
    while (reached < chosenShare) reached += shares[++at]!;
    counts[at]!++;
    for (let other = 1; other < drawsOfSession; other++) draw();
  }
  return counts;
}

const sum = (shares: readonly number[]) => shares.reduce((all, one) => all + one, 0);

describe('shares of backends', () => {
  it('are even, so that the alternating bit of the random number of VPP does not matter', () => {
    assert.deepEqual(backendShares(backends(1, 2), 1, false), [2, 2, 2]);
    assert.deepEqual(backendShares(backends(1, 2), 5, false), [10, 2, 2]);
    assert.deepEqual(backendShares(backends(1, 0), 5, false), [10]);
  });

  it('fit in a byte, and none is 0', () => {
    for (const weight of [1, 2, 3, 100, 255])
      for (const local of [0, 1, 2, 10, 127, 128, 254])
        for (const remote of [0, 1, 100, 254]) {
          if (local + remote === 0 || local + remote > MAX_BACKENDS) continue;
          for (const replacesClient of [false, true]) {
            const shares = backendShares(backends(local, remote), weight, replacesClient);
            const text = `weight ${weight}, ${local} local, ${remote} remote`;
            assert.ok(sum(shares) <= 255, text);
            assert.ok(
              shares.every((share) => share >= 1),
              text,
            );
          }
        }
  });

  it('let VPP choose every backend, although a session with twice-NAT draws two numbers', () => {
    for (const count of [1, 2, 64, 126, 127, 128, 129, 200, 201, 253, 254])
      for (const replacesClient of [false, true]) {
        const shares = backendShares(backends(0, count), 1, replacesClient);
        const counts = chosen(shares, replacesClient ? 2 : 1);
        const expected = shares.map((share) => (counts.length * 100 * share) / sum(shares));
        const chiSquare = counts.reduce(
          (all, one, at) => all + (one - expected[at]!) ** 2 / expected[at]!,
          0,
        );
        const limit = count + 5 * Math.sqrt(2 * count);
        assert.ok(chiSquare < limit, `${count} backends: ${chiSquare}, limit ${limit}`);
      }
  });

  it('change together above 127 backends, and not with each one', () => {
    const changed = (count: number, replacesClient: boolean): number => {
      const [before, after] = [count - 1, count].map((one) =>
        backendShares(backends(0, one), 1, replacesClient),
      );
      return before!.filter((share, at) => share !== after![at]).length;
    };
    for (let count = 2; count <= MAX_BACKENDS; count++) {
      assert.equal(changed(count, false), count === 128 ? 127 : 0, `${count}`);
      if (count !== 128) assert.ok(changed(count, true) <= 1, `${count}`);
    }
  });

  it('rarely change with the number of backends: VPP cannot change them in place', () => {
    const changes = (weight: number): number => {
      let count = 0;
      for (let local = 2; local <= 254; local++)
        if (
          backendShares(backends(local, 0), weight, false)[0] !==
          backendShares(backends(local - 1, 0), weight, false)[0]
        )
          count++;
      return count;
    };
    assert.equal(changes(1), 1);
    assert.ok(changes(10) <= 5);
  });
});
