import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { Slices } from '#infra/clock/slices.ts';
import { deepFreeze, deepFreezeInSlices } from '#infra/collections/deep-freeze.ts';
import { SharedMap } from '#infra/collections/shared-map.ts';

describe('a shared map', () => {
  it('shows others its current content, in all ways to read it', () => {
    const map = new SharedMap<string, { n: number }>([['a', { n: 1 }]]);
    const { view } = map;
    map.set('b', { n: 2 });
    map.delete('a');
    const content = [['b', { n: 2 }]];
    assert.deepEqual([...view], content);
    assert.deepEqual([...view.entries()], content);
    assert.deepEqual([[...view.keys()], [...view.values()]], [['b'], [{ n: 2 }]]);
    assert.deepEqual([view.size, view.has('a'), view.get('b')], [1, false, { n: 2 }]);
    const visited: unknown[] = [];
    view.forEach((value, key, self) => void visited.push([key, value, self === view]));
    assert.deepEqual(visited, [['b', { n: 2 }, true]]);
  });

  it('freezes its values with everything in them', () => {
    const map = new SharedMap([['a', { list: [{ n: 1 }] }]]);
    assert.throws(() => map.view.get('a')!.list.push({ n: 2 }), TypeError);
    assert.throws(() => {
      map.view.get('a')!.list[0]!.n = 2;
    }, TypeError);
  });
});

describe('freezing', () => {
  it('takes any data, in cycles, with bytes, and large', async () => {
    const cycle: Record<string, unknown> = { bytes: new Uint8Array(2), none: null, text: 'x' };
    cycle['self'] = [cycle];
    assert.equal(deepFreeze(cycle), cycle);
    assert.ok(Object.isFrozen(cycle) && Object.isFrozen(cycle['self']));
    const large = Array.from({ length: 300_000 }, (_, n) => ({ n }));
    await deepFreezeInSlices(large, new Slices(new ManualClock()));
    assert.ok(large.every(Object.isFrozen));
    assert.equal(deepFreeze(undefined), undefined);
  });
});
