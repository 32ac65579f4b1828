import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { ManualClock } from '#infra/clock/manual.ts';
import { RecentSummary } from '#infra/metrics/recent-summary.ts';

function summary() {
  const registry = new Registry();
  const clock = new ManualClock();
  const times = new RecentSummary({
    name: 'times',
    help: 'Times.',
    label: 'of',
    percentiles: [0.5, 0.99],
    maxAgeMs: 30_000,
    registers: [registry],
    clock,
  });
  return { times, clock, text: async () => (await registry.metrics()).split('\n') };
}

describe('a summary of recent observations', () => {
  it('shows quantiles, sum and count of each label in the format of Prometheus', async () => {
    const { times, text } = summary();
    for (let n = 100; n > 0; n--) times.add('x', n);
    times.add('y', 7);
    assert.deepEqual(await text(), [
      '# HELP times Times.',
      '# TYPE times summary',
      'times{quantile="0.5",of="x"} 50',
      'times{quantile="0.99",of="x"} 99',
      'times_sum{of="x"} 5050',
      'times_count{of="x"} 100',
      'times{quantile="0.5",of="y"} 7',
      'times{quantile="0.99",of="y"} 7',
      'times_sum{of="y"} 7',
      'times_count{of="y"} 1',
      '',
    ]);
  });

  it('drops old observations in its quantiles, and nothing in its sum', async () => {
    const { times, clock, text } = summary();
    times.add('x', 1);
    await clock.advance(20_000);
    for (const value of [2, 4]) times.add('x', value);
    await clock.advance(20_000);
    assert.equal((await text())[2], 'times{quantile="0.5",of="x"} 2');
    await clock.advance(20_000);
    assert.deepEqual((await text()).slice(2, 6), [
      'times{quantile="0.5",of="x"} 0',
      'times{quantile="0.99",of="x"} 0',
      'times_sum{of="x"} 7',
      'times_count{of="x"} 3',
    ]);
  });

  it('is bounded: of very many, the latest count', async () => {
    const { times, text } = summary();
    for (let n = 0; n < 2_000; n++) times.add('x', n < 1_000 ? 1_000_000 : n);
    const [, , median, p99, , count] = await text();
    assert.equal(median, 'times{quantile="0.5",of="x"} 1743');
    assert.equal(p99, 'times{quantile="0.99",of="x"} 1994');
    assert.equal(count, 'times_count{of="x"} 2000');
  });
});
