/**
 * A real agent on a real VPP that has everything that a crash or an operator can leave behind: no route that
 * reads, no report and no search for running pods sends VPP a message that changes it.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parseFlags } from '#cmd/agent/flags.ts';
import { report } from '#cmd/agent/report/report.ts';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import type { OpenApiDocument } from '#infra/http/openapi.ts';
import { kernelHost } from '#linux/kernel/host.ts';
import { readBundle } from '#test/cmd/agent/report/bundle.ts';
import { damage, damagedValues } from '#test/descriptors/compliance/reads-suite.ts';
import { withoutNodes } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { MessageTrace } from '../support/message-trace.ts';
import { RealNode } from '../support/node.ts';
import type { Sandbox } from '../support/sandbox.ts';

const linux = kernelHost({ clock: systemClock });

/** Lines of the drift after the damage. */
const wrong = [
  /^leftover .*\/member\/\d+\/bridged$/,
  /^leftover .*\/borrower\/borrower$/,
  /^leftover .*\/table\/moved\/ipv4$/,
  /^leftover .*\/tag\/named$/,
  /^leftover .*\/mapping\/\d+\/80\/TCP\/default\/web$/,
  /^leftover .*\/paths\/7\/IPV4$/,
  /^missing config\/vpp\/v2\/interfaces\/lender$/,
  /^(broken|missing) config\/(vpp|linux).*interface/,
];

interface Transaction {
  readonly ResyncType?: string;
  readonly Planned?: readonly { readonly Key: string }[];
}

const INTERFACE_KEY = 'config/vpp/v2/interfaces/borrower';

const routesWithArguments = [
  '/trace/pair?from=default/web&to=default/db&view=SB',
  '/contiv/v1/pods/default/web',
  '/contiv/v1/policy/pods/default/web',
  `/scheduler/value?key=${INTERFACE_KEY}`,
  `/scheduler/key-timeline?key=${INTERFACE_KEY}`,
  '/scheduler/transaction?seq-num=0',
  '/scheduler/flag-stats?flag=descriptor',
  ...['vpp-interface', 'linux-interface', 'vpp-vrf-table', 'vpp-bridge-domain'].map(
    (name) => `/scheduler/dump?view=SB&descriptor=${name}`,
  ),
];

describe('an agent that reads', { skip: withoutNodes(), timeout: 300_000 }, () => {
  let node: RealNode;
  let trace: MessageTrace;
  let pods: readonly Sandbox[];
  const folder = mkdtempSync(join(tmpdir(), 'reads-'));

  before(async () => {
    node = await RealNode.create();
    trace = new MessageTrace(node.vpp);
    for (const { key, value } of damagedValues)
      await node.etcd.store.put(`/vnf-agent/node1/${key}`, JSON.stringify(value));
    await node.agent.start();
    pods = [await node.pod('web'), await node.pod('db'), await node.pod('cut-off')];
    for (const { pod, address } of pods) await node.reflect(pod, address);
    await until('nothing is missing', async () => (await node.agent.drift()).length === 0);
  });
  after(async () => {
    await node?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const linuxState = () =>
    Promise.all(
      [node.netns.path, ...pods.map(({ path }) => path)].map(async (path) => {
        const { links, routes, neighbors } = await linux.dump(path);
        return { links, routes, neighbors: neighbors.filter(({ permanent }) => permanent) };
      }),
    );

  it('for running pods whose records were lost', async () => {
    const { agent } = node;
    await agent.end('SIGTERM');
    rmSync(agent.storeFolder, { recursive: true });
    await trace.start();
    await agent.start();
    assert.deepEqual(await agent.drift(), []);
    const { changes, reads } = await trace.stop();
    assert.deepEqual(changes, []);
    assert.ok(reads.has('ip_neighbor_dump'), [...reads].join());
    const { body } = await agent.get('/contiv/v1/ipam/allocations');
    assert.equal((body as { Pods: unknown[] }).Pods.length, pods.length);
  });

  it('for operators, whatever is wrong, and its next resync plans what the drift lists', async () => {
    const { agent, vpp } = node;
    await vpp.withClient(damage);
    await pods[2]!.run('ip', 'link', 'delete', 'eth0');
    const before = await linuxState();
    await trace.start();

    const shown = await agent.drift();
    for (const route of await readingRoutes()) await agent.get(route);
    for (const route of routesWithArguments)
      assert.equal((await agent.get(route)).status, 200, route);
    await writeReport();
    const change = { mode: 'update', values: { [INTERFACE_KEY]: null } };
    assert.equal((await agent.post('/scheduler/plan', change)).status, 200);
    assert.deepEqual(await agent.drift(), shown);

    const { changes, reads } = await trace.stop();
    assert.deepEqual(changes, []);
    assert.ok(reads.has('sw_interface_dump') && reads.has('cli_inband'), [...reads].join());
    assert.deepEqual(await linuxState(), before);
    for (const pattern of wrong)
      assert.ok(
        shown.some((one) => pattern.test(one)),
        `${pattern}: ${shown.join()}`,
      );

    await trace.start();
    assert.equal((await agent.post('/scheduler/downstream-resync')).status, 200);
    const sent = (await trace.stop()).changes.join('\n');
    assert.match(sent, /^vl_api_sw_interface_set_unnumbered_t/m);
    assert.match(sent, /^vl_api_sw_interface_tag_add_del_t/m);
    const { body } = await agent.get('/scheduler/txn-history?format=json');
    const resync = (body as Transaction[]).findLast((one) => one.ResyncType === 'DownstreamResync');
    const planned = resync?.Planned ?? [];
    const keys = planned.map(({ Key }) => Key);
    for (const one of shown) assert.ok(keys.includes(one.split(' ')[1] ?? ''), one);
    await until('nothing is wrong', async () => (await agent.drift()).length === 0);
  });

  /** Without the streams, which have no end. */
  async function readingRoutes(): Promise<readonly string[]> {
    const { paths } = (await node.agent.get('/openapi.json')).body as OpenApiDocument;
    const routes = Object.keys(paths).filter(
      (path) =>
        'get' in (paths[path] ?? {}) && !JSON.stringify(paths[path]).includes('event-stream'),
    );
    assert.ok(routes.length > 30);
    return routes.map((route) => route.replaceAll(/[{}]/g, ''));
  }

  async function writeReport(): Promise<void> {
    const path = join(folder, 'report.tar.gz');
    const configDir = dirname(node.agent.storeFolder);
    const flags = ['report', '--config-dir', configDir, '--microservice-label', 'node1'];
    await report(
      path,
      {
        flags: parseFlags(flags, {}),
        env: {},
        clock: systemClock,
        random: systemRandom,
        build: { version: 'v0', date: '', commit: '' },
        ended: new Promise<string>(() => undefined),
      },
      () => undefined,
    );
    const { files } = await readBundle(path);
    assert.match(files.get('vpp/interface.txt') ?? '', /local0/);
  }
});
