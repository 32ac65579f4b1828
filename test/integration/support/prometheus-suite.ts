/** The cases that hold for an agent on a simulated and on a real VPP alike. */
import assert from 'node:assert/strict';
import { dashboardQueries } from './dashboard.ts';
import type { Prometheus } from './prometheus.ts';

/** @param pod name of a pod that is attached */
export async function assertDashboardHasData(prometheus: Prometheus, pod: string): Promise<void> {
  await prometheus.whenScraped();
  const empty: string[] = [];
  for (const { title, expression } of dashboardQueries())
    if ((await prometheus.query(expression)).length === 0) empty.push(`${title}: ${expression}`);
  assert.deepEqual(empty, []);
  const [gauge] = await prometheus.query(`inPackets{podName="${pod}"}`);
  const { podNamespace, node, job } = gauge?.metric ?? {};
  assert.deepEqual([podNamespace, node, job], ['default', 'node1', 'contiv-stats']);
  const [counter] = await prometheus.query(`contiv_interface_receive_packets_total{pod="${pod}"}`);
  assert.equal(counter?.metric['namespace'], 'default');
}
