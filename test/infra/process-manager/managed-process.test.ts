import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { ManagedProcess } from '#infra/process-manager/managed-process.ts';
import type { ProcessStatus } from '#infra/process-manager/status-channel.ts';
import { withoutProgram, withoutRoot } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { exists, makeManager, testFolder } from './support.ts';

const skip = withoutProgram('setpriv');

/** Reads notifications until the channel is closed. */
function readAll(one: ManagedProcess): ProcessStatus[] {
  const read: ProcessStatus[] = [];
  void (async () => {
    for await (const status of one.notifications!) read.push(status);
  })();
  return read;
}

const isSleeping = (one: ManagedProcess) =>
  until('the process sleeps', () => {
    one.statusFile();
    return one.status === 'sleeping' && one.instanceName === 'sleep';
  });

describe('a managed process', { skip }, () => {
  it('is started, watched and stopped', async (t) => {
    const { manager, clock } = makeManager(t);
    const one = await manager.create('one', 'sleep', { args: ['60'], notify: true });
    const read = readAll(one);
    assert.deepEqual(
      [one.status, one.pid, one.isAlive, one.uptimeMs, one.startedAt],
      ['initial', undefined, false, 0, undefined],
    );
    assert.equal(await one.wait(), undefined);
    await one.start();
    assert.ok(one.isAlive && exists(one.pid!));
    assert.equal(manager.byPid(one.pid!), one);
    await isSleeping(one);
    assert.deepEqual([one.command, one.args], ['sleep', ['60']]);
    await clock.advance(2500);
    const started = clock.now() - 2500;
    assert.deepEqual([one.uptimeMs, one.startedAt], [2500, started]);
    const { pid } = one;
    assert.deepEqual(await one.stopAndWait(), { code: undefined, signal: 'SIGTERM' });
    assert.ok(!exists(pid!));
    assert.deepEqual([one.status, one.pid, one.isAlive], ['terminated', undefined, false]);
    assert.deepEqual([one.uptimeMs, one.startedAt], [0, started]);
    assert.deepEqual(await one.wait(), { code: undefined, signal: 'SIGTERM' });
    await until('the end is reported', () => read.at(-1) === 'terminated');
    // Only changes are reported; the shell before the program may have been seen running.
    assert.deepEqual(
      read.filter((status, at) => status === read[at - 1]),
      [],
    );
    one.stop();
  });

  it('rejects commands that its state does not permit', async (t) => {
    const { manager } = makeManager(t);
    const one = await manager.create('one', 'sleep', { args: ['60'] });
    assert.throws(() => one.stop(), { code: 'CV_PROCESS_STATE', message: /one: .*never started/ });
    await assert.rejects(one.kill(), { code: 'CV_PROCESS_STATE' });
    assert.throws(() => one.signal('SIGUSR1'), { message: /SIGUSR1: the process is not running/ });
    await one.start();
    await assert.rejects(one.start(), { message: /already running/ });
    await assert.rejects(manager.create('one', 'sleep'), { message: /this name exists/ });
    manager.delete('one');
    await one.kill();
    await assert.rejects(one.start(), { message: /deleted/ });
    await assert.rejects((await manager.create('no', '/nowhere/program')).start(), {
      code: 'CV_PROCESS_START',
      message: /no program \/nowhere\/program/,
    });
    for (const options of [
      { restarts: -2 },
      { restarts: 1.5 },
      { cpuAffinity: { mask: '--help' } },
      { cpuAffinity: { list: '0;reboot' } },
      { cpuAffinity: { delayMs: Number.NaN } },
    ])
      await assert.rejects(manager.create('bad', 'sleep', options), { code: 'CV_PROCESS_OPTION' });
  });

  it('shows states of the kernel, disk sleep among them', {
    skip: withoutProgram('gcc'),
  }, async (t) => {
    const { manager, clock } = makeManager(t);
    const folder = testFolder(t);
    const one = await manager.create('busy', 'sh', { args: ['-c', 'while :; do :; done'] });
    await one.start();
    await until('it runs', () => one.statusFile() !== undefined && one.status === 'running');
    one.signal('SIGSTOP');
    await until('it is stopped', () => one.statusFile()?.['State'] === 'T (stopped)');
    await clock.advance(1000);
    assert.equal(one.status, 'stopped');
    // The parent of vfork waits like one that waits for a disk.
    const source = join(folder, 'wait.c');
    writeFileSync(
      source,
      '#include <unistd.h>\nint main() { if (!vfork()) { sleep(60); _exit(0); } }',
    );
    execFileSync('gcc', ['-Wno-deprecated-declarations', '-o', join(folder, 'wait'), source]);
    const two = await manager.create('waiting', join(folder, 'wait'));
    await two.start();
    await until('it waits', () => two.statusFile()?.['State'] === 'D (disk sleep)');
    assert.equal(two.status, 'disk sleep');
  });

  it('is restarted as often as configured, with growing delays, and never after a stop', async (t) => {
    const { manager, clock, logged } = makeManager(t);
    const one = await manager.create('one', 'false', { restarts: 3 });
    const starts = () => logged.filter(({ message }) => message === 'process is running').length;
    const ends = () => logged.filter(({ message }) => message === 'process ended').length;
    await one.start();
    const delays = () => logged.flatMap(({ fields }) => (fields['delayMs'] as number) ?? []);
    for (let count = 1; count <= 4; count++) {
      await until('it ended', () => ends() === count);
      assert.equal(starts(), count, 'it is not restarted at once');
      if (count < 4) await clock.advance(delays().at(-1)!);
    }
    await clock.advance(3_600_000);
    assert.equal(starts(), 4);
    assert.deepEqual(
      [one.status, await one.wait()],
      ['terminated', { code: 1, signal: undefined }],
    );
    assert.equal(delays().length, 3);
    for (const [at, delay] of delays().entries())
      assert.ok(delay >= 99 * 2 ** at && delay <= 200 * 2 ** at, `${delays()}`);

    const two = await manager.create('two', 'sleep', { args: ['60'], restarts: -1 });
    await two.start();
    await two.stopAndWait();
    const levels = logged.filter(({ message }) => message === 'process ended');
    assert.deepEqual(
      levels.map(({ level }) => level),
      ['warn', 'warn', 'warn', 'warn', 'info'],
    );
    await clock.advance(60_000);
    assert.equal(two.isAlive, false);
    // A stop while the restart is pending cancels it.
    await two.start();
    two.signal('SIGKILL');
    await until('it ended', () => !two.isAlive && two.status === 'terminated');
    two.stop();
    await clock.advance(60_000);
    assert.equal(two.isAlive, false);
  });

  it('is restarted without limit, and soon again after a long run', async (t) => {
    const { manager, clock, logged } = makeManager(t);
    const one = await manager.create('one', 'sleep', { args: ['60'], restarts: -1 });
    await one.start();
    const crash = async () => {
      one.signal('SIGKILL');
      await until('it ended', () => one.status === 'terminated');
      await clock.advance(30_000);
      assert.ok(one.isAlive);
    };
    for (let count = 0; count < 12; count++) await crash();
    const delays = () => logged.flatMap(({ fields }) => (fields['delayMs'] as number) ?? []);
    assert.ok(delays().length === 12 && delays().at(-1)! >= 15_000);
    await clock.advance(60_000);
    await crash();
    assert.ok(delays().at(-1)! <= 200);
  });

  it('is not started by a restart when it is to be stopped meanwhile', async (t) => {
    const slowly = ['-c', 'trap "sleep 0.3; exit 0" TERM; while :; do sleep 0.05; done'];
    const commands = {
      stop: (one: ManagedProcess) => one.stop(),
      kill: (one: ManagedProcess) => void one.kill(),
      release: (one: ManagedProcess) => one.release(),
    };
    for (const [name, command] of Object.entries(commands)) {
      const { manager } = makeManager(t);
      const one = await manager.create(name, '/bin/sh', { args: slowly });
      await one.start();
      const restarted = one.restart();
      command(one);
      await restarted;
      assert.equal(one.isAlive, false, name);
      assert.equal(one.pid, undefined, name);
    }
  });

  it('is not started again when the manager closes during a restart', async (t) => {
    const { manager } = makeManager(t);
    const one = await manager.create('one', 'sleep', { args: ['60'] });
    await one.start();
    const restarted = one.restart();
    await manager.close();
    await restarted;
    assert.equal(one.isAlive, false);
  });

  it('is started once by two restarts, and by one after a stop', async (t) => {
    const { manager } = makeManager(t);
    const one = await manager.create('one', 'sleep', { args: ['60'] });
    await one.start();
    await Promise.all([one.restart(), one.restart()]);
    assert.ok(one.isAlive);
    const first = one.restart();
    one.stop();
    await Promise.all([first, one.restart()]);
    assert.ok(one.isAlive);
  });

  it('restarts by force when SIGTERM has no effect', async (t) => {
    const { manager, clock } = makeManager(t);
    const one = await manager.create('one', 'sh', {
      args: ['-c', 'trap "" TERM; while :; do sleep 0.1; done'],
    });
    await one.restart();
    const { pid } = one;
    const ignored = () => BigInt(`0x${one.statusFile()?.['SigIgn'] ?? '0'}`);
    await until('the signal is ignored', () => (ignored() & (1n << 14n)) !== 0n);
    const restarted = Promise.all([one.restart(), one.restart()]);
    await clock.advance(9_900);
    assert.equal(one.pid, pid);
    await clock.advance(200);
    await restarted;
    assert.ok(one.isAlive && one.pid !== pid && !exists(pid!));
  });

  it('never waits for a slow reader, which gets the last change', async (t) => {
    const { manager, clock } = makeManager(t);
    const one = await manager.create('one', 'sleep', { args: ['60'], notify: true });
    for (let count = 0; count < 33; count++) {
      await one.start();
      await one.kill();
    }
    await clock.advance(1000);
    one.notifications!.close();
    const read = readAll(one);
    await until('all is read', () => read.length > 1 && read.at(-1) === 'terminated');
    assert.ok(read.length <= 64, `${read.length} changes were kept`);
  });

  it('writes to files and streams, also after a restart, with its own variables', async (t) => {
    const { manager } = makeManager(t);
    const file = join(testFolder(t), 'out');
    let text = '';
    const errorOutput = new Writable({
      write: (chunk, _encoding, done) => {
        text += chunk;
        done();
      },
    });
    const one = await manager.create('one', 'sh', {
      args: ['-c', 'echo "out $COLOR $HOME"; echo error >&2'],
      env: { COLOR: 'green' },
      output: { file },
      errorOutput,
    });
    for (let count = 0; count < 2; count++) {
      await one.start();
      await one.wait();
    }
    await until('all is written', () => text === 'error\nerror\n');
    assert.equal(readFileSync(file, 'utf8'), 'out green \nout green \n');
  });

  it('has exactly the variables that it is given', async (t) => {
    const { manager } = makeManager(t);
    const names = ['PWD', 'OLDPWD', 'SHLVL', '_'];
    const elsewhere = Object.fromEntries(names.map((name) => [name, '/elsewhere']));
    const all = [{ COLOR: 'a=b c' }, {}, { ...elsewhere, COLOR: '-x' }];
    for (const [at, env] of all.entries())
      for (const detach of [false, true]) {
        const one = await manager.create(`${at}${detach}`, 'sleep', { args: ['60'], env, detach });
        await one.start();
        await isSleeping(one);
        const entries = readFileSync(`/proc/${one.pid}/environ`, 'utf8').split('\0').slice(0, -1);
        assert.deepEqual(
          entries.sort(),
          Object.entries(env)
            .map(([name, value]) => `${name}=${value}`)
            .sort(),
        );
        await one.kill();
      }
  });

  it('may have a path with any characters', async (t) => {
    const { manager } = makeManager(t);
    const path = join(testFolder(t), 'a=b -u $x');
    symlinkSync('/bin/true', path);
    const one = await manager.create('one', path);
    await one.start();
    assert.deepEqual(await one.wait(), { code: 0, signal: undefined });
  });

  it('runs and ends also when it was deleted from the manager', async (t) => {
    const { manager } = makeManager(t);
    const one = await manager.create('one', 'sleep', { args: ['60'], restarts: 1 });
    await one.start();
    manager.delete('one');
    assert.deepEqual([one.isAlive, exists(one.pid!)], [true, true]);
    assert.deepEqual(await one.kill(), { code: undefined, signal: 'SIGKILL' });
    assert.deepEqual([one.isAlive, one.status], [false, 'terminated']);
  });

  it('runs on the CPUs of its mask or list, with all threads, after the delay', async (t) => {
    const { manager, clock, logged } = makeManager(t);
    const last = cpus().length - 1;
    const allowed = (one: ManagedProcess) => one.statusFile()?.['Cpus_allowed_list'];
    const mask = (2 ** last).toString(16);
    const byMask = await manager.create('mask', 'sleep', { args: ['60'], cpuAffinity: { mask } });
    const list = String(last);
    const byList = await manager.create('list', 'sleep', {
      args: ['60'],
      cpuAffinity: { list, delayMs: 5000 },
    });
    await byMask.start();
    await byList.start();
    const before = allowed(byList);
    await clock.advance(4999);
    await until('the mask is set', () => allowed(byMask) === list);
    assert.equal(allowed(byList), before);
    await clock.advance(1);
    await until('the list is set', () => allowed(byList) === list);
    const none = await manager.create('none', 'sleep', {
      args: ['60'],
      cpuAffinity: { list: '8000' },
    });
    await none.start();
    await clock.advance(0);
    await until('it is logged', () =>
      logged.some(({ message }) => /CPU affinity failed/.test(message)),
    );
    assert.ok(none.isAlive);
  });
});

