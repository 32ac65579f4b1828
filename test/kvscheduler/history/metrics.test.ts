import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { ManualClock } from '#infra/clock/manual.ts';
import { SchedulerMetrics } from '#kvscheduler/history/metrics.ts';
import { type Bench, setUp } from '../support/setup.ts';

function setUpWithMetrics(): Bench & { lines(name: string): Promise<string[]> } {
  const registry = new Registry();
  const clock = new ManualClock();
  const observer = new SchedulerMetrics(registry, () => bench.scheduler, clock);
  const bench: Bench = setUp({ observer, window: 3 });
  const lines = async (name: string) =>
    (await registry.getSingleMetricAsString(`ligato_kvscheduler_${name}`))
      .split('\n')
      .filter((line) => !line.startsWith('#'))
      .map((line) => line.replace('ligato_kvscheduler_', ''));
  return { ...bench, lines };
}

const commit = (v: number) => ({
  description: '',
  mode: 'update' as const,
  values: new Map([['a/1', { v }]]),
  onFailure: 'best-effort' as const,
});

describe('metrics', () => {
  it('count transactions of every type, and their times', async () => {
    const bench = setUpWithMetrics();
    const { scheduler, southbound, clock, lines } = bench;
    southbound.fails = (_verb, key) => (key === 'a/2' ? new Error('no') : undefined);
    const retry = { periodMs: 1_000, maxAttempts: 1, exponential: false };
    await bench.commit({ 'a/1': { v: 1 }, 'a/2': { v: 1 } }, { retry });
    await clock.advance(1_000);
    scheduler.pushNotification([{ key: 'a/f0', value: { v: 1 } }]);
    await clock.advance(1);
    assert.deepEqual(await lines('txn_processed'), ['txn_processed 3']);
    const types = ['NBTransaction', 'RetryFailedOps', 'SBNotification'];
    for (const txn_type of types) {
      const durations = await lines('txn_duration_seconds');
      assert.ok(durations.includes(`txn_duration_seconds_count{txn_type="${txn_type}"} 1`));
      const waits = await lines('queue_wait_seconds');
      assert.ok(waits.includes(`queue_wait_seconds_count{txn_type="${txn_type}"} 1`));
    }
    const phases = await lines('txn_process_duration_seconds');
    for (const slice of ['preProcess', 'simulate', 'execute', 'record', 'postProcess', 'process'])
      assert.ok(
        phases.includes(`txn_process_duration_seconds_count{slice="${slice}Transaction"} 3`),
        slice,
      );
    assert.ok((await lines('commit_seconds')).includes('commit_seconds_count 1'));
    assert.deepEqual((await lines('values')).sort(), [
      'values{state="CONFIGURED"} 1',
      'values{state="FAILED"} 1',
      'values{state="OBTAINED"} 1',
      'values{state="RETRYING"} 0',
    ]);
    assert.notDeepEqual(await lines('history_bytes'), ['history_bytes 0']);
  });

  it('show the queue, the operations in flight and the time since the commit', async () => {
    const { scheduler, southbound, clock, lines } = setUpWithMetrics();
    let release = () => {};
    const replies = new Promise<void>((resolve) => {
      release = resolve;
    });
    const values = new Map(Array.from({ length: 5 }, (_, i) => [`b/${i}`, { v: 1 }]));
    southbound.repliesAfter = replies;
    const first = scheduler.commit({ ...commit(1), values });
    await clock.advance(1);
    assert.deepEqual(await lines('operations_in_flight'), ['operations_in_flight 3']);
    const others = Array.from({ length: 201 }, (_, v) => scheduler.commitIfRoom(commit(v)));
    const outcomes = Promise.allSettled(others);
    await clock.advance(7_000);
    assert.deepEqual(await lines('queue_length'), ['queue_length 200']);
    assert.deepEqual(await lines('queue_capacity'), ['queue_capacity 200']);
    assert.deepEqual(await lines('txn_dropped'), ['txn_dropped 1']);
    release();
    await first;
    assert.equal((await outcomes).filter(({ status }) => status === 'rejected').length, 1);
    assert.deepEqual(await lines('operations_in_flight'), ['operations_in_flight 0']);
    assert.deepEqual(await lines('queue_length'), ['queue_length 0']);
    const committed = await lines('commit_seconds');
    assert.ok(committed.includes('commit_seconds_count 201'));
    assert.ok(committed.includes('commit_seconds_bucket{le="5"} 0'), committed.join());
    assert.ok(committed.includes('commit_seconds_bucket{le="10"} 201'));
    assert.match((await lines('longest_stretch_seconds')).join(), /^longest_stretch_seconds \d/);
  });
});
