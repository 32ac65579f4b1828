/** Prometheus and promtool against an agent on a simulated VPP. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { makeNode, type RunningAgent, startAgent } from '#test/cmd/agent/harness.ts';
import { create, web } from '#test/cmd/agent/test-pods.ts';
import { originalMetrics } from '#test/docs/original-metrics.ts';
import { withoutPrometheus } from '#test/support/requirements.ts';
import { partOf } from '../../../scripts/lib/docs/documents.ts';
import { keysOf } from '../../../scripts/lib/docs/table.ts';
import { dashboardQueries } from '../support/dashboard.ts';
import { Prometheus } from '../support/prometheus.ts';
import { assertDashboardHasData } from '../support/prometheus-suite.ts';

/** The queries of its users contain them, although promtool objects to some. */
const originalNames = new Set([...originalMetrics['/metrics'], ...originalMetrics['/stats']]);

function promtool(
  args: readonly string[],
  input?: string,
): { status: number | null; text: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  return { status, text: `${stdout}${stderr}` };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

describe('Prometheus', { skip: withoutPrometheus(), timeout: 180_000 }, () => {
  let running: RunningAgent;
  before(async () => {
    running = await startAgent(makeNode());
    await create(running, web);
  });
  after(() => running?.stop());

  for (const path of ['/metrics', '/stats'])
    it(`finds no fault with ${path}, except names of the original`, async () => {
      const response = await fetch(`http://127.0.0.1:${running.agent.port}${path}`);
      const { text } = promtool(['check', 'metrics'], await response.text());
      const faults = text.split('\n').filter((line) => line !== '' && !line.startsWith('nodejs_'));
      assert.deepEqual(
        faults.filter((line) => !originalNames.has(line.split(' ')[0]!)),
        [],
      );
    });

  it('finds no fault with the rules and the configuration, and the alerts fire', () => {
    const folder = 'deploy/prometheus';
    for (const args of [
      ['check', 'rules', '--lint-fatal', `${folder}/rules.yml`],
      ['check', 'config', `${folder}/prometheus.yml`],
      ['test', 'rules', `${folder}/rules.test.yml`],
    ]) {
      const { status, text } = promtool(args);
      assert.equal(status, 0, text);
    }
    const rules = readFileSync(`${folder}/rules.yml`, 'utf8').matchAll(/alert: (\w+)/g);
    const tested = readFileSync(`${folder}/rules.test.yml`, 'utf8');
    for (const [, alert] of rules) assert.ok(tested.includes(`alertname: ${alert}\n`), alert);
  });

  it('asks for metrics that the agent or contiv-ksr has', () => {
    const table = partOf(readFileSync('docs/metrics.md', 'utf8'), 'metrics');
    const ksr = readFileSync('docs/ksr.md', 'utf8').matchAll(/^\| `(contiv_ksr_\w+)`/gm);
    const known = new Set([
      ...keysOf(table).map((key) => key.replaceAll('`', '')),
      ...[...ksr].map(([, name]) => name!),
    ]);
    const queries = [
      ...dashboardQueries().map(({ expression }) => expression),
      ...readFileSync('deploy/prometheus/rules.yml', 'utf8').split('\n'),
      ...readFileSync('deploy/prometheus/dashboard-ksr.json', 'utf8').split('\n'),
    ];
    for (const query of queries)
      for (const [name] of query.matchAll(/\b(contiv|vpp|ligato)_\w+/g))
        assert.ok(known.has(name) || known.has(name.replace(/_bucket$/, '')), name);
  });

  it('scrapes the agent, and every query of the dashboard has a series', async () => {
    await using prometheus = new Prometheus({
      target: `127.0.0.1:${running.agent.port}`,
      port: await freePort(),
    });
    await assertDashboardHasData(prometheus, 'web');
  });
});
