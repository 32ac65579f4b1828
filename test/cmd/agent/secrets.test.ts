/** The secret of an external value reaches VPP and the datastore; nothing else shows it. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parseFlags } from '#cmd/agent/flags.ts';
import { replay } from '#cmd/agent/replay.ts';
import { report } from '#cmd/agent/report/report.ts';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import {
  type ExternalAgent,
  makeExternalNode,
  startExternalAgent,
} from '#test/plugins/extconfig/external-agent.ts';
import { temporaryFolder } from '#test/support/temporary-folder.ts';
import { routes } from '../../../scripts/lib/docs/routes.ts';
import { until } from './harness.ts';
import { post } from './local-request.ts';
import { readBundle } from './report/bundle.ts';

const SECRET = /marked/;
const MASK = /\*\*\*[0-9a-f]{16}/;
/** Of external values in etcd. */
const PREFIX = '/vnf-agent/node1/config/vpp/v2/interfaces/';

const memif = (name: string, id: number, secret: unknown) => ({
  name,
  type: 'MEMIF' as const,
  enabled: true,
  memif: { id, master: true, socket_filename: `/run/${name}.sock`, secret: secret as string },
});

describe('the secret of an external value', { timeout: 120_000 }, () => {
  const folder = temporaryFolder('secrets');
  const recordings = join(folder, 'runs');
  const node = makeExternalNode();
  let agent: ExternalAgent;

  /** All of them with a secret, and with each fate that a value can have. */
  before(async () => {
    const put = (value: { name: string }) =>
      node.cluster.put(PREFIX + value.name, JSON.stringify(value));
    await put(memif('stored', 1, 'marked-1'));
    await put(memif('too-long', 2, `marked-${'2'.repeat(20)}`));
    await put(memif('unreadable', 3, ['marked-3']));
    await node.cluster.put(`${PREFIX}malformed`, '{"name":"malformed","memif":{"secret":"marked-4');
    agent = await startExternalAgent(node, {
      controller: { 'record-run': recordings },
      logLevel: 'debug',
    });
    const { client, running } = agent;
    await client.put({ Interfaces: [memif('sent', 5, 'marked-5'), memif('gone', 6, 'marked-6')] });
    await client.put({ Interfaces: [memif('sent', 5, 'marked-7'), memif('sent', 5, 'marked-8')] });
    await client.put({ Interfaces: [memif('refused', 7, `marked-${'9'.repeat(20)}`)] });
    await client.del({ Interfaces: [memif('gone', 6, 'marked-6')] });
    await put(memif('stored', 1, 'marked-changed'));
    await put(memif('sent', 5, 'marked-over-the-other'));
    await post(running.localSocket, '/scheduler/downstream-resync?verbose=1');
    await until(() => running.agent.controller.isIdle);
    assert.equal(await agent.stateOf(vppInterfaceKey.build({ name: 'sent' })), 'CONFIGURED');
  });
  after(() => agent?.stop());

  it('is in no reply of a route, and its mask is', async () => {
    const { running } = agent;
    const key = vppInterfaceKey.build({ name: 'sent' });
    const given: Readonly<Record<string, string>> = {
      key,
      view: 'cached',
      descriptor: 'vpp-interface',
      'key-prefix': 'config/',
      'seq-num': '0',
      q: 'marked',
    };
    let masked = 0;
    for (const { method, path } of routes()) {
      if (method !== 'GET') continue;
      for (const query of ['', `?${new URLSearchParams(given)}`, `?key=${key}`, '?seq-num=1']) {
        const url = `http://127.0.0.1:${running.agent.port}${path}${query}`;
        const response = await fetch(url, { signal: AbortSignal.timeout(20_000) });
        const stream = response.headers.get('content-type')?.startsWith('text/event-stream');
        if (stream) await response.body?.cancel();
        const text = stream ? '' : await response.text();
        // an echo of the argument
        assert.doesNotMatch(text.replaceAll(/q=marked|"marked"/g, ''), SECRET, url);
        if (MASK.test(text)) masked++;
      }
    }
    assert.ok(masked > 5, `${masked} documents with the mask`);
  });

  it('is in no line of the log', () => {
    const lines = agent.running.logged.map((line) => JSON.stringify(line));
    assert.ok(lines.some((line) => line.includes('"level":"debug"')));
    assert.deepEqual(
      lines.filter((line) => SECRET.test(line)),
      [],
    );
    assert.doesNotMatch(agent.running.printed.join('\n'), SECRET);
  });

  it('is in no recording, which can be replayed', async () => {
    const [file = ''] = readdirSync(recordings);
    const text = readFileSync(join(recordings, file), 'utf8');
    assert.doesNotMatch(text, SECRET);
    assert.match(text, MASK);
    const printed: string[] = [];
    assert.equal(await replay(recordings, (line) => void printed.push(line)), true, printed.join());
  });

  it('is in no report', async () => {
    const settings = {
      http: { 'local-socket': agent.running.localSocket },
      govpp: { 'binapi-socket-path': join(folder, 'vpp.sock') },
      controller: { 'record-run': recordings },
    };
    for (const [name, content] of Object.entries(settings))
      writeFileSync(join(folder, `${name}.conf`), JSON.stringify(content));
    const path = join(folder, 'report.tar.gz');
    const flags = parseFlags(
      ['report', '--config-dir', folder, '--microservice-label', 'node1'],
      {},
    );
    const deps = { flags, env: {}, clock: systemClock, random: systemRandom };
    const build = { version: 'v0', date: '', commit: '' };
    await report(path, { ...deps, build, ended: new Promise(() => undefined) }, () => undefined);
    const { files } = await readBundle(path);
    for (const [name, text] of files) assert.doesNotMatch(text, SECRET, name);
    assert.ok([...files.values()].some((text) => MASK.test(text)));
  });

  it('is in the datastore', async () => {
    const { entries } = await node.external!.list('');
    const stored = entries.find(({ key }) => key.endsWith('/sent'));
    assert.match(stored!.value, /"secret":"marked-8"/);
  });
});
