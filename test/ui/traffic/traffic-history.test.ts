import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Counters, TrafficHistory } from '../../../ui/src/traffic/traffic-history.ts';

const zero: Counters = {
  rxPackets: 0,
  rxBytes: 0,
  txPackets: 0,
  txBytes: 0,
  drops: 0,
  punts: 0,
  rxNoBuffer: 0,
  rxMiss: 0,
  rxErrors: 0,
  txErrors: 0,
};

const START = Date.parse('2026-11-23T00:00:00Z');

/** A collection so many seconds after the start. */
function collection(seconds: number, counters: Partial<Counters>, name = 'tap1') {
  return {
    collectedAt: new Date(START + seconds * 1_000).toISOString(),
    interfaces: [[name, { ...zero, ...counters }] as const],
  };
}

describe('rates of an interface', () => {
  it('are the growth of its counters per second, as VPP or the other side sees them', () => {
    for (const [side, inBits, outBits] of [
      ['vpp', 1_600, 160],
      ['peer', 160, 1_600],
    ] as const) {
      const history = new TrafficHistory(side);
      history.add(collection(0, { rxBytes: 1_000, txBytes: 50, drops: 7 }));
      assert.equal(history.latest('tap1'), undefined);
      history.add(
        collection(5, { rxBytes: 2_000, txBytes: 150, drops: 12, rxErrors: 5, rxMiss: 5 }),
      );
      assert.deepEqual(history.latest('tap1'), {
        inBits,
        outBits,
        inPackets: 0,
        outPackets: 0,
        drops: 1,
        errors: 2,
      });
    }
  });

  it('are unknown for an interval in which a counter began again, and known after it', () => {
    const history = new TrafficHistory('vpp');
    history.add(collection(0, { rxBytes: 9_000, txBytes: 10 }));
    history.add(collection(5, { rxBytes: 10_000, txBytes: 20 }));
    // VPP was restarted: one counter is larger already, another one is not
    history.add(collection(10, { rxBytes: 500, txBytes: 30 }));
    assert.equal(history.latest('tap1'), undefined);
    history.add(collection(15, { rxBytes: 1_000, txBytes: 30 }));
    assert.deepEqual(
      history.points('tap1').map(({ at, rates }) => [at - START / 1_000, rates?.inBits]),
      [
        [5, 1_600],
        [10, undefined],
        [15, 800],
      ],
    );
  });

  it('are unknown over a time in which the page was hidden', () => {
    const history = new TrafficHistory('vpp');
    history.add(collection(0, {}));
    history.add(collection(31, { rxBytes: 1_000 }));
    assert.equal(history.latest('tap1'), undefined);
    history.add(collection(36, { rxBytes: 2_000 }));
    assert.equal(history.latest('tap1')!.inBits, 1_600);
  });

  it('do not change with a collection that is known, or older, or without counters', () => {
    const history = new TrafficHistory('vpp');
    history.add(collection(0, {}));
    history.add(collection(5, { rxBytes: 1_000 }));
    const points = history.points('tap1');
    history.add(collection(5, { rxBytes: 1_000 }));
    history.add(collection(4, { rxBytes: 800 }));
    history.add({ collectedAt: null, interfaces: [] });
    assert.equal(history.points('tap1'), points);
  });

  it('are kept for the last 60 intervals, and for ten minutes after the last collection with the interface', () => {
    const history = new TrafficHistory('vpp');
    for (let n = 0; n <= 70; n++) history.add(collection(n * 5, { rxBytes: n }));
    const points = history.points('tap1');
    assert.equal(points.length, 60);
    assert.equal(points.at(-1)!.at - points[0]!.at, 59 * 5);
    history.add(collection(70 * 5 + 600, {}, 'tap2'));
    assert.equal(history.points('tap1').length, 60);
    history.add(collection(70 * 5 + 601, {}, 'tap2'));
    assert.deepEqual(history.points('tap1'), []);
  });
});
