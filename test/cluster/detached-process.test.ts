import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';

const folder = mkdtempSync(join(tmpdir(), 'cluster-'));
process.env['CLUSTER_FOLDER'] = folder;
const { detachedNames, pidOf, startDetached, stopDetached } = await import('./detached-process.ts');

describe('detached process', () => {
  after(() => rmSync(folder, { recursive: true }));

  it('is found by its name until it is stopped', async () => {
    startDetached('sleeper', ['sleep', '60']);
    assert.equal(typeof pidOf('sleeper'), 'number');
    assert.deepEqual(detachedNames(), ['sleeper']);
    await stopDetached('sleeper', 'SIGTERM');
    assert.equal(pidOf('sleeper'), undefined);
    assert.deepEqual(detachedNames(), []);
  });

  it('is not another process that got its id', async () => {
    const { writeFileSync } = await import('node:fs');
    const identity = { pid: process.pid, started: '1' };
    writeFileSync(join(folder, 'run/processes/gone'), JSON.stringify(identity));
    assert.equal(pidOf('gone'), undefined);
    await stopDetached('gone', 'SIGKILL');
    assert.deepEqual(detachedNames(), []);
  });
});
