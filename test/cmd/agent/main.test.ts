import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '#test/support/temporary-folder.ts';
import { agentFile, runAgentProgram as run } from './agent-program.ts';
import { until } from './harness.ts';

const netctlFile = resolve(import.meta.dirname, '../../../src/cmd/netctl/main.ts');
/** Runs a program on a terminal. */
const hasScript = spawnSync('script', ['--version']).status === 0;

/** Files for an agent without VPP that writes only to its folder. */
function ownFolder(): string {
  const folder = temporaryFolder('main');
  const files = {
    bolt: `db-path: ${join(folder, 'not', 'yet', 'there')}`,
    govpp: `binapi-socket-path: ${join(folder, 'vpp.sock')}`,
    grpc: `endpoint: ${join(folder, 'cni.sock')}`,
    http: `endpoint: 127.0.0.1:0\nlocal-socket: ${join(folder, 'agent.sock')}`,
  };
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(folder, `${name}.conf`), text);
  return folder;
}

function status(socketPath: string, path: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const asked = request({ socketPath, path }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode));
    });
    asked.on('error', () => resolve(undefined));
    asked.end();
  });
}

describe('contiv-agent as a process', () => {
  it('exits with code 2 and one clear reason for invalid arguments', async () => {
    const folder = ownFolder();
    mkdirSync(join(folder, 'manifests', 'a-folder.yaml'), { recursive: true });
    const unknown = await run(folder, '--nonsense').ended;
    assert.equal(unknown.code, 2);
    assert.equal(unknown.text, "error: unknown option '--nonsense'\n(--help lists all options)\n");
    const nowhere = await run(folder, '--embedded', '--manifests', '/nowhere').ended;
    assert.equal(nowhere.code, 2);
    assert.match(nowhere.text, /^contiv-agent: \/nowhere: cannot be read: ENOENT.*\nCV_MANIFESTS/m);
    assert.equal((await run(folder, '--help').ended).code, 0);
  });

  it('exits at once, with code 0, while it waits for VPP', async () => {
    const folder = ownFolder();
    const agent = run(folder);
    await agent.said('cannot connect to VPP');
    agent.signal('SIGTERM');
    const { code, text } = await agent.ended;
    assert.equal(code, 0, text);
    assert.doesNotMatch(text, /"level":"(error|fatal)"/);
  });

  it('packs a report of a running agent, which a replay accepts', async () => {
    const folder = ownFolder();
    const runs = join(folder, 'runs');
    writeFileSync(join(folder, 'controller.conf'), `record-run: ${runs}`);
    const agent = run(folder, '--embedded', '--http-port', '0');
    await agent.said('pods attached');
    const made = await run(folder, 'report', '--embedded').ended;
    assert.equal(made.code, 0, made.text);
    const [archive = ''] =
      /^contiv-report-vpp1-20.*\.tar\.gz(?=: \d+ of \d+ parts)/m.exec(made.text) ?? [];
    assert.doesNotMatch(made.text, /not complete: (status|controller|scheduler|node|logs)/);
    const same = await run(folder, 'replay', join(folder, archive)).ended;
    assert.equal(same.code, 0, same.text);
    assert.match(same.text, /all transactions are equal\n$/);
    writeFileSync(join(folder, 'no.tar.gz'), Buffer.of(0x1f, 0x8b, 1, 2));
    const damaged = await run(folder, 'replay', join(folder, 'no.tar.gz')).ended;
    assert.equal(damaged.code, 2);
    assert.match(
      damaged.text,
      /no\.tar\.gz: the archive cannot be read: .*\nCV_RECORDING_UNREADABLE/,
    );
    agent.signal('SIGKILL');
    await agent.ended;
  });

  it('records until it is killed, and reports the result of the replay by its exit code', async () => {
    const folder = ownFolder();
    const runs = join(folder, 'runs');
    writeFileSync(join(folder, 'controller.conf'), `record-run: ${runs}`);
    const agent = run(folder, '--embedded', '--http-port', '0');
    await agent.said('pods attached');
    agent.signal('SIGKILL');
    assert.equal((await agent.ended).signal, 'SIGKILL');
    const same = await run(folder, 'replay', runs).ended;
    assert.equal(same.code, 0, same.text);
    assert.match(same.text, /on vpp1, started 20.*\n {2}replayed: \d+ events, \d+ transactions\n/);
    assert.match(same.text, /all transactions are equal\n$/);

    const [file = ''] = readdirSync(runs);
    const text = readFileSync(join(runs, file), 'utf8');
    const address = /"10\.1\.1\.\d+\/32"/.exec(
      text.slice(text.indexOf('"onFailure":"revert"')),
    )?.[0];
    assert.ok(address);
    writeFileSync(join(runs, file), text.replaceAll(address, '"10.1.1.250/32"'));
    const other = await run(folder, 'replay', join(runs, file)).ended;
    assert.equal(other.code, 1, other.text);
    assert.match(
      other.text,
      /first difference: event #\d+ Add Pod .*\n.*transaction, key config\//,
    );
    assert.match(other.text, /recorded: .*10\.1\.1\.250\/32"\n +replayed: .*10\.1\.1\.\d+\/32"/);

    for (const nonsense of [['replay', folder], ['replay'], ['undeploy', runs]]) {
      const { code, text } = await run(folder, ...nonsense).ended;
      assert.equal(code, 2, text);
    }
  });

  it('continues when its log has no reader', async () => {
    const folder = ownFolder();
    const agent = run(folder, '--embedded', '--http-port', '0');
    await agent.said('NEW EVENT');
    agent.deafen();
    const socket = join(folder, `contiv-vswitch-${process.getuid!()}`, 'vpp1', 'agent.sock');
    await until(async () => (await status(socket, '/controller/event-history?seq-num=30')) === 200);
    agent.signal('SIGTERM');
    const { code, text } = await agent.ended;
    assert.equal(code, 0, text);
  });

  it('runs and stops although its output cannot be written', async () => {
    const folder = ownFolder();
    const agent = run(folder, { stdout: '/dev/full' }, '--embedded', '--http-port', '0');
    const socket = join(folder, `contiv-vswitch-${process.getuid!()}`, 'vpp1', 'agent.sock');
    await until(async () => (await status(socket, '/readiness')) === 200);
    agent.signal('SIGTERM');
    const { code, text } = await agent.ended;
    assert.equal(code, 0, text);
  });

  it('logs that it stops when the terminal is closed', async () => {
    const folder = ownFolder();
    const agent = run(folder);
    await agent.said('cannot connect to VPP');
    agent.signal('SIGHUP');
    const { code, text } = await agent.ended;
    assert.equal(code, 0, text);
    assert.match(text, /"signal":"SIGHUP".*stopping/);
  });

  it('exits with code 0 for a repeated signal, and starts again', async () => {
    const folder = ownFolder();
    for (let life = 1; life <= 2; life++) {
      const agent = run(folder, '--embedded', '--http-port', '0');
      await agent.said('Ctrl-C stops it.\n');
      if (life === 2) {
        const second = await run(folder, '--embedded', '--http-port', '0').ended;
        assert.equal(second.code, 1);
        const running =
          /an agent of yours runs as node vpp1 already: process (\d+)\nCV_DEMONSTRATION_RUNNING: /;
        assert.equal(Number(running.exec(second.text)?.[1]), agent.pid);
      }
      agent.signal('SIGINT');
      agent.signal('SIGINT');
      const { code, text } = await agent.ended;
      assert.equal(code, 0, text);
      // A busy machine may read the output too late.
      const problems = text
        .split('\n')
        .filter((line) => /"level":"(warn|error|fatal)"/.test(line) && !/"EAGAIN"/.test(line));
      assert.deepEqual(problems, []);
      const [before = '', after = ''] = text.split('Ctrl-C stops it.\n');
      assert.match(before, /24 of 24 pods attached/);
      assert.match(after, /^\{"level":"info",[^\n]*"signal":"SIGINT"/, 'the summary comes last');
    }
  });

  it('prints a short summary on a terminal, and netctl finds it', {
    skip: !hasScript,
  }, async () => {
    const folder = temporaryFolder('terminal');
    const env = { ...process.env, TMPDIR: folder, KUBECONFIG: '', ETCD_ENDPOINTS: '' };
    const command = `exec ${process.execPath} ${agentFile} --embedded --http-port 0`;
    const child = spawn('script', ['-qec', command, '/dev/null'], { env, cwd: folder });
    const ended = once(child, 'close');
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
    });
    await until(async () => text.includes('Ctrl-C stops it.'));
    const netctl = spawnSync(process.execPath, [netctlFile, 'nodes'], { env });
    child.stdin.write('\x03');
    await ended;
    assert.match(`${netctl.stdout}${netctl.stderr}`, /\bvpp1\b/);
    const lines = text.trimEnd().split('\n');
    assert.ok(lines.length < 25, text);
    assert.ok(!text.includes('{"level"'), text);
    const [, log = ''] = /The log is (.*)\.\r?\n/.exec(text) ?? [];
    assert.match(readFileSync(log, 'utf8'), /^\{"level":"info",/m);
    assert.doesNotMatch(readFileSync(log, 'utf8'), /the configuration stays/);
  });

  it('names the folder that another user has taken', async () => {
    const folder = ownFolder();
    const elsewhere = temporaryFolder('elsewhere');
    symlinkSync(elsewhere, join(folder, `contiv-vswitch-${process.getuid!()}`));
    const { code, text } = await run(folder, '--embedded', '--http-port', '0').ended;
    assert.equal(code, 2, text);
    assert.match(
      text,
      /contiv-vswitch-\d+: is not a folder of this user\nCV_USER_FOLDER: Set TMPDIR/,
    );
  });

  it('names the folder that it cannot create', async () => {
    const folder = ownFolder();
    writeFileSync(join(folder, `contiv-vswitch-${process.getuid!()}`), '');
    const { code, text } = await run(folder, '--embedded', '--http-port', '0').ended;
    assert.equal(code, 2, text);
    assert.match(
      text,
      /^contiv-agent: .*contiv-vswitch-\d+: cannot be created: EEXIST.*\nCV_USER_FOLDER: Set TMPDIR/m,
    );
    assert.doesNotMatch(text, /\n +at /);
  });
});
