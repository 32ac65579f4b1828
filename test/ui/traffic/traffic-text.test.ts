import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Rates } from '../../../ui/src/traffic/traffic-history.ts';
import {
  bitRateText,
  chartText,
  perSecondText,
  trafficText,
} from '../../../ui/src/traffic/traffic-text.ts';

const rates: Rates = {
  inBits: 12_000,
  outBits: 3_000,
  inPackets: 10,
  outPackets: 5,
  drops: 0,
  errors: 0,
};

describe('rates in words', () => {
  it('have at most three digits before their unit', () => {
    const texts = [0, 0.4, 9.96, 12, 999.4, 999.6, 1_500, 12_345, 1_234_567_890, 5e15];
    assert.deepEqual(texts.map(bitRateText), [
      '0 bit/s',
      '0.4 bit/s',
      '10 bit/s',
      '12 bit/s',
      '999 bit/s',
      '1 kbit/s',
      '1.5 kbit/s',
      '12 kbit/s',
      '1.2 Gbit/s',
      '5 Pbit/s',
    ]);
  });

  it('do not call a small loss none', () => {
    assert.deepEqual([0, 0.01, 0.2, 3, 1_200].map(perSecondText), [
      '0/s',
      '<0.1/s',
      '0.2/s',
      '3/s',
      '1.2 k/s',
    ]);
  });

  it('say in, out and drops, or that they are unknown', () => {
    assert.equal(trafficText(rates), 'in 12 kbit/s, out 3 kbit/s, drops 0/s');
    assert.equal(trafficText(undefined), 'rates unknown');
  });
});

describe('text in place of a chart', () => {
  it('says the present rates and the highest ones', () => {
    const points = [
      { at: 0, rates: { ...rates, inBits: 2e6 } },
      { at: 5, rates: undefined },
      { at: 10, rates },
    ];
    assert.equal(
      chartText(points),
      'in 12 kbit/s, out 3 kbit/s, drops 0/s; highest of the last 10 s: in 2 Mbit/s, out 3 kbit/s',
    );
  });

  it('says that nothing is known', () => {
    assert.equal(chartText([]), 'rates unknown yet');
    assert.equal(chartText([{ at: 0, rates: undefined }]), 'rates unknown yet');
  });
});
