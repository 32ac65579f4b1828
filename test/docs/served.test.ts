/** Compares docs/rest.md and docs/metrics.md with a running agent. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { SimFlowSource } from '#simulator/linux/flow-source.ts';
import { SimSocketTable } from '#simulator/linux/socket-table.ts';
import { makeNode, type RunningAgent, startAgent } from '#test/cmd/agent/harness.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { partOf } from '../../scripts/lib/docs/documents.ts';
import { keysOf } from '../../scripts/lib/docs/table.ts';

function documented(path: string, part: string): string[] {
  const table = partOf(readFileSync(path, 'utf8'), part);
  return keysOf(table).map((key) => key.replaceAll('`', ''));
}

describe('the running agent', () => {
  let running: RunningAgent;
  before(async () => {
    const node = { ...makeNode(), external: new MemoryStore() };
    const socketTable = new SimSocketTable(systemRandom, systemClock);
    running = await startAgent(node, {
      environment: {
        ...node,
        connectVpp: node.vpp.connect(),
        socketTable,
        flowSource: new SimFlowSource(),
      },
    });
  });
  after(() => running?.stop());

  const ask = async (method: string, path: string) => {
    const url = `http://127.0.0.1:${running.agent.port}${path}`;
    const response = await fetch(url, { method });
    const { status } = response;
    // it does not end
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
    if (!isStream) return { status, text: await response.text() };
    await response.body?.cancel();
    return { status, text: '' };
  };

  it('serves every documented route, and mutating routes only to authorized clients', async () => {
    const table = partOf(readFileSync('docs/rest.md', 'utf8'), 'routes').split('\n');
    for (const route of documented('docs/rest.md', 'routes')) {
      const [method = '', path = ''] = route.split(' ');
      const { status, text } = await ask(method, path.replaceAll(':', ''));
      assert.doesNotMatch(text, /no route [A-Z]+ \//, route);
      const isMutating = table.find((line) => line.includes(`\`${route}\``))?.includes('| yes |');
      assert.equal(status === 403, isMutating, `${route}: ${status} ${text}`);
    }
    assert.match((await ask('GET', '/nowhere')).text, /no route \w+ \/nowhere/);
  });

  it('exports exactly the documented metrics and those of every process', async () => {
    const { text } = await ask('GET', '/metrics');
    const shown = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!);
    const own = shown.filter((name) => !/^(process|nodejs)_/.test(name));
    assert.notEqual(own.length, shown.length);
    assert.deepEqual(own.sort(), documented('docs/metrics.md', 'metrics').sort());
    const stats = [...(await ask('GET', '/stats')).text.matchAll(/^# TYPE (\S+)/gm)];
    assert.deepEqual(
      stats.map(([, name]) => name!).sort(),
      documented('docs/metrics.md', 'statistics').sort(),
    );
  });
});
