import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { ApiSocketLock } from '#init/api-socket-lock.ts';
import { InitRunningError, RuntimeFolderError } from '#init/errors.ts';

const source = resolve(import.meta.dirname, '../../src/init/api-socket-lock.ts');

describe('the lock of the socket of VPP', () => {
  const never = new AbortController().signal;
  let folder: string;
  let socket: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'lock-'));
    socket = join(folder, 'run/api.sock');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is of one contiv-init, which may take it again', async () => {
    const clock = new ManualClock();
    const [first, second] = [1, 2].map(() => new ApiSocketLock(clock, silentLogger));
    await first!.take(socket, never);
    await first!.take(socket, never);
    const refused = assert.rejects(second!.take(socket, never), InitRunningError);
    for (let step = 0; step <= 300; step++) await clock.advance(100);
    await refused;
    first!.release();
    await second!.take(socket, never);
    second!.release();
  });

  it('is not waited for after the stop', async () => {
    const [first, second] = [1, 2].map(() => new ApiSocketLock(systemClock, silentLogger));
    await first!.take(socket, never);
    const stop = new AbortController();
    const waiting = assert.rejects(second!.take(socket, stop.signal), /stopped/);
    stop.abort(new Error('stopped'));
    await waiting;
    first!.release();
  });

  it('names the folder that cannot be created', async () => {
    const lock = new ApiSocketLock(new ManualClock(), silentLogger);
    await assert.rejects(lock.take('/proc/contiv/vpp/api.sock', never), (error) => {
      assert.ok(error instanceof RuntimeFolderError);
      assert.match(error.message, /api\.sock\.lock: .*cannot create \/proc\/contiv:/);
      return true;
    });
  });

  it('is free when its process was killed, also while a child of it runs', async () => {
    const script = `
      const { ApiSocketLock } = await import(${JSON.stringify(source)});
      const { spawn } = await import('node:child_process');
      const clock = { monotonic: () => 0, sleep: async () => undefined };
      await new ApiSocketLock(clock, { warn() {} }).take(${JSON.stringify(socket)}, undefined);
      console.log(spawn('sleep', ['60'], { stdio: 'ignore' }).pid);
    `;
    const holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
      cwd: resolve(import.meta.dirname, '../..'),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [output]: Buffer[] = await once(holder.stdout, 'data');
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    const lock = new ApiSocketLock(new ManualClock(), silentLogger);
    try {
      await lock.take(socket, never);
    } finally {
      process.kill(Number(output!.toString()), 'SIGKILL');
      lock.release();
    }
  });
});
