import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { ManualClock } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { UpdateContext } from '#plugins/controller/api/event-handler.ts';
import { DeletePod } from '#plugins/podmanager/api.ts';
import { createStatsCollector, type StatsCollector } from '#plugins/statscollector/plugin.ts';
import { wireStats } from '#plugins/statscollector/wire-stats.ts';
import { retainedBytes } from '#test/support/retained-bytes.ts';
import { counters, FakeStatistics } from '#test/vpp/telemetry/fake-statistics.ts';

const pods = new Map([
  ['vpp-tap-1', { name: 'web-1', namespace: 'default' }],
  ['vpp-tap-2', { name: 'web-2', namespace: 'default' }],
]);
/** Logical names by index in VPP. */
const names = [
  '',
  'tap-vpp2',
  'vpp-tap-1',
  'vpp-tap-2',
  'vxlanBVI',
  'vmxnet3-0',
  'vxlan-default-2',
];
const request = { query: {}, params: {}, body: undefined };

let statistics: FakeStatistics;
let collector: StatsCollector;
let registry: Registry;
let clock: ManualClock;

function wire(isEnabled = true) {
  return wireStats({
    collector,
    isEnabled,
    statistics,
    nameOf: (index) => names[index] || undefined,
    registry,
    clock,
    log: silentLogger,
  });
}

async function series(from: Registry): Promise<string[]> {
  return (await from.metrics()).split('\n').filter((line) => /^\w.* \S+$/.test(line));
}

function deletePod(name: string) {
  const event = DeletePod.event({
    pod: { name, namespace: 'default' },
    containerId: 'c',
    interfaceName: 'eth0',
  });
  assert.ok(collector.handlesEvent(event));
  return collector.update({ event } as unknown as UpdateContext);
}

beforeEach(() => {
  statistics = new FakeStatistics();
  statistics.found.interfaces = names.map((_, index) =>
    counters(index, `if${index}`, { rxPackets: BigInt(index), txBytes: 100n }),
  );
  registry = new Registry();
  clock = new ManualClock();
  collector = createStatsCollector({
    nodeName: 'node1',
    net: {
      podByInterface: (name) => {
        const pod = pods.get(name);
        return (
          pod &&
          ({ pod } as ReturnType<
            Parameters<typeof createStatsCollector>[0]['net']['podByInterface']
          >)
        );
      },
      nodeByTunnel: (name) => (name === 'vxlan-default-2' ? 'node2' : undefined),
      hostInterconnect: () => 'tap-vpp2',
      mainInterface: () => 'vmxnet3-0',
      otherInterfaces: () => [],
    },
  });
});

describe('/stats', () => {
  it('shows the gauges of the original for interfaces of pods and of the node', async () => {
    const [route] = wire().routes;
    const reply = await route!.handle(request);
    const text = String(reply.body);
    assert.match(String(reply.contentType), /^text\/plain; version=0\.0\.4/);
    assert.deepEqual(
      text.split('\n').filter((line) => line.startsWith('inPackets{')),
      [
        'inPackets{podName="--",podNamespace="--",interfaceName="tap-vpp2",node="node1"} 1',
        'inPackets{podName="web-1",podNamespace="default",interfaceName="vpp-tap-1",node="node1"} 2',
        'inPackets{podName="web-2",podNamespace="default",interfaceName="vpp-tap-2",node="node1"} 3',
        'inPackets{podName="--",podNamespace="--",interfaceName="vxlanBVI",node="node1"} 4',
        'inPackets{podName="--",podNamespace="--",interfaceName="vmxnet3-0",node="node1"} 5',
      ],
    );
    assert.deepEqual([...text.matchAll(/^# TYPE (\S+) gauge$/gm)].map(([, name]) => name).sort(), [
      ...['dropPackets', 'inBytes', 'inErrorPackets', 'inMissPackets', 'inNobufPackets'],
      ...['inPackets', 'ipv4Packets', 'ipv6Packets', 'outBytes', 'outErrorPackets', 'outPackets'],
      'puntPackets',
    ]);
  });

  it('costs one collection a second', async () => {
    const [route] = wire().routes;
    await Promise.all(Array.from({ length: 50 }, () => route!.handle(request)));
    await clock.advance(999);
    await route!.handle(request);
    assert.equal(statistics.calls, 1);
    await clock.advance(1);
    await route!.handle(request);
    assert.equal(statistics.calls, 2);
  });

  it('shows gauges of other plugins, computed for each collection', async () => {
    let value = 1;
    collector.registerGaugeFunc('widgets', 'Widgets.', () => value);
    assert.ok((await series(collector.registry)).includes('widgets{node="node1"} 1'));
    value = 2;
    assert.ok((await series(collector.registry)).includes('widgets{node="node1"} 2'));
  });

  it('has no interfaces when they are disabled', async () => {
    const [route] = wire(false).routes;
    assert.doesNotMatch(String((await route!.handle(request)).body), /inPackets\{/);
    assert.equal(statistics.calls, 0);
  });
});

describe('the series of an interface', () => {
  it('disappear with its pod, at once', async () => {
    await wire().refresh();
    assert.deepEqual(deletePod('web-1'), { change: 'removed interface stats' });
    for (const each of [registry, collector.registry]) {
      const lines = await series(each);
      assert.ok(lines.some((line) => line.includes('web-2')));
      assert.ok(!lines.some((line) => line.includes('web-1') || line.includes('vpp-tap-1"')));
    }
    assert.equal(deletePod('web-1'), undefined);
  });

  it('disappear with the interface, and while VPP cannot be read', async () => {
    const { refresh } = wire();
    await refresh();
    statistics.found.interfaces = statistics.found.interfaces.slice(0, 3);
    await refresh();
    assert.equal((await series(registry)).filter((line) => line.includes('web-2')).length, 0);
    statistics.failure = new Error('VPP is unavailable');
    await refresh();
    assert.deepEqual(await series(registry), []);
    statistics.failure = undefined;
    await refresh();
    assert.notDeepEqual(await series(registry), []);
  });

  it('are counters on /metrics, without a pod for interfaces of the node', async () => {
    await wire().refresh();
    const lines = await series(registry);
    for (const line of [
      'contiv_interface_receive_packets_total{namespace="default",pod="web-1",interface="vpp-tap-1"} 2',
      'contiv_interface_transmit_bytes_total{namespace="",pod="",interface="tap-vpp2"} 100',
    ])
      assert.ok(lines.includes(line), line);
    assert.match(await registry.metrics(), /# TYPE contiv_interface_receive_packets_total counter/);
  });

  it('need no more memory after a million updates', async () => {
    const { refresh } = wire();
    const update = async (count: number) => {
      for (let n = 0; n < count; n++) {
        // another pod each time, as on a node where pods come and go
        pods.set('vpp-tap-1', { name: `web-${n}`, namespace: 'default' });
        await refresh();
        if (n % 1_000 === 0) await Promise.all([registry.metrics(), collector.registry.metrics()]);
      }
    };
    const updates = 1_000_000 / names.length;
    await update(10_000);
    const before = retainedBytes();
    await update(updates);
    const grown = retainedBytes() - before;
    // one series kept by each update would be 30 MB
    assert.ok(grown < 4 * 1024 * 1024, `${grown} bytes more`);
  });
});
