/** Every path of the original is in docs/compatibility.md, and does what the table says. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { makeNode, type RunningAgent, startAgent, until } from '#test/cmd/agent/harness.ts';
import { readGolden } from './golden.ts';

interface OriginalPath {
  /** Part of the original's sources that registers it. */
  readonly component: string;
  readonly method: string;
  readonly path: string;
}

interface Row {
  readonly key: string;
  readonly state: string;
  readonly type: string;
  readonly differences: string;
}

const rows: readonly Row[] = readFileSync('docs/compatibility.md', 'utf8')
  .split('\n')
  .filter((line) => /^\| `[A-Z]+ \//.test(line))
  .map((line) => {
    const [, key = '', , state = '', type = '', differences = ''] = line
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim());
    return { key: key.replaceAll('`', ''), state, type, differences };
  });

/** Values of path segments; others have their names. */
const segments: Readonly<Record<string, string>> = { metric: 'govppmux.stats' };

/** Arguments that a route cannot do without. */
const mandatory: Readonly<Record<string, string>> = {
  '/scheduler/key-timeline': '?key=config/vpp/v2/interfaces/podGwLoop',
  '/scheduler/flag-stats': '?flag=error',
};

describe('the paths of the original', () => {
  let running: RunningAgent;
  before(async () => {
    running = await startAgent(makeNode());
    await until(() => running.agent.controller.isIdle);
  });
  after(() => running?.stop());

  const ask = async ({ key }: Row): Promise<Response> => {
    const [method = '', path = ''] = key.split(' ');
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => segments[name] ?? name);
    const known = filled + (mandatory[path] ?? '');
    return fetch(`http://127.0.0.1:${running.agent.port}${known}`, { method });
  };

  it('are all in the table, each with its state', () => {
    const original = readGolden<OriginalPath[]>('original-paths.json');
    assert.deepEqual(
      rows.map(({ key }) => key),
      original.map(({ method, path }) => `${method} ${path}`),
    );
    for (const { key, state, differences } of rows) {
      assert.match(state, /^(same|better|gone)$/, key);
      if (state !== 'same') assert.notEqual(differences, '–', `${key}: how to switch, or why`);
    }
  });

  for (const row of rows.filter(({ state }) => state === 'same'))
    it(`${row.key} is served`, async () => {
      const response = await ask(row);
      const isUnavailable = row.differences.startsWith('status 500');
      const isMutating = /changes state/.test(row.differences);
      const expected = isUnavailable ? 500 : isMutating ? 403 : 200;
      const text = await response.text();
      // the simulated VPP knows few commands
      if (!text.includes('cli_inband')) assert.equal(response.status, expected, text);
      assert.equal(response.headers.get('content-type')?.split(';')[0], row.type);
    });

  for (const row of rows.filter(({ state, key }) => state === 'gone' && !key.startsWith('CONNECT')))
    it(`${row.key} is not served`, async () => {
      assert.ok([404, 405].includes((await ask(row)).status));
    });

  for (const row of rows.filter(({ state }) => state === 'better'))
    it(`${row.key} has a documented route that replaces it`, () => {
      const [method = ''] = row.key.split(' ');
      const path = /`(\/[^`]+)`/.exec(row.differences)?.[1] ?? '';
      assert.match(
        readFileSync('docs/rest.md', 'utf8'),
        new RegExp(`^\\| \`${method} ${path}\` `, 'm'),
      );
    });
});
