import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { ManualClock } from '#infra/clock/manual.ts';
import { metricsRoute } from '#infra/metrics/routes.ts';

const request = { query: {}, params: {}, body: undefined };

describe('the metrics route', () => {
  it('collects once a second for any number of requests', async () => {
    const clock = new ManualClock();
    let collections = 0;
    const refresh = async () => void collections++;
    const { handle } = metricsRoute('/metrics', new Registry(), clock, refresh);
    await Promise.all(Array.from({ length: 100 }, () => handle(request)));
    await clock.advance(999);
    await handle(request);
    assert.equal(collections, 1);
    await clock.advance(1);
    await handle(request);
    assert.equal(collections, 2);
  });

  it('does not collect twice at the same time, which would add counters twice', async () => {
    const clock = new ManualClock();
    const waiting: (() => void)[] = [];
    const refresh = () => new Promise<void>((resolve) => waiting.push(resolve));
    const { handle } = metricsRoute('/metrics', new Registry(), clock, refresh);
    const first = handle(request);
    await clock.advance(5_000);
    const second = handle(request);
    assert.equal(waiting.length, 1);
    waiting[0]!();
    assert.equal((await second).body, (await first).body);
    void handle(request);
    assert.equal(waiting.length, 2);
  });

  it('collects again after a failure', async () => {
    let fails = true;
    const refresh = async () => {
      if (fails) throw new Error('no');
    };
    const { handle } = metricsRoute('/metrics', new Registry(), new ManualClock(), refresh);
    await assert.rejects(async () => handle(request));
    fails = false;
    assert.equal((await handle(request)).status, 200);
  });
});
