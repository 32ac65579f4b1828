import assert from 'node:assert/strict';
import { closeSync, mkdtempSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { Output } from '#infra/log/output.ts';

describe('the output of a daemon', () => {
  it('reports the number of lost texts when it can be written again', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'output-')), 'log');
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

  it('continues when the disk is full', () => {
    const output = new Output(openSync('/dev/full', 'a'), new ManualClock());
    for (let n = 0; n < 100; n++) output.write('a line\n');
  });
});
