import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parseValue } from '#cmd/agent/parse-value.ts';
import { makeNode, type RunningAgent, startAgent, until } from '#test/cmd/agent/harness.ts';
import { temporaryFolder } from '#test/support/temporary-folder.ts';
import { ValuesOfFile } from '../../examples/plugin/values-of-file.ts';

const key = (name: string) => `config/vpp/v2/interfaces/${name}`;

function fileOf(...names: string[]): string {
  const value = (name: string) => ({ name, type: 'SOFTWARE_LOOPBACK', enabled: true });
  const type = 'ligato.vpp.interfaces.Interface';
  return JSON.stringify(
    Object.fromEntries(names.map((name) => [key(name), { type, value: value(name) }])),
  );
}

async function stateOf(running: RunningAgent, name: string): Promise<string | undefined> {
  const { body } = await running.get(`/scheduler/status?key=${key(name)}`);
  return (body as { value?: { state?: string } }).value?.state;
}

describe('examples/plugin/values-of-file.ts', () => {
  it('configures the values of a file, and what is changed in it', async () => {
    const path = join(temporaryFolder('values'), 'values.json');
    await writeFile(path, fileOf('loop1', 'loop2'));
    const source = new ValuesOfFile(path, parseValue);
    await using running = await startAgent(makeNode(), { externalSources: [source] });
    assert.equal(await stateOf(running, 'loop1'), 'CONFIGURED');
    assert.equal(await stateOf(running, 'loop2'), 'CONFIGURED');

    const { controller } = running.agent;
    await writeFile(path, fileOf('loop2', 'loop3'));
    await source.reload(controller);
    await until(() => controller.isIdle);
    assert.equal(await stateOf(running, 'loop1'), 'NONEXISTENT');
    assert.equal(await stateOf(running, 'loop3'), 'CONFIGURED');

    await writeFile(path, '{');
    await assert.rejects(source.reload(controller), SyntaxError);
    assert.equal(await stateOf(running, 'loop3'), 'CONFIGURED');
  });
});
