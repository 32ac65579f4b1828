/** The program as a process: its log, its exit code, and its termination. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, describe, it } from 'node:test';

const folder = mkdtempSync(join(tmpdir(), 'contiv-cni-main-'));
after(() => rmSync(folder, { recursive: true }));

function start(config: object): ChildProcess {
  const child = spawn(process.execPath, ['src/cmd/cni/main.ts'], {
    env: { CNI_COMMAND: 'DEL', CNI_CONTAINERID: 'c1', CNI_IFNAME: 'eth0' },
  });
  child.stdin.end(JSON.stringify({ cniVersion: '1.0.0', name: 'k8s', ...config }));
  return child;
}

async function ended(child: ChildProcess) {
  const [output, errors, [code, signal]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, 'close'),
  ]);
  return { output, errors, code, signal };
}

describe('contiv-cni as a process', () => {
  const nobody = { grpcServer: join(folder, 'nobody.sock') };

  it('logs a call as one line in a file that only its owner can read', async () => {
    const logFile = join(folder, 'cni.log');
    const { output, errors, code } = await ended(start({ ...nobody, logFile }));
    assert.equal(code, 1);
    assert.equal(errors, '');
    const { code: said } = JSON.parse(output);
    const line = JSON.parse(readFileSync(logFile, 'utf8'));
    assert.deepEqual(
      [line.level, line.command, line.network, line.container, line.code],
      ['error', 'DEL', 'k8s', 'c1', said],
    );
    assert.equal(statSync(logFile).mode & 0o777, 0o600);
  });

  it('returns its result even if the log cannot be written', async () => {
    const logFile = join(folder, 'not there', 'cni.log');
    const { output, errors } = await ended(start({ ...nobody, logFile }));
    assert.equal(JSON.parse(output).code, 11);
    assert.match(errors, /^contiv-cni: cannot write the log .*ENOENT.*\n\{.*"command":"DEL"/);
  });

  it('closes the connection to a silent agent when the runtime stops it', async () => {
    const agent = join(folder, 'hanging.sock');
    const server = createServer().listen(agent);
    await once(server, 'listening');
    const child = start({ grpcServer: agent, logFile: join(folder, 'hanging.log') });
    const [socket] = (await once(server, 'connection')) as [Socket];
    const gone = once(socket.resume(), 'close');
    child.kill('SIGTERM');
    const { output, signal } = await ended(child);
    await gone;
    server.close();
    assert.deepEqual([output, signal], ['', 'SIGTERM']);
  });
});
