/** The agent as the image has it: as a few files, beside which it finds everything, and with a compile cache. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { buildProgram } from '../../../scripts/lib/bundles.ts';
import { buildPage, PAGE } from '../../../scripts/lib/page.ts';

const root = resolve(import.meta.dirname, '../../..');
const USAGE = /^Usage: contiv-agent/;

describe('the bundle of the agent', () => {
  const project = mkdtempSync(join(tmpdir(), 'bundle-'));
  const cache = join(project, '.cache');
  let main = '';

  before(async () => {
    for (const name of ['package.json', 'node_modules', 'examples'])
      symlinkSync(join(root, name), join(project, name));
    await buildPage(project);
    main = join(await buildProgram('agent', project), 'main.js');
  });
  after(() => rmSync(project, { recursive: true }));

  /** It is started by its first line, which has the flags of Node.js. */
  const help = (env: NodeJS.ProcessEnv = {}) => {
    const { stdout, stderr, status } = spawnSync(main, ['--help'], {
      encoding: 'utf8',
      // the runner of the tests has a cache of its own
      env: { ...process.env, NODE_COMPILE_CACHE: undefined, ...env },
    });
    assert.match(stdout, USAGE);
    assert.deepEqual([stderr, status], ['', 0]);
  };
  const cached = () => globSync('compiled/*/*', { cwd: cache }).map((file) => join(cache, file));

  function get(socketPath: string, path: string): Promise<{ status?: number; body: string }> {
    return new Promise((resolve, reject) => {
      const sent = request({ socketPath, path }, async (response) =>
        resolve({ status: response.statusCode!, body: await text(response) }),
      );
      sent.on('error', reject);
      sent.end();
    });
  }

  it('finds its examples, page, version and worker threads', async () => {
    const agent = spawn(main, ['--embedded', '--http-port=0'], {
      env: { ...process.env, TMPDIR: project },
      cwd: project,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    agent.stdout.on('data', (chunk) => {
      said += chunk;
    });
    const shown = async (path: string): Promise<string> => {
      const socket = join(project, `contiv-vswitch-${process.getuid!()}/vpp1/agent.sock`);
      const { status, body } = await get(socket, path);
      assert.equal(status, 200, `${path}: ${body}`);
      return body;
    };
    try {
      while (!said.includes('The agent keeps running')) await once(agent.stdout, 'data');
      assert.match(said, /Node vpp1: (\d+) of \1 pods attached/);
      assert.match(await shown('/scheduler/graph'), /<svg/);
      const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
      assert.equal(JSON.parse(await shown('/readiness')).build_version, `v${version}`);
      const [script = ''] = /main-\w+\.js/.exec(await shown('/ui/')) ?? [];
      assert.equal(await shown(`/ui/${script}`), readFileSync(join(project, PAGE, script), 'utf8'));
      const { Pods } = JSON.parse(await shown('/contiv/v1/ipam/allocations')) as {
        Pods: { PodID: { Name: string; Namespace: string } }[];
      };
      const web = Pods.map(({ PodID }) => `${PodID.Namespace}/${PodID.Name}`).find((name) =>
        name.startsWith('storefront/web-'),
      );
      const pair = new URLSearchParams({ from: web!, to: 'storefront/catalog' });
      assert.equal(JSON.parse(await shown(`/trace/pair?${pair}`)).verdict, 'delivered');
    } finally {
      agent.kill();
      await once(agent, 'close');
    }
  });

  it('writes a compile cache beside it, and uses it as it is', () => {
    rmSync(cache, { recursive: true, force: true });
    help();
    const written = cached().map((file) => statSync(file).mtimeMs);
    assert.ok(written.length > 0);
    help();
    assert.deepEqual(
      cached().map((file) => statSync(file).mtimeMs),
      written,
    );
  });

  it('starts with a damaged compile cache, and replaces it', () => {
    help();
    for (const file of cached()) writeFileSync(file, 'damaged');
    help();
    for (const file of cached()) assert.notEqual(readFileSync(file, 'utf8'), 'damaged');
    for (const file of cached()) {
      const content = readFileSync(file);
      writeFileSync(file, content.fill(0xff, content.length >> 1));
    }
    help();
  });

  it('starts without a folder for the compile cache', () => {
    rmSync(cache, { recursive: true, force: true });
    writeFileSync(cache, 'not a folder');
    help();
    rmSync(cache);
    help({ NODE_DISABLE_COMPILE_CACHE: '1' });
    assert.deepEqual(cached(), []);
  });
});
