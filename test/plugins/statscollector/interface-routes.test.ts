import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { Registry } from 'prom-client';
import Value from 'typebox/value';
import type { InterfaceList } from '#documents/interfaces.ts';
import { ManualClock } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { UpdateContext } from '#plugins/controller/api/event-handler.ts';
import type { Attachment } from '#plugins/podmanager/api.ts';
import { DeletePod } from '#plugins/podmanager/api.ts';
import { createStatsCollector, type StatsCollector } from '#plugins/statscollector/plugin.ts';
import { type WiredStats, wireStats } from '#plugins/statscollector/wire-stats.ts';
import { ask } from '#test/plugins/policy/asked-route.ts';
import { counters, FakeStatistics } from '#test/vpp/telemetry/fake-statistics.ts';

const LIST = 'GET /contiv/v1/interfaces';
/** By index in VPP; the first is not configured. */
const names = ['', 'Gig1', 'tap-vpp2', 'vpp-tap-1', 'vxlan-default-2', 'vxlanBVI'];

let statistics: FakeStatistics;
let clock: ManualClock;
let collector: StatsCollector;
let wired: WiredStats;

function wire(isEnabled = true): WiredStats {
  return wireStats({
    collector,
    isEnabled,
    statistics,
    nameOf: (index) => names[index] || undefined,
    registry: new Registry(),
    clock,
    log: silentLogger,
  });
}

async function list(query: Record<string, string> = {}): Promise<InterfaceList> {
  const lists = Object.entries(query).map(([name, text]) => [name, [text]]);
  const { status, body } = await ask(wired.routes, LIST, { query: Object.fromEntries(lists) });
  assert.equal(status, 200, JSON.stringify(body));
  const { reply } = wired.routes.find(({ path }) => path === '/contiv/v1/interfaces')!;
  assert.deepEqual([...Value.Errors(reply!, body)], []);
  return body as InterfaceList;
}

beforeEach(() => {
  statistics = new FakeStatistics();
  statistics.found.interfaces = names.map((_, index) =>
    counters(index, `if${index}`, { rxBytes: BigInt(index) * 1_000n }),
  );
  clock = new ManualClock();
  collector = createStatsCollector({
    nodeName: 'node1',
    net: {
      podByInterface: (name) =>
        name === 'vpp-tap-1'
          ? ({ pod: { namespace: 'shop', name: 'web' } } as Attachment)
          : undefined,
      nodeByTunnel: (name) => (name === 'vxlan-default-2' ? 'node2' : undefined),
      mainInterface: () => 'Gig1',
      otherInterfaces: () => [],
      hostInterconnect: () => 'tap-vpp2',
    },
  });
  wired = wire();
});

describe(LIST, () => {
  it('shows the counters of all configured interfaces, and whose they are', async () => {
    const { error, matching, collectedAt, interfaces } = await list();
    assert.deepEqual([error, matching], [null, 5]);
    assert.match(collectedAt!, /Z$/);
    assert.deepEqual(
      interfaces.map(({ name, owner, counters: { rxBytes } }) => [name, owner, rxBytes]),
      [
        ['Gig1', { kind: 'uplink' }, 1_000],
        ['tap-vpp2', { kind: 'hostLink' }, 2_000],
        ['vpp-tap-1', { kind: 'pod', pod: 'shop/web' }, 3_000],
        ['vxlan-default-2', { kind: 'tunnel', node: 'node2' }, 4_000],
        ['vxlanBVI', { kind: 'internal' }, 5_000],
      ],
    );
  });

  it('filters by owner, pod and text, up to a limit', async () => {
    const shown = async (query: Record<string, string>) =>
      (await list(query)).interfaces.map(({ name }) => name);
    assert.deepEqual(await shown({ owner: 'tunnel' }), ['vxlan-default-2']);
    assert.deepEqual(await shown({ pod: 'shop/web' }), ['vpp-tap-1']);
    assert.deepEqual(await shown({ search: 'NODE2' }), ['vxlan-default-2']);
    assert.deepEqual(await shown({ search: 'if5' }), ['vxlanBVI']);
    assert.deepEqual(await shown({ limit: '2' }), ['Gig1', 'tap-vpp2']);
    await assert.rejects(list({ owner: 'vm' }), /must be one of pod, tunnel/);
    await assert.rejects(list({ limit: '1001' }), /between 1 and 1000/);
  });

  it('costs one collection a second, with those of metrics', async () => {
    await wired.refresh();
    await Promise.all(Array.from({ length: 20 }, () => list()));
    await Promise.all(Array.from({ length: 20 }, () => wired.samples()));
    assert.equal(statistics.calls, 1);
    await clock.advance(1_000);
    await Promise.all([list(), list(), wired.refresh()]);
    assert.equal(statistics.calls, 2);
  });

  it('says why there are no counters', async () => {
    statistics.failure = new Error('VPP is not connected');
    const { error, collectedAt, interfaces } = await list();
    assert.deepEqual([error, collectedAt, interfaces], ['VPP is not connected', null, []]);
    wired = wire(false);
    assert.match((await list()).error!, /DISABLE_INTERFACE_STATS/);
  });

  it('does not show the interface of a deleted pod', async () => {
    await list();
    const event = DeletePod.event({
      pod: { namespace: 'shop', name: 'web' },
      containerId: 'c',
      interfaceName: 'eth0',
    });
    collector.update({ event } as unknown as UpdateContext);
    assert.ok(!(await list()).interfaces.some(({ name }) => name === 'vpp-tap-1'));
    assert.equal((await wired.samples()).find('vpp-tap-1'), undefined);
    assert.equal((await wired.samples()).find('tap-vpp2')!.rxBytes, 2_000n);
  });
});
