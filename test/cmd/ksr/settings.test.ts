import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parseFlags } from '#cmd/ksr/flags.ts';
import { readSettings } from '#cmd/ksr/settings.ts';
import { ConfigError } from '#infra/config/load.ts';

describe('the settings of contiv-ksr', () => {
  let folder = '';
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'ksr-settings-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  const settings = (argv: string[], env: Record<string, string> = {}) => {
    const flags = parseFlags(['--config-dir', folder, ...argv], env);
    return readSettings(flags, env);
  };

  it('have the defaults of the original', () => {
    const { label, http, ksr, kubeConfig } = settings([]);
    assert.equal(label, 'contiv-ksr');
    assert.equal(http.endpoint, '0.0.0.0:9191');
    assert.deepEqual(ksr, { readers: 'mixed', 'election-ttl': 5 });
    assert.equal(kubeConfig, undefined);
  });

  it('do not take the socket of an agent on the same node', () => {
    assert.equal(settings([]).http['local-socket'], '/var/run/contiv/ksr.sock');
  });

  it('come from flags in either spelling, before variables', () => {
    const env = { KUBE_CONFIG: '/variable', MICROSERVICE_LABEL: 'other', HTTP_PORT: '1' };
    assert.equal(settings([], env).kubeConfig, '/variable');
    assert.equal(settings([], env).label, 'other');
    const { kubeConfig, http } = settings(['-kube-config=/flag', '--http-port', '2'], env);
    assert.equal(kubeConfig, '/flag');
    assert.equal(http.endpoint, '0.0.0.0:2');
  });

  it('have the defaults when flags and variables are empty', () => {
    const env = { KUBE_CONFIG: '', MICROSERVICE_LABEL: '', HTTP_PORT: '', HTTP_CONFIG: '' };
    for (const argv of [[], ['--kube-config=', '--http-port=', '--http-config=']]) {
      const { kubeConfig, label, http } = settings(argv, env);
      assert.equal(kubeConfig, undefined);
      assert.equal(label, 'contiv-ksr');
      assert.equal(http.endpoint, '0.0.0.0:9191');
    }
    assert.equal(parseFlags([], { CONFIG_DIR: '' }).configDir, '.');
  });

  it('come from the files that flags and variables name', () => {
    writeFileSync(join(folder, 'own.conf'), 'readers: own\n');
    writeFileSync(join(folder, 'port.conf'), 'endpoint: 127.0.0.1:7\n');
    const { ksr, http } = settings(['--ksr-config', 'own.conf'], { HTTP_CONFIG: 'port.conf' });
    assert.equal(ksr.readers, 'own');
    assert.equal(http.endpoint, '127.0.0.1:7');
  });

  it('are rejected with file and line', () => {
    writeFileSync(join(folder, 'wrong.conf'), '\nreaders: all\n');
    assert.throws(
      () => settings(['--ksr-config', 'wrong.conf']),
      (error) => error instanceof ConfigError && /wrong\.conf:2/.test(error.message),
    );
    assert.throws(() => settings(['--config-dir', join(folder, 'none')]), ConfigError);
  });
});
