import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  BOX,
  lineWidth,
  MAX_OTHERS,
  mapLayout,
  type Place,
  shortName,
} from '../../../ui/src/views/nodes/map-layout.ts';

function overlap(a: Place, b: Place): boolean {
  return Math.abs(a.x - b.x) < BOX.width && Math.abs(a.y - b.y) < BOX.height;
}

describe('the map', () => {
  it('has all boxes inside, and none upon another one', () => {
    for (let count = 0; count <= MAX_OTHERS; count++) {
      const { width, height, center, others } = mapLayout(count);
      assert.equal(others.length, count);
      const places = [center, ...others];
      for (const [position, place] of places.entries()) {
        assert.ok(place.x >= BOX.width / 2 && place.x <= width - BOX.width / 2, `${count}`);
        assert.ok(place.y >= BOX.height / 2 && place.y <= height - BOX.height / 2, `${count}`);
        for (const other of places.slice(position + 1))
          assert.ok(!overlap(place, other), `${count} others: ${JSON.stringify([place, other])}`);
      }
    }
  });

  it('has thicker lines for more traffic, up to a limit', () => {
    const widths = [undefined, 0, 1, 1e3, 1e6, 1e9, 1e10].map(lineWidth);
    assert.deepEqual(
      widths,
      widths.toSorted((a, b) => a - b),
    );
    assert.equal(lineWidth(undefined), lineWidth(0));
    assert.ok(lineWidth(1e6) > lineWidth(1e3));
    assert.equal(lineWidth(1e12), lineWidth(1e10));
  });

  it('shortens names that are too long for a box', () => {
    assert.equal(shortName('node2'), 'node2');
    assert.equal(shortName('worker-12.eu.example.net'), 'worker-12.eu.…');
  });
});
