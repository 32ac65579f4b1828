/** Compares docs/ksr.md with the metrics of contiv-ksr. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { Registry } from 'prom-client';
import { registerMetrics } from '#ksr/metrics.ts';
import { registerStatistics } from '#ksr/statistics-metrics.ts';
import { ReflectedCluster } from '#test/ksr/support/reflected-cluster.ts';

it('docs/ksr.md lists the metrics of contiv-ksr', async () => {
  const { instance } = new ReflectedCluster();
  const { reflector, leader, removedNodes } = instance;
  const registry = new Registry();
  registerMetrics({
    registry,
    reflector,
    leader: () => leader,
    removedNodes,
    clusterPolicies: () => undefined,
    watches: new Map(),
  });
  const text = readFileSync('docs/ksr.md', 'utf8');
  const documented = [...text.matchAll(/^\| `(contiv_ksr_\w+)`/gm)].map(([, name]) => name!);
  const names = (await registry.getMetricsAsJSON()).map(({ name }) => name);
  assert.deepEqual(documented.sort(), names.sort());

  const statistics = new Registry();
  registerStatistics(statistics, 'contiv-ksr', reflector.records);
  for (const { name } of await statistics.getMetricsAsJSON())
    assert.ok(text.includes(`\`${name}\``), name);
});
