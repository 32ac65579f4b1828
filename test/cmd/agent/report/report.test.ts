import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { configNames, parseFlags } from '#cmd/agent/flags.ts';
import { replay } from '#cmd/agent/replay.ts';
import { type ReportDeps, report } from '#cmd/agent/report/report.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { commandFile, documents, vppCommands } from '#infra/support-bundle/contents.ts';
import { withoutMount } from '#test/support/requirements.ts';
import { SmallDisk } from '#test/support/small-disk.ts';
import { configDocuments, keysOfSchema } from '../../../../scripts/lib/docs/config.ts';
import { makeNode, type RunningAgent, startAgent } from '../harness.ts';
import { readBundle } from './bundle.ts';

/** Limits of time pass twenty times as fast. */
const hurriedClock: Clock = {
  now: () => systemClock.now(),
  wallTime: () => systemClock.wallTime(),
  monotonic: () => systemClock.monotonic(),
  sleep: (ms, signal) => systemClock.sleep(ms, signal),
  turn: () => systemClock.turn(),
  timer: (ms, callback) => systemClock.timer(ms / 20, callback),
};

function testFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'report-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes configuration files into the folder, as JSON, which is YAML. */
function configure(folder: string, files: Readonly<Record<string, object>>): void {
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(folder, `${name}.conf`), JSON.stringify(content));
}

/** The sockets of an agent that does not run, and of a VPP that does not. */
function unreachable(folder: string) {
  return {
    http: { 'local-socket': join(folder, 'agent.sock') },
    govpp: { 'binapi-socket-path': join(folder, 'vpp.sock') },
  };
}

function depsIn(folder: string, changed: Partial<ReportDeps> = {}): ReportDeps {
  return {
    flags: parseFlags(['report', '--config-dir', folder, '--microservice-label', 'node1'], {}),
    env: {},
    clock: systemClock,
    random: systemRandom,
    build: { version: 'v0', date: '', commit: '' },
    ended: new Promise(() => undefined),
    ...changed,
  };
}

async function bundleOf(folder: string, deps: ReportDeps) {
  const path = join(folder, 'report.tar.gz');
  const printed: string[] = [];
  await report(path, deps, (text) => void printed.push(text));
  const leftOver = readdirSync(folder).filter((name) => name.includes('.part'));
  assert.deepEqual(leftOver, []);
  return { path, printed: printed.join(''), ...(await readBundle(path)) };
}

/** Points the report at an agent of this process. */
function configureFor(running: RunningAgent, folder: string, recordings: string): void {
  configure(folder, {
    ...unreachable(folder),
    http: { 'local-socket': running.localSocket, 'client-basic-auth': ['admin:hidden-password'] },
    controller: { 'record-run': recordings },
  });
}

