/** Prometheus scrapes an agent on a real VPP. */
import { describe, it } from 'node:test';
import { withoutNodes, withoutPrometheus } from '#test/support/requirements.ts';
import { RealNode } from '../support/node.ts';
import { Prometheus } from '../support/prometheus.ts';
import { assertDashboardHasData } from '../support/prometheus-suite.ts';

const PORT = 9090;

describe('Prometheus', { skip: withoutNodes() || withoutPrometheus(), timeout: 180_000 }, () => {
  it('scrapes the agent, and every query of the dashboard has a series', async () => {
    await using node = await RealNode.create({
      statistics: 'per-node-counters on update-interval 1',
    });
    await node.agent.start();
    await node.pod('web');
    await using prometheus = new Prometheus({
      target: '127.0.0.1:9999',
      port: PORT,
      prefix: node.netns.enter,
    });
    await assertDashboardHasData(prometheus, 'web');
  });
});
