import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { programCommand, programFile } from '#test/support/program-command.ts';
import { temporaryFolder } from '#test/support/temporary-folder.ts';

const document = resolve(import.meta.dirname, '../../../docs/rest.md');

/** Values of the parts of paths that are variable. */
const examples: Readonly<Record<string, string>> = {
  '/contiv/v1/services': 'default/kubernetes',
  '/metrics': 'govppmux.stats',
  '/ui': 'index.html',
};

/** The original answers these; docs/rest.md says that this agent does not, and so does the reply. */
const notHere: ReadonlySet<string> = new Set([
  '/dump/vpp/v2/abf',
  '/dump/vpp/v2/ipsec/sas',
  '/dump/vpp/v2/ipsec/spds',
  '/service',
]);

function documentedPaths(): string[] {
  const paths = readFileSync(document, 'utf8').matchAll(/^\| `GET ([^`]+)` \|/gm);
  return [...new Set(Array.from(paths, ([, path = '']) => path))];
}

/** @returns the status and the first part of the body */
function answer(socketPath: string, path: string): Promise<{ status: number; text: string }> {
  return new Promise((done, reject) => {
    const sent = request({ socketPath, path }, (response) => {
      const status = response.statusCode ?? 0;
      // An event stream has no end.
      if (status < 500) {
        response.destroy();
        done({ status, text: '' });
        return;
      }
      response.setEncoding('utf8').once('data', (text: string) => done({ status, text }));
    });
    sent.once('error', reject);
    sent.end();
  });
}

describe('the agent of npm start', () => {
  const folder = temporaryFolder('routes');
  const [executable = '', ...args] = programCommand(programFile('agent'));
  const agent = spawn(executable, [...args, '--embedded', '--http-port', '0'], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  });

  before(async () => {
    let said = '';
    agent.stdout.on('data', (text) => {
      said += text;
    });
    while (!said.includes('Ctrl-C stops it.')) await once(agent.stdout, 'data');
  });

  after(async () => {
    agent.kill();
    await once(agent, 'close');
  });

  it('answers each documented GET route', async () => {
    const socket = join(folder, `contiv-vswitch-${process.getuid!()}`, 'vpp1', 'agent.sock');
    const paths = documentedPaths();
    assert.ok(paths.length > 50);
    const failed: string[] = [];
    for (const path of paths) {
      const [base = ''] = path.split('/:');
      const asked = base === path ? path : `${base}/${examples[base] ?? 'storefront/web'}`;
      const { status, text } = await answer(socket, asked);
      if (status >= 500 && !notHere.has(asked)) failed.push(`${asked}: ${status} ${text}`);
    }
    assert.deepEqual(failed, []);
  });
});
