/** contiv-cni as a process: its input, its log, its exit code, and its termination. */
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { systemClock } from '#infra/clock/system.ts';
import { declareUnless, withoutCompiler } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { buildExecutable, builds, errorIn, run } from './executable.ts';
import { folder } from './runtime.ts';
import { agentThat, agentWith } from './stand-in-agent.ts';

const call = { CNI_COMMAND: 'DEL', CNI_CONTAINERID: 'c1', CNI_IFNAME: 'eth0' };
const absent = join(folder, 'absent.sock');

let logs = 0;

function configOf(grpcServer: string, more: object = {}) {
  const logFile = join(folder, `process-${logs++}.log`);
  const document = { cniVersion: '1.0.0', name: 'k8s', grpcServer, logFile, ...more };
  return { logFile, input: JSON.stringify(document) };
}

function linesOf(file: string): Record<string, unknown>[] {
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line));
}

for (const [build, options] of Object.entries(builds))
  await declareUnless(withoutCompiler(), `contiv-cni as a process, ${build} build`, () =>
    describe(`contiv-cni as a process, ${build} build`, () => declare(buildExecutable(options))),
  );

function declare(executable: string): void {
  it('logs a call as one line in a file that only its owner can read', async () => {
    const { input, logFile } = configOf(absent);
    const ended = await run(executable, { ...call, CNI_ARGS: 'A="b"\\\u0001é' }, input);
    assert.equal(ended.errors, '');
    const [{ time, ms, ...line } = {}] = linesOf(logFile);
    assert.match(String(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.ok(Math.abs(Date.parse(String(time)) - Date.now()) < 60_000);
    assert.ok(Number.isInteger(ms));
    const { cniVersion: _, ...error } = errorIn(ended);
    assert.deepEqual(line, {
      level: 'error',
      command: 'DEL',
      network: 'k8s',
      container: 'c1',
      ifname: 'eth0',
      args: 'A="b"\\\u0001é',
      ...error,
    });
    assert.equal(statSync(logFile).mode & 0o777, 0o600);
  });

  it('logs what the agent answers', async () => {
    const { input, logFile } = configOf('');
    await using agent = await agentWith({});
    const given = input.replace('"grpcServer":""', `"grpcServer":"${agent.socket}"`);
    assert.equal((await run(executable, call, given)).code, 0);
    assert.equal((await run(executable, { ...call, CNI_CONTAINERID: '/' }, given)).code, 1);
    const [good, bad] = linesOf(logFile);
    assert.deepEqual(
      [good!['level'], good!['container'], good!['code']],
      ['info', 'c1', undefined],
    );
    assert.deepEqual([bad!['level'], bad!['code']], ['error', 4]);
    assert.match(String(bad!['msg']), /CNI_CONTAINERID is invalid/);
  });

  it('writes valid JSON for bytes that are not UTF-8', async () => {
    const file = join(folder, 'bytes');
    const { input, logFile } = configOf(absent);
    writeFileSync(file, input);
    const odd = '\\377\\300\\200 \\355\\240\\200 \\360\\237\\230\\200 \\364\\220\\200\\200 \\303';
    const script = `export CNI_ARGS="$(printf '${odd}')"; exec ${executable} <${file}`;
    const { stdout } = spawnSync('sh', ['-c', script], { env: call, encoding: 'utf8' });
    assert.equal(JSON.parse(stdout).code, 11);
    const bad = '\ufffd';
    assert.equal(
      linesOf(logFile)[0]!['args'],
      `${bad.repeat(3)} ${bad.repeat(3)} 😀 ${bad.repeat(4)} ${bad}`,
    );
  });

  it('returns its result even if the log cannot be written', async () => {
    const { input } = configOf(absent, { logFile: join(folder, 'not there', 'cni.log') });
    const ended = await run(executable, call, input);
    assert.equal(errorIn(ended).code, 11);
    assert.match(
      ended.errors,
      /^contiv-cni: cannot write the log .*: No such file or directory\n\{.*"command":"DEL".*\}\n$/,
    );
  });

  it('does not wait for the reader of a log that is a FIFO', async () => {
    const logFile = join(folder, `fifo-${logs++}`);
    execFileSync('mkfifo', [logFile]);
    const ended = await run(executable, call, configOf(absent, { logFile }).input);
    assert.match(ended.errors, /No such device or address/);
    assert.equal(errorIn(ended).code, 11);
  });

  it('closes the connection to a silent agent when the runtime stops it', async () => {
    const agent = join(folder, `hanging-${logs}.sock`);
    const server = createServer().listen(agent);
    await once(server, 'listening');
    const child = spawn(executable, { env: call });
    child.stdin.end(configOf(agent).input);
    const [socket] = (await once(server, 'connection')) as [Socket];
    const gone = once(socket.resume(), 'close');
    child.kill('SIGTERM');
    const [output, [, signal]] = await Promise.all([text(child.stdout), once(child, 'close')]);
    await gone;
    server.close();
    assert.deepEqual([output, signal], ['', 'SIGTERM']);
  });

  it('reads its whole input, also in pieces from a pipe that is non-blocking', async () => {
    await using agent = await agentWith({});
    const pipe = join(folder, `pipe-${logs++}`);
    execFileSync('mkfifo', [pipe]);
    const reading = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    const writing = openSync(pipe, constants.O_WRONLY);
    const child = spawn(executable, { env: call, stdio: [reading, 'pipe', 'inherit'] });
    closeSync(reading);
    const { input } = configOf(agent.socket, { note: `a${'é'.repeat(100_000)}` });
    for (let at = 0; at < input.length; at += 20_000) {
      writeSync(writing, input.slice(at, at + 20_000));
      await systemClock.sleep(2);
    }
    closeSync(writing);
    const [output, [code]] = await Promise.all([text(child.stdout!), once(child, 'close')]);
    assert.deepEqual([output, code], ['', 0]);
  });

  it('reads no more than 8 MiB of an input of 64 MB', async () => {
    const ended = await run(executable, call, Buffer.alloc(64_000_000, ' '));
    assert.equal(errorIn(ended).code, 7);
  });

  it('uses no connection as standard output', async () => {
    await using agent = await agentWith({});
    const file = join(folder, 'closed');
    writeFileSync(file, configOf(agent.socket).input);
    const env = { ...call, CNI_COMMAND: 'ADD', CNI_NETNS: '/x' };
    const shell = promisify(execFile);
    for (const closed of ['>&-', '2>&- >&-'])
      await shell('sh', ['-c', `exec ${executable} <${file} ${closed}`], { env });
    const failed = await shell('sh', ['-c', `exec ${executable} <&-`], { env }).catch(
      ({ stdout }) => stdout,
    );
    assert.equal(JSON.parse(failed).code, 6);
  });

  it('runs fifty times at once', async () => {
    await using agent = await agentWith({});
    const { input, logFile } = configOf(agent.socket);
    const ids = Array.from({ length: 50 }, (_, index) => `c${index}`);
    const all = await Promise.all(
      ids.map((id) => run(executable, { ...call, CNI_CONTAINERID: id }, input)),
    );
    assert.deepEqual(new Set(all.map(({ code }) => code)), new Set([0]));
    assert.deepEqual(new Set(linesOf(logFile).map(({ container }) => container)), new Set(ids));
  });
}

await declareUnless(withoutCompiler(), 'contiv-cni uses little memory', () =>
  it('contiv-cni uses less than 2 MB, also with a configuration of 200 kB', async () => {
    const executable = buildExecutable();
    const waiting: Socket[] = [];
    await using agent = await agentThat((connection) => waiting.push(connection));
    const child = spawn(executable, { env: call });
    child.stdin.end(configOf(agent.socket, { note: 'x'.repeat(200_000) }).input);
    await until('it has called', () => waiting.length === 1);
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    child.kill('SIGTERM');
    const peak = Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]);
    assert.ok(peak < 2000, `${peak} kB`);
  }),
);

await declareUnless(withoutCompiler(), 'contiv-cni with an input that does not end', () =>
  it('contiv-cni with an input that does not end', async () => {
    const executable = buildExecutable([...builds.installed, '-DSECOND_MS=10']);
    const child = spawn(executable, { env: call });
    child.stdin.on('error', () => undefined).write('{"cniVersion":"1.0.0"');
    const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
    assert.deepEqual(JSON.parse(output), {
      cniVersion: '1.1.0',
      code: 5,
      msg: 'standard input does not end',
    });
  }),
);
