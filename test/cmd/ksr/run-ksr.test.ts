import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { runKsr } from '#cmd/ksr/run-ksr.ts';
import { systemClock } from '#infra/clock/system.ts';

describe('contiv-ksr', () => {
  it('ends by a signal while a credential plugin does not end', { timeout: 30_000 }, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'ksr-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const started = join(folder, 'started');
    const kubeConfig = join(folder, 'kubeconfig');
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: 'sh',
      args: ['-c', `touch ${started}; exec sleep 6`],
      interactiveMode: 'Never',
    };
    const content = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
      users: [{ name: 'u', user: { exec } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    };
    writeFileSync(kubeConfig, JSON.stringify(content));
    const signal = Promise.withResolvers<string>();
    const argv = ['--kube-config', kubeConfig, '--config-dir', folder];
    const code = runKsr(argv, { INITIAL_LOGLVL: 'error' }, signal.promise);
    while (!existsSync(started)) await systemClock.sleep(20);
    const signaled = performance.now();
    signal.resolve('SIGTERM');
    assert.equal(await code, 0);
    assert.ok(performance.now() - signaled < 5_000);
  });
});
