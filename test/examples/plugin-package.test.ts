/** A plugin as the package of its author: built from what `npm pack` makes of the API, and loaded by an agent from plugins.conf. */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { before, describe, it } from 'node:test';
import { programFile } from '#test/support/program-command.ts';
import { withoutProgram } from '#test/support/requirements.ts';
import { temporaryFolder } from '#test/support/temporary-folder.ts';
import { buildProgram } from '../../scripts/lib/bundles.ts';
import { buildPluginPackage } from '../../scripts/lib/plugin-package.ts';

const root = resolve(import.meta.dirname, '../..');
const EXAMPLE = join(root, 'examples/plugin-package');
const NETWORK = '192.0.2.0/24';

interface Run {
  readonly text: string;
  /** As VPP has them, as JSON. */
  readonly routes: string;
  /** Folder. */
  readonly recording: string;
}

describe('a plugin in a package of its own', { timeout: 300_000 }, () => {
  const folder = temporaryFolder('plugin-package');
  let author: string;
  let plugin: string;

  before(async () => {
    const api = join(folder, 'api');
    await buildPluginPackage(api);
    const packed = execFileSync('npm', ['pack', '--json', `--pack-destination=${folder}`], {
      cwd: api,
      encoding: 'utf8',
    });
    const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
    author = join(folder, 'author');
    cpSync(EXAMPLE, author, { recursive: true });
    const installed = join(author, 'node_modules/contiv-vswitch');
    mkdirSync(installed, { recursive: true });
    const archive = join(folder, filename);
    execFileSync('tar', ['-xzf', archive, '--strip-components=1', '-C', installed]);
    const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    for (const name of Object.keys(dependencies)) {
      const link = join(author, 'node_modules', name);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(root, 'node_modules', name), link);
    }
    execFileSync(join(root, 'node_modules/typescript-7/bin/tsc'), [], {
      cwd: author,
      encoding: 'utf8',
    });
    plugin = join(author, 'dist/blocked-networks.js');
  });

  /** An agent with this content of plugins.conf, on simulated parts. @returns its output, and the routes of VPP */
  async function run(main: string, modules: unknown): Promise<Run> {
    const own = mkdtempSync(join(folder, 'agent-'));
    const recording = join(own, 'run');
    // JSON is YAML
    writeFileSync(join(own, 'plugins.conf'), JSON.stringify({ modules }));
    writeFileSync(join(own, 'controller.conf'), JSON.stringify({ 'record-run': recording }));
    const agent = spawn(
      process.execPath,
      [main, '--embedded', '--http-port=0', `--config-dir=${own}`],
      {
        env: { ...process.env, TMPDIR: own },
        cwd: own,
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    let text = '';
    for (const stream of [agent.stdout, agent.stderr])
      stream.on('data', (chunk) => {
        text += chunk;
      });
    const closed = once(agent, 'close');
    try {
      while (!text.includes('The agent keeps running') && agent.exitCode === null)
        await Promise.race([once(agent.stdout, 'data'), closed]);
      if (agent.exitCode !== null) return { text, routes: '', recording };
      const socket = join(own, `contiv-vswitch-${process.getuid!()}/vpp1/agent.sock`);
      const routes = execFileSync(
        'curl',
        [
          '-sf',
          '--unix-socket',
          socket,
          'http://agent/scheduler/dump?view=SB&key-prefix=config/vpp/v2/route/',
        ],
        { encoding: 'utf8', maxBuffer: 64 << 20 },
      );
      return { text, routes, recording };
    } finally {
      agent.kill();
      await closed;
    }
  }

  const configured = () => [{ path: plugin, options: { networks: [NETWORK] } }];

  it('handles the events of an agent from the source', async () => {
    const main = programFile('agent');
    const { routes, text, recording } = await run(main, configured());
    assert.ok(routes.includes(NETWORK), text);
    const refused = spawnSync(process.execPath, [main, 'replay', recording], { encoding: 'utf8' });
    assert.equal(refused.status, 2);
    assert.match(refused.stderr, /it names plugin modules: .*\nCV_REPLAY_PLUGINS: /);
    const asked = [main, 'replay', recording, '--load-plugins'];
    const replayed = execFileSync(process.execPath, asked, { encoding: 'utf8' });
    assert.match(replayed, /all transactions are equal/);
    const routed = readFileSync(join(recording, readdirSync(recording)[0]!), 'utf8');
    assert.ok(routed.includes(NETWORK), 'the recording has what the plugin puts');
  });

  it('handles those of the agent as the image has it', async () => {
    const project = join(folder, 'image');
    mkdirSync(project);
    for (const name of ['package.json', 'node_modules', 'examples'])
      symlinkSync(join(root, name), join(project, name));
    const main = join(await buildProgram('agent', project), 'main.js');
    const { routes, text } = await run(main, configured());
    assert.ok(routes.includes(NETWORK), text);
  });

  it('has the infrastructure that the other examples use', {
    skip: withoutProgram('setpriv'),
  }, () => {
    const programs = [
      'index-map/lookup.ts',
      'index-map/watch.ts',
      'log-levels/levels.ts',
      'process-manager/template.ts',
      'tracer/measure.ts',
    ];
    for (const name of [...new Set(programs.map(dirname)), 'messaging'])
      cpSync(join(root, 'examples', name), join(author, name), { recursive: true });
    const output = (folder: string, program: string) =>
      execFileSync(process.execPath, [join(folder, program)], { encoding: 'utf8' });
    for (const program of programs)
      assert.equal(output(author, program), output(join(root, 'examples'), program), program);
    // It needs a broker: its modules and their names are there.
    const code =
      'const { connectKafka } = await import("contiv-vswitch"); ' +
      'await import("./messaging/interface-states.ts"); console.log(typeof connectKafka)';
    const loaded = execFileSync(process.execPath, ['--input-type=module', '-e', code], {
      cwd: author,
      encoding: 'utf8',
    });
    assert.equal(loaded, 'function\n');
  });

  it('stops the start with the module and its fault', async () => {
    const wrong = await run(programFile('agent'), [{ path: plugin, options: {} }]);
    assert.match(wrong.text, /networks is no list/);
    assert.match(wrong.text, /CV_BLOCKED_NETWORKS: Set options\.networks/);
    const missing = await run(programFile('agent'), [{ path: '/nowhere.js' }]);
    assert.match(missing.text, /CV_PLUGIN_MODULE/);
    const nothing = join(folder, 'nothing.js');
    writeFileSync(nothing, 'export default () => ({ name: "service" });');
    const invalid = await run(programFile('agent'), [{ path: nothing }]);
    assert.match(invalid.text, /its handler service has no handlesEvent\(\)/);
  });
});
