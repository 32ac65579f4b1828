import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { ManualClock } from '#infra/clock/manual.ts';
import { parseConfig } from '#infra/config/load.ts';
import { silentLogger } from '#infra/log/log.ts';
import { type MetricGroup, metricGroups, telemetrySchema } from '#vpp/telemetry/config.ts';
import { TelemetryMetrics } from '#vpp/telemetry/metrics.ts';
import { TelemetryPoll } from '#vpp/telemetry/poll.ts';
import { counters, FakeStatistics } from './fake-statistics.ts';

const INTERVAL_MS = 30_000;

let statistics: FakeStatistics;
let registry: Registry;

function makeMetrics(groups: readonly MetricGroup[]): TelemetryMetrics {
  return new TelemetryMetrics(statistics, new Set(groups), registry, 'node1');
}

async function shown(): Promise<string[]> {
  return (await registry.metrics()).split('\n').filter((line) => /^vpp_/.test(line));
}

beforeEach(() => {
  registry = new Registry();
  statistics = new FakeStatistics();
  Object.assign(statistics.found, {
    interfaces: [counters(3, 'tap0', { rxBytes: 7n })],
    nodeErrors: [{ node: 'ip4-input', reason: 'bad checksum', count: 5n }],
    nodes: [
      { index: 9, name: 'ip4-lookup', calls: 2n, vectors: 512n, suspends: 0n, clocks: 1024n },
    ],
    system: {
      workers: 0,
      vectorRates: [],
      loopRates: [],
      heaps: [
        { name: 'main heap', total: 100, used: 30, free: 70, trimmable: 60 },
        { name: 'stat segment', total: 1, used: 1, free: 0, trimmable: 0 },
      ],
      bufferPools: [{ name: 'default-numa-0', used: 4, cached: 2, available: 10 }],
    },
  });
});

describe('the metrics of the original', () => {
  it('have its names and labels', async () => {
    const metrics = makeMetrics(metricGroups);
    await metrics.read();
    const lines = await shown();
    const item = 'agent="node1",item="ip4-lookup",thread="ALL",threadID="0"';
    const heap = 'agent="node1",thread="vpp_main",threadID="0"';
    const pool = 'agent="node1",threadID="0",item="default-numa-0",index="0"';
    for (const line of [
      `vpp_runtime_calls{${item}} 2`,
      `vpp_runtime_vectors{${item}} 512`,
      `vpp_runtime_suspends{${item}} 0`,
      `vpp_runtime_clocks{${item}} 1024`,
      `vpp_runtime_vectors_per_call{${item}} 256`,
      `vpp_memory_used{${heap}} 30`,
      `vpp_memory_total{${heap}} 100`,
      `vpp_memory_free{${heap}} 70`,
      `vpp_memory_reclaimed{${heap}} 60`,
      `vpp_memory_size{${heap}} 100`,
      `vpp_buffers_alloc{${pool}} 4`,
      `vpp_buffers_free{${pool}} 10`,
      'vpp_nodes_counter{agent="node1",item="ip4-input",reason="bad checksum"} 5',
      'vpp_interfaces_rx_bytes{agent="node1",name="tap0",index="3"} 7',
    ])
      assert.ok(
        lines.some((one) => sorted(one) === sorted(line)),
        line,
      );
    assert.equal(lines.length, 5 + 5 + 2 + 1 + 12);
  });

  it('do not read what is skipped', async () => {
    const metrics = makeMetrics(['buffers']);
    await metrics.read();
    const names = new Set((await shown()).map((line) => line.split('{')[0]));
    assert.deepEqual([...names].sort(), ['vpp_buffers_alloc', 'vpp_buffers_free']);
    assert.equal(statistics.calls, 1);
  });

  it('drop interfaces that VPP no longer has', async () => {
    const metrics = makeMetrics(['interfaces']);
    await metrics.read();
    statistics.found.interfaces = [];
    await metrics.read();
    assert.deepEqual(await shown(), []);
  });
});

describe('the metrics of a node with tunnels to 5,000 others', () => {
  it('are not kept: a poll keeps what it has read, and a scrape makes them', async () => {
    const metrics = makeMetrics(['interfaces']);
    const rows = Array.from({ length: 5_000 }, (_, at) =>
      counters(at, `vxlan_tunnel${at}`, { rxBytes: 1n }),
    );
    statistics.found.interfaces = rows;
    await metrics.read();
    assert.equal((await shown()).length, 12 * 5_000);
    const before = process.cpuUsage();
    for (let poll = 0; poll < 20; poll++) await metrics.read();
    const { user, system } = process.cpuUsage(before);
    const eachMs = (user + system) / 20_000;
    assert.ok(eachMs < 20, `${eachMs} ms each`);
  });
});

describe('the poll', () => {
  const start = (clock: ManualClock, isConnected = true) => {
    const metrics = makeMetrics(['nodes']);
    let report: (isConnected: boolean) => void = () => undefined;
    const poll = new TelemetryPoll({
      metrics,
      onConnection: (listener) => {
        report = listener;
        listener(isConnected);
      },
      intervalMs: INTERVAL_MS,
      clock,
      log: silentLogger,
    });
    poll.init();
    return { poll, report: (connected: boolean) => report(connected) };
  };

  it('reads when VPP connects and then at the interval', async () => {
    const clock = new ManualClock();
    const { poll, report } = start(clock, false);
    await clock.advance(INTERVAL_MS);
    assert.equal(statistics.calls, 0);
    report(true);
    await clock.advance(INTERVAL_MS - 1);
    assert.equal(statistics.calls, 1);
    await clock.advance(1);
    assert.equal(statistics.calls, 2);
    await poll.close();
    await clock.advance(10 * INTERVAL_MS);
    assert.equal(statistics.calls, 2);
  });

  it('shows nothing of a VPP that is lost or cannot be read', async () => {
    const clock = new ManualClock();
    const { poll, report } = start(clock);
    await clock.advance(1);
    assert.equal((await shown()).length, 1);
    report(false);
    assert.deepEqual(await shown(), []);
    report(true);
    await clock.advance(1);
    assert.equal((await shown()).length, 1);
    statistics.failure = new Error('no segment');
    await clock.advance(INTERVAL_MS);
    assert.deepEqual(await shown(), []);
    await poll.close();
  });
});

describe('telemetry.conf', () => {
  const parse = (text: string) => parseConfig(telemetrySchema, text, 'telemetry.conf').value;

  it("accepts the original's file", () => {
    const value = parse('polling-interval: 30000000000\ndisabled: true\n');
    assert.equal(value['polling-interval'], 30_000_000_000);
    assert.equal(value.disabled, true);
    assert.deepEqual(parse('skipped: [nodes, runtime]').skipped, ['nodes', 'runtime']);
  });

  it('refuses an interval below a second, and unknown metrics', () => {
    assert.throws(() => parse('polling-interval: 999ms'), /at least 1s/);
    assert.throws(() => parse('polling-interval: 30'), /at least 1/);
    assert.throws(() => parse('skipped: [node]'), /skipped/);
  });
});

/** A line with its labels in order. */
function sorted(line: string): string {
  return line.replace(/\{(.*)\}/, (_, labels: string) => `{${labels.split(',').sort().join(',')}}`);
}