describe('a report', { timeout: 120_000 }, () => {
  it('of a running agent is complete, and its recording can be replayed', async (t) => {
    const folder = testFolder(t);
    const recordings = join(folder, 'runs');
    await using running = await startAgent(makeNode(), {
      controller: { 'record-run': recordings },
    });
    configureFor(running, folder, recordings);
    const { path, printed, files, manifest, errors } = await bundleOf(folder, depsIn(folder));
    // The simulated VPP knows few commands: it answers the others with an error.
    const incomplete = Object.keys(errors).filter((file) => !file.startsWith('vpp/'));
    assert.deepEqual(incomplete, []);
    for (const text of Object.values(errors)) assert.match(text, /^status 500: [^{]/);
    assert.doesNotMatch(printed, /"Error"/);
    const configuration = ['configuration/http.json', 'configuration/effective.json'];
    for (const file of [...Object.keys(documents), ...configuration])
      if (!file.startsWith('vpp/')) assert.ok((files.get(file)?.length ?? 0) > 1, file);
    for (const command of vppCommands)
      assert.ok(manifest.parts.some(({ file }) => file === commandFile(command)));
    assert.match(files.get('status/metrics.txt')!, /^contiv_controller_/m);
    assert.match(files.get('controller/event-history.txt')!, /Resync/);
    assert.match(files.get('logs/agent.log')!, /"msg":/);
    const [recording = ''] = readdirSync(recordings);
    assert.ok(files.get(`recording/${recording}`)!.startsWith('{"t":"run"'));
    assert.match(printed, /report\.tar\.gz: \d+ of \d+ parts\n/);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(manifest.node, 'node1');

    const replayed: string[] = [];
    assert.equal(await replay(path, (text) => void replayed.push(text)), true);
    assert.match(replayed.join(''), /replayed: \d+ events[\s\S]*all transactions are equal/);
  });

  it('has no secret of the configuration, whatever key it is in', async (t) => {
    const folder = testFolder(t);
    const recordings = join(folder, 'runs');
    await using running = await startAgent(makeNode(), {
      controller: { 'record-run': recordings },
    });
    let planted = 0;
    const plant = () => `planted-secret-${planted++}-x`;
    const names: string[] = [];
    for (const { fileName, schema } of await configDocuments()) {
      const content: Record<string, unknown> = { unknown: plant(), list: [{ unknown: plant() }] };
      for (const { path, node } of keysOfSchema(schema)) {
        if (path.includes('[]')) continue;
        const parts = path.split('.');
        const last = parts.pop()!;
        let at = content;
        for (const part of parts) {
          at[part] ??= {};
          at = at[part] as Record<string, unknown>;
        }
        // Any text may be in a text; what is secret there has the form of a password in an address.
        const isText = node.type === 'string' && !/pass|key|cert|auth|token|secret/.test(last);
        const text = isText ? `http://root:${plant()}@10.0.0.1` : plant();
        at[last] = node.type === 'array' ? [`root:${plant()}@10.0.0.1`] : text;
      }
      const text = `# ${plant()}\n${JSON.stringify(content)} # ${plant()}`;
      writeFileSync(join(folder, fileName), text);
      names.push(fileName);
    }
    assert.ok(planted > 80 && configNames.every((name) => names.includes(`${name}.conf`)));
    const env = { ETCD_ENDPOINTS: `http://root:${plant()}@10.0.0.1`, INITIAL_LOGLVL: plant() };
    const broken = await bundleOf(folder, depsIn(folder, { env }));
    assert.match(broken.errors['configuration/effective.json'] ?? '', /\.conf:\d+: /);
    assert.ok(broken.files.size > configNames.length);
    const all = gunzipSync(readFileSync(broken.path)).toString();
    const found = /.{0,100}planted-secret.{0,30}/.exec(all + broken.printed)?.[0];
    assert.equal(found, undefined);

    // A password that begins like an alias of YAML makes an error that quotes it.
    writeFileSync(join(folder, 'http.conf'), 'client-basic-auth: [*planted-secret]');
    const quoted = await bundleOf(folder, depsIn(folder));
    assert.match(quoted.errors['configuration/http.json'] ?? '', /the configuration is invalid/);
    assert.doesNotMatch(gunzipSync(readFileSync(quoted.path)).toString(), /planted/);

    // What a valid configuration calls secret is masked in what the agent says, too.
    for (const name of names) rmSync(join(folder, name));
    configureFor(running, folder, recordings);
    configure(folder, { etcd: { endpoints: ['root:hidden-password-2@10.0.0.1:2379'] } });
    const said = 'hidden-password and hidden-password-2 and YWRtaW46aGlkZGVuLXBhc3N3b3Jk';
    running.loggers.get('agent').info(said);
    const { path, files } = await bundleOf(folder, depsIn(folder));
    assert.match(files.get('logs/agent.log')!, /\*{15} and \*{17} and \*{28}/);
    assert.match(files.get('configuration/effective.json')!, /"client-basic-auth": "<removed>"/);
    assert.doesNotMatch(gunzipSync(readFileSync(path)).toString(), /hidden-password|YWRtaW46/);
  });

  it('without agent and VPP has the rest, and says what is missing', async (t) => {
    const folder = testFolder(t);
    const recordings = join(folder, 'runs');
    mkdirSync(recordings);
    writeFileSync(join(recordings, 'run-2026-01-01T00-00-00Z-1.jsonl'), '{"t":"run"}\n');
    configure(folder, { ...unreachable(folder), controller: { 'record-run': recordings } });
    const { printed, files, errors } = await bundleOf(folder, depsIn(folder));
    for (const file of [...Object.keys(documents), ...vppCommands.map(commandFile)])
      assert.match(errors[file] ?? '', /ENOENT/, file);
    assert.ok(files.has('configuration/effective.json'));
    assert.equal(files.get('recording/run-2026-01-01T00-00-00Z-1.jsonl'), '{"t":"run"}\n');
    assert.match(printed, /not complete: status\/readiness\.json: connect ENOENT/);
  });

  it('has the other parts when a recording disappears meanwhile', async (t) => {
    const folder = testFolder(t);
    const recordings = join(folder, 'runs');
    mkdirSync(recordings);
    writeFileSync(join(recordings, 'run-1.jsonl'), '{"t":"run"}\n');
    symlinkSync(join(recordings, 'removed'), join(recordings, 'run-2.jsonl'));
    configure(folder, { ...unreachable(folder), controller: { 'record-run': recordings } });
    const { files, errors } = await bundleOf(folder, depsIn(folder));
    assert.match(errors['recording/run-2.jsonl'] ?? '', /ENOENT/);
    assert.equal(files.get('recording/run-1.jsonl'), '{"t":"run"}\n');
  });

  it('is complete when another one has the same path at the same time', async (t) => {
    const folder = testFolder(t);
    configure(folder, unreachable(folder));
    const path = join(folder, 'report.tar.gz');
    const counts = await Promise.all(
      Array.from({ length: 3 }, async () => {
        await report(path, depsIn(folder), () => undefined);
        const { files, manifest } = await readBundle(path);
        assert.equal(manifest.parts.filter(({ file }) => files.has(file)).length, files.size - 1);
        return files.size;
      }),
    );
    assert.equal(new Set(counts).size, 1, `${counts} files`);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.includes('.part')),
      [],
    );
  });

  it('writes no file that another user has placed beside its path', async (t) => {
    const folder = testFolder(t);
    configure(folder, unreachable(folder));
    const victim = join(folder, 'victim');
    writeFileSync(victim, 'before');
    for (const name of ['report.tar.gz.part', 'report.tar.gz.partial', 'report.tar.gz'])
      symlinkSync(victim, join(folder, name));
    const path = join(folder, 'report.tar.gz');
    await report(path, depsIn(folder), () => undefined);
    assert.equal(readFileSync(victim, 'utf8'), 'before');
    assert.equal(lstatSync(path).mode & 0o777, 0o600);
    assert.ok(lstatSync(path).isFile());
  });

  it('ends in time when agent and VPP accept connections, and answer nothing', async (t) => {
    const folder = testFolder(t);
    const sockets = unreachable(folder);
    for (const path of [sockets.http['local-socket'], sockets.govpp['binapi-socket-path']]) {
      const server = createServer().listen(path);
      await once(server, 'listening');
      t.after(() => server.close());
    }
    configure(folder, sockets);
    const begin = systemClock.monotonic();
    const deps = depsIn(folder, { clock: hurriedClock });
    const { files, errors } = await bundleOf(folder, deps);
    assert.ok(systemClock.monotonic() - begin < 20_000);
    assert.match(errors['scheduler/status.json'] ?? '', /no reply in 20 s/);
    assert.match(errors[commandFile('show interface')] ?? '', /VPP does not answer/);
    assert.ok(files.has('configuration/http.json'));
  });

  it('leaves no archive when it is stopped, or cannot be written', async (t) => {
    const folder = testFolder(t);
    const sockets = unreachable(folder);
    const server = createServer().listen(sockets.http['local-socket']);
    await once(server, 'listening');
    t.after(() => server.close());
    configure(folder, sockets);
    const files = readdirSync(folder);
    const path = join(folder, 'report.tar.gz');
    const ended = systemClock.sleep(500).then(() => 'SIGTERM');
    await assert.rejects(
      report(path, depsIn(folder, { ended }), () => undefined),
      { code: 'CV_REPORT', message: /stopped by SIGTERM/ },
    );
    assert.deepEqual(readdirSync(folder), files);
    await assert.rejects(
      report(join(folder, 'no', 'x.tar.gz'), depsIn(folder), () => undefined),
      { code: 'CV_REPORT', message: /cannot write the archive: ENOENT/ },
    );
  });

  it('leaves no archive on a full disk, and keeps the one before it', {
    skip: withoutMount(),
  }, async (t) => {
    const folder = testFolder(t);
    const recordings = join(folder, 'runs');
    mkdirSync(recordings);
    configure(folder, { ...unreachable(folder), controller: { 'record-run': recordings } });
    const disk = new SmallDisk('2m');
    t.after(() => disk.close());
    const path = join(disk.folder, 'report.tar.gz');
    writeFileSync(path, 'the archive before');
    const fails = async () => {
      await assert.rejects(
        report(path, depsIn(folder), () => undefined),
        { code: 'CV_REPORT', message: /cannot write the archive: .*ENOSPC/ },
      );
      const left = readdirSync(disk.folder).filter((name) => name !== 'filler');
      assert.deepEqual(left, ['report.tar.gz']);
      assert.equal(readFileSync(path, 'utf8'), 'the archive before');
    };
    // The part that is read does not fit.
    writeFileSync(join(recordings, 'run-1.jsonl'), Buffer.alloc(4 << 20, 'x'));
    await fails();
    // Nothing fits.
    disk.fill();
    await fails();
    disk.free();
    rmSync(join(recordings, 'run-1.jsonl'));
    await report(path, depsIn(folder), () => undefined);
    assert.ok(existsSync(path) && (await readBundle(path)).files.size > 1);
  });
});
