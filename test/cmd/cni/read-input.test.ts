/** Standard input in the forms that runtimes use. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { readInput } from '#cmd/cni/read-input.ts';

const folder = mkdtempSync(join(tmpdir(), 'contiv-cni-input-'));
after(() => rmSync(folder, { recursive: true }));

describe('standard input', () => {
  it('is read completely, including multi-byte characters at the border of two chunks', async () => {
    const text = `a${'é'.repeat(100_000)}`;
    const file = join(folder, 'file');
    writeFileSync(file, text);
    const fd = openSync(file, 'r');
    assert.equal(await readInput(fd), text);
    closeSync(fd);
  });

  it('is awaited when the pipe is non-blocking', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const reading = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    const writing = openSync(pipe, constants.O_WRONLY);
    writeSync(writing, '{"cni');
    const whole = readInput(reading);
    setImmediate(() => {
      writeSync(writing, 'Version":"1.0.0"}');
      closeSync(writing);
    });
    assert.equal(await whole, '{"cniVersion":"1.0.0"}');
  });
});