describe('an attached process', () => {
  const start = async (): Promise<ChildProcess> => {
    const child = spawn('sleep', ['60']);
    await once(child, 'spawn');
    return child;
  };

  it('is watched, stopped and, with a command, started again', { skip }, async (t) => {
    const { manager, clock } = makeManager(t);
    const child = await start();
    const one = manager.attach('one', 'sleep', child.pid!, { args: ['60'], restarts: 1 });
    await isSleeping(one);
    child.kill('SIGKILL');
    await once(child, 'exit');
    assert.ok(!one.isAlive);
    await clock.advance(1000);
    assert.equal(one.status, 'terminated');
    await clock.advance(200);
    assert.ok(one.isAlive && one.pid !== child.pid);
    const other = await start();
    const two = manager.attach('two', '', other.pid!);
    const ended = two.stopAndWait();
    await once(other, 'exit');
    await clock.advance(1000);
    assert.deepEqual(await ended, { code: undefined, signal: undefined });
    await assert.rejects(two.start(), { message: /command of the attached process is not known/ });
    assert.throws(() => manager.attach('gone', '', other.pid!), {
      code: 'CV_PROCESS_STATE',
      message: new RegExp(`gone: no process has the ID ${other.pid}`),
    });
    assert.equal(manager.byName('gone'), undefined);
  });

  it('is not stopped by a restart that could not start it again', { skip }, async (t) => {
    const { manager } = makeManager(t);
    const child = await start();
    const one = manager.attach('one', '', child.pid!);
    await assert.rejects(one.restart(), {
      code: 'CV_PROCESS_STATE',
      message: /command of the attached process is not known/,
    });
    assert.ok(one.isAlive);
    manager.delete('one');
    await assert.rejects(one.restart(), { message: /deleted from the manager/ });
    assert.ok(exists(child.pid!));
    child.kill('SIGKILL');
  });

  it('is known until its end when it was deleted from the manager', async (t) => {
    const { manager, clock } = makeManager(t);
    const child = await start();
    const one = manager.attach('one', 'sleep', child.pid!, { restarts: 1, notify: true });
    const read = readAll(one);
    await isSleeping(one);
    const before = one.wait();
    manager.delete('one');
    const after = one.wait();
    assert.deepEqual([one.isAlive, one.pid], [true, child.pid]);
    one.signal('SIGSTOP');
    await until('it is stopped', () => one.statusFile()?.['State']?.startsWith('T') === true);
    one.signal('SIGCONT');
    one.stop();
    await once(child, 'exit');
    assert.equal(one.isAlive, false);
    await clock.advance(1000);
    const unknown = { code: undefined, signal: undefined };
    assert.deepEqual([await before, await after, await one.wait()], [unknown, unknown, unknown]);
    await clock.advance(60_000);
    assert.deepEqual([one.status, one.isAlive], ['terminated', false]);
    assert.ok(!read.includes('stopped') && !read.includes('terminated'), 'nothing is reported');
  });

  it('continues when the manager is closed', async (t) => {
    const { manager } = makeManager(t);
    const child = await start();
    manager.attach('one', '', child.pid!);
    await manager.close();
    assert.ok(exists(child.pid!));
    child.kill('SIGKILL');
  });

  it('is a zombie until its parent releases it, or terminated with auto-terminate', async (t) => {
    const { manager, clock } = makeManager(t);
    // The shell becomes a program that never releases its child.
    const parent = spawn('sh', ['-c', 'sleep 0.1 & echo $!; exec sleep 60']);
    t.after(() => parent.kill('SIGKILL'));
    const [line] = await once(parent.stdout, 'data');
    const pid = Number(line);
    const one = manager.attach('one', '', pid);
    const two = manager.attach('two', '', pid, { autoTerminate: true });
    await until('it is a zombie', async () => {
      await clock.advance(1000);
      return one.status === 'zombie';
    });
    await clock.advance(1000);
    assert.equal(two.status, 'terminated');
  });

  it('is not confused with a process that has its ID again', { skip: withoutRoot() }, async (t) => {
    const { manager, clock } = makeManager(t);
    const child = await start();
    const pid = child.pid!;
    const one = manager.attach('one', '', pid);
    const deleted = manager.attach('deleted', '', pid);
    manager.delete('deleted');
    // the kernel reports the start of a process in ticks of 10 ms
    await setTimeout(50);
    child.kill('SIGKILL');
    await once(child, 'exit');
    let other: ChildProcess | undefined;
    await until('another process has the ID', async () => {
      writeFileSync('/proc/sys/kernel/ns_last_pid', String(pid - 1));
      other = await start();
      if (other.pid === pid) return true;
      other.kill('SIGKILL');
      return false;
    });
    t.after(() => other?.kill('SIGKILL'));
    for (const any of [one, deleted]) {
      assert.equal(any.isAlive, false);
      assert.throws(() => any.signal('SIGKILL'), { code: 'CV_PROCESS_STATE' });
      any.stop();
    }
    await clock.advance(1000);
    assert.equal(one.status, 'terminated');
    assert.ok(exists(pid) && other?.exitCode === null && other.signalCode === null);
  });
});
