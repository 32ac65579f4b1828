import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { Output } from '#infra/log/output.ts';
import { temporaryFolder } from '#test/support/temporary-folder.ts';

const root = resolve(import.meta.dirname, '../..');
const source = join(root, 'src/infra/log/output.ts');

describe('the output of a daemon', () => {
  it('reports the number of lost texts when it can be written again', () => {
    const file = join(temporaryFolder('output'), 'log');
    const descriptor = openSync(file, 'a');
    const output = new Output(descriptor, new ManualClock());
    output.write('1\n');
    closeSync(descriptor);
    for (const text of ['2\n', '3\n', '4\n']) output.write(text);
    assert.equal(openSync(file, 'a'), descriptor, 'the lowest free descriptor');
    output.write('5\n');
    output.write('6\n');
    const [first, , report = '', ...rest] = readFileSync(file, 'utf8').split('\n');
    assert.equal(first, '1');
    assert.deepEqual(rest, ['5', '6', '']);
    const { lost, error, time } = JSON.parse(report);
    assert.deepEqual([lost, error, time], [3, 'EBADF', '2026-01-01T00:00:00.000Z']);
  });

  it('continues when the disk is full, and reports it once on the standard error', () => {
    const errors = join(temporaryFolder('output'), 'errors');
    const [full, errorDescriptor] = [openSync('/dev/full', 'a'), openSync(errors, 'a')];
    const output = new Output(full, new ManualClock(), errorDescriptor);
    for (let n = 0; n < 100; n++) output.write('a line\n');
    assert.match(readFileSync(errors, 'utf8'), /^[^\n]*ENOSPC[^\n]*lost\n$/);
    for (const file of [full, errorDescriptor]) closeSync(file);
  });

  it('continues when nothing reads a full pipe', () => {
    const pipe = join(temporaryFolder('output'), 'pipe');
    execFileSync('mkfifo', [pipe]);
    const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    const descriptor = openSync(pipe, 'w');
    const output = new Output(descriptor, new ManualClock());
    // As another program does that has the same output
    const other = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
    const block = Buffer.alloc(4096, 'x');
    assert.throws(() => {
      for (;;) writeSync(other, block);
    }, /EAGAIN/);
    for (const text of ['1\n', '2\n']) output.write(text);
    const bytes = Buffer.alloc(1 << 20);
    readSync(reader, bytes);
    output.write('3\n');
    const text = bytes.toString('utf8', 0, readSync(reader, bytes));
    assert.match(text, /"error":"EAGAIN","lost":2,.*\n3\n$/);
    for (const file of [reader, descriptor, other]) closeSync(file);
  });

  it('continues when nothing reads a full unix socket', { timeout: 60_000 }, async (t) => {
    const script = `
      const { Output } = await import(${JSON.stringify(source)});
      const output = new Output(1, { wallTime: () => 0 });
      for (let line = 0; line < 1000; line++) output.write('x'.repeat(4095) + '\\n');
      process.stderr.write('written');
      process.stdin.on('data', () => output.write('the end\\n'));
      process.stdin.on('end', () => process.exit());
    `;
    // A pipe of Node.js is a unix socket; nothing reads it until there is a listener.
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { cwd: root });
    t.signal.addEventListener('abort', () => child.kill('SIGKILL'));
    try {
      let errors = '';
      child.stderr.on('data', (bytes: Buffer) => {
        errors += bytes;
      });
      while (!errors.endsWith('written')) await once(child.stderr, 'data');
      assert.match(errors, /^the standard output cannot be written \(EAGAIN\).*\nwritten$/);
      let text = '';
      child.stdout.on('data', (bytes: Buffer) => {
        text += bytes;
      });
      while (!text.endsWith('the end\n')) {
        child.stdin.write('go');
        await systemClock.sleep(20);
      }
      child.stdin.end();
      await once(child, 'close');
      const [, lost] = /"error":"EAGAIN","lost":(\d+),.*\nthe end\n/.exec(text) ?? [];
      assert.ok(Number(lost) > 100, text.slice(-200));
    } finally {
      child.kill('SIGKILL');
    }
  });
});
