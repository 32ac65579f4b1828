/** `npm start`: a cluster of simulated nodes in one process. */
import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { describe, it } from 'node:test';
import type { ClusterStatus } from '#documents/cluster.ts';
import type { InterfaceList } from '#documents/interfaces.ts';
import type { PairTrace } from '#documents/pair-trace.ts';
import { NetctlProgram } from '#test/netctl/support/program.ts';
import { temporaryFolder } from '#test/support/temporary-folder.ts';
import { runAgentProgram } from './agent-program.ts';
import { until } from './harness.ts';

const CHANGE = resolve(import.meta.dirname, '../../../examples/tour/web-reads-orders.yaml');

describe('a simulated cluster', { timeout: 240_000 }, () => {
  it('has a page for each node, pods that reach each other, and one end', async () => {
    const folder = temporaryFolder('cluster');
    const start = () => runAgentProgram(folder, '--embedded', '--nodes', '3', '--http-port', '0');
    const program = start();
    await program.said('Ctrl-C stops them.\n');
    const rows = [...program.text().matchAll(/^ {2}(node-\d) +(\d+) +(http:\S+)ui\/ /gm)];
    assert.deepEqual(
      rows.map(([, name]) => name),
      ['node-1', 'node-2', 'node-3'],
    );
    assert.match(program.text(), /^3 nodes: 26 of 26 pods attached$/m);
    const urls = rows.map(([, , , url]) => url!);
    for (const url of urls) assert.equal((await fetch(`${url}ui/`)).status, 200, url);

    const pods = await Promise.all(urls.map(podNames));
    assert.deepEqual(
      pods.map((names) => names.length),
      rows.map(([, , count]) => Number(count)),
    );
    const from = pods[0]!.find((name) => name.startsWith('backoffice/warehouse-'))!;
    const trace = (await document(
      `${urls[0]}trace/pair?from=${from}&to=backoffice/ledger-0&to-port=5432`,
    )) as PairTrace;
    assert.equal(trace.verdict, 'continues', JSON.stringify(trace));
    assert.equal(trace.paths[0]?.trace.continuesOn?.node, 'node-3');

    for (const url of urls) await until(async () => (await total(url, 'rxPackets')) > 1_000);
    const before = await Promise.all(urls.map((url) => total(url, 'rxPackets')));
    for (const [at, url] of urls.entries())
      await until(async () => (await total(url, 'rxPackets')) > before[at]!);
    // the policies of the shop deny by default
    for (const url of urls) await until(async () => (await total(url, 'drops')) > 0);
    const metrics = await (await fetch(`${urls[0]}metrics`)).text();
    assert.match(metrics, /^contiv_vpp_acl_packets_total\{.*verdict="denied"\} [1-9]/m);
    assert.match(metrics, /^vpp_nat44_sessions\{.*\} [1-9]/m);

    const { cluster, nodes } = (await document(`${urls[1]}contiv/v1/cluster`)) as ClusterStatus;
    assert.equal(cluster, 'demonstration');
    assert.deepEqual(
      nodes.map(({ name, status }) => `${name} ${status?.state}`),
      ['node-2 ready', 'node-1 ready', 'node-3 ready'],
    );

    using netctl = new NetctlProgram({ TMPDIR: folder });
    const plan = await netctl.run('plan');
    assert.equal(plan.stdout.match(/nothing to do: \d+ values are as desired/g)?.length, 3);
    await netctl.run('vppcli', 'node-2', 'set', 'interface', 'state', 'tap1', 'down');
    const drift = await netctl.run('plan', 'node-2');
    assert.match(drift.stdout, /^node-2 +different +update +config.*enabled$/m);
    const change = await netctl.run('plan', '-f', CHANGE);
    assert.match(
      change.stdout,
      /^ {2}\+ storefront\/web\[Deployment\] => backoffice\/orders\[Deployment\] : TCP 7000$/m,
    );
    const [, recordings = ''] = /agent -- replay (\S+)/.exec(program.text()) ?? [];
    const replay = await runAgentProgram(folder, 'replay', recordings).ended;
    assert.equal(replay.code, 0, replay.text);

    const second = await start().ended;
    assert.equal(second.code, 1);
    const running = /an agent of yours runs as node node-1 already: process (\d+)/;
    assert.equal(Number(running.exec(second.text)?.[1]), program.pid);

    program.signal('SIGTERM');
    const { code, text } = await program.ended;
    assert.equal(code, 0, text);
    assert.doesNotMatch(text, /"level":"(error|fatal)"/);
    const stopped = [...text.matchAll(/"node":"(node-\d)",[^\n]*"signal":"SIGTERM"/g)];
    assert.deepEqual(
      stopped.map(([, node]) => node),
      ['node-1', 'node-2', 'node-3'],
    );
  });
});

async function podNames(url: string): Promise<string[]> {
  const { interfaces } = (await document(
    `${url}contiv/v1/interfaces?owner=pod&limit=1000`,
  )) as InterfaceList;
  return interfaces.map(({ owner }) => owner.pod ?? '');
}

/** Of the interfaces of the pods of a node. */
async function total(url: string, counter: 'rxPackets' | 'drops'): Promise<number> {
  const { interfaces } = (await document(
    `${url}contiv/v1/interfaces?owner=pod&limit=1000`,
  )) as InterfaceList;
  return interfaces.reduce((sum, { counters }) => sum + counters[counter], 0);
}

async function document(url: string): Promise<unknown> {
  const response = await fetch(url);
  assert.equal(response.status, 200, url);
  return await response.json();
}
