/** Metrics of the kernel's table of services. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { ManualClock } from '#infra/clock/manual.ts';
import { KernelSocketTable } from '#linux/socket-services/kernel-table.ts';
import { shapes } from '#linux/socket-services/layout.ts';
import { SocketTableMetrics } from '#linux/socket-services/metrics.ts';
import { idlePrograms } from './idle-programs.ts';
import { MemoryMaps } from './memory-maps.ts';

test('every map that can be full has its entries and its capacity', async () => {
  const kernel = new MemoryMaps();
  const table = new KernelSocketTable({
    maps: kernel.maps,
    namespaces: { namespaceCookie: async () => 1n },
    clock: new ManualClock(),
    programs: idlePrograms,
    packets: kernel.packets,
    stale: { request: () => undefined, failures: 3, connections: 7 },
  });
  await table.put({
    name: 'a',
    mappings: [
      {
        frontends: [{ address: '10.96.0.1', port: 80, protocol: 'TCP', scope: 'ADDRESS' }],
        backends: [
          { address: '10.1.1.2', port: 80, weight: 1 },
          { address: '10.1.1.3', port: 80, weight: 2 },
        ],
        affinityTimeout: 0,
        hostSource: '',
      },
    ],
  });
  await table.putNodeAddress({ address: '172.16.0.1', isLocal: true });
  await table.putLink({ index: 2, toVpp: undefined });
  await table.exempt({ name: 'c', path: '/run/netns/c' });
  const registry = new Registry();
  new SocketTableMetrics(registry, table);
  const lines = (await registry.metrics()).split('\n');
  const value = (series: string) =>
    lines.find((line) => line.startsWith(`${series} `))?.split(' ')[1];
  const entries = {
    frontends: '1',
    nodes: '1',
    exemptions: '1',
    groups: '1',
    slots: '3',
    members: '2',
    connections: '7',
    links: '1',
  };
  for (const [map, { kind, maxEntries }] of Object.entries(shapes)) {
    const isLimited = kind === 'hash';
    assert.equal(
      value(`contiv_socket_map_capacity{map="${map}"}`),
      isLimited ? String(maxEntries) : undefined,
    );
    assert.equal(
      value(`contiv_socket_map_entries{map="${map}"}`),
      (entries as Readonly<Record<string, string>>)[map],
    );
  }
  assert.equal(value('contiv_socket_end_failures_total'), '3');
});
