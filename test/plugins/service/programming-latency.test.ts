import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { ManualClock } from '#infra/clock/manual.ts';
import { endpointsModel } from '#kubernetes/models/endpoints.ts';
import type { Event } from '#plugins/controller/api/event.ts';
import { KubeStateChange } from '#plugins/controller/api/events.ts';
import { ProgrammingLatency } from '#plugins/service/programming-latency.ts';

const NAME = 'kubeproxy_network_programming_duration_seconds';

function setUp() {
  const registry = new Registry();
  const clock = new ManualClock();
  const latency = new ProgrammingLatency(registry, clock);
  const changedAt = (secondsAgo: number) =>
    endpointsModel.canonical({
      name: 'web',
      namespace: 'default',
      last_change_trigger_time: new Date(clock.wallTime() - secondsAgo * 1000).toISOString(),
    });
  return {
    changedAt,
    process: (
      current: object | undefined,
      previous?: object,
      error?: Error,
      resource: 'service' | 'endpoints' = 'endpoints',
    ) => {
      const payload = { resource, key: 'k8s/endpoints/web/namespace/default', previous, current };
      latency.observe(KubeStateChange.event(payload) as Event, error);
    },
    observed: async () => {
      const { values } = await registry.getSingleMetric(NAME)!.get();
      const value = (suffix: string) =>
        values.find((found) => 'metricName' in found && found.metricName === NAME + suffix)?.value;
      return { count: value('_count') ?? 0, sum: value('_sum') ?? 0 };
    },
  };
}

describe('time until a change of endpoints is in VPP', () => {
  it('is from the time in the record to the end of the event', async () => {
    const { changedAt, process, observed } = setUp();
    process(changedAt(2));
    process(changedAt(3), changedAt(7));
    assert.deepEqual(await observed(), { count: 2, sum: 5 });
  });

  it('is not observed again, nor for what has failed, was deleted, or has no time', async () => {
    const { changedAt, process, observed } = setUp();
    process(changedAt(2), changedAt(2));
    process(changedAt(2), undefined, new Error('VPP'));
    process(undefined, changedAt(2));
    process({ ...changedAt(2), last_change_trigger_time: '' });
    process(changedAt(2), undefined, undefined, 'service');
    assert.deepEqual(await observed(), { count: 0, sum: 0 });
  });

  it('is zero when the clock of the other machine is ahead', async () => {
    const { changedAt, process, observed } = setUp();
    process(changedAt(-5));
    assert.deepEqual(await observed(), { count: 1, sum: 0 });
  });
});
