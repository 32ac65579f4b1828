import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { silentLogger } from '#infra/log/log.ts';
import { removeStaleSocket } from '#init/stale-socket.ts';

describe('the socket of the agent, before contiv-init starts it,', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'stale-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  it('is removed if no agent listens', async () => {
    const path = join(folder, 'stale.sock');
    writeFileSync(path, '');
    await removeStaleSocket(path, silentLogger);
    assert.equal(existsSync(path), false);
    await removeStaleSocket(path, silentLogger);
  });

  it('stays if an agent listens', async () => {
    const path = join(folder, 'used.sock');
    const server = createServer((socket) => socket.destroy()).listen(path);
    await once(server, 'listening');
    await removeStaleSocket(path, silentLogger);
    assert.equal(existsSync(path), true);
    server.close();
  });

  it('stays if it cannot be removed, for the agent to report', async () => {
    // As kubelet makes it for a mount of a path that does not exist.
    const path = join(folder, 'folder.sock');
    mkdirSync(path);
    const logged: unknown[] = [];
    const log = { ...silentLogger, warn: (...line: unknown[]) => void logged.push(line) };
    await removeStaleSocket(path, log);
    assert.equal(existsSync(path), true);
    assert.equal(logged.length, 1);
  });
});
