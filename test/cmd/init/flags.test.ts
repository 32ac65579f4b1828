import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parseFlags } from '#cmd/init/flags.ts';
import { readSettings } from '#cmd/init/settings.ts';
import { ConfigError } from '#infra/config/load.ts';

describe('the settings of contiv-init', () => {
  let folder = '';
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'init-settings-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  it('have the defaults of the original', () => {
    const { vppBin, agentBin, vppConfig, isVppOnly, agentArgs } = parseFlags([], {});
    assert.deepEqual(
      [vppBin, agentBin, vppConfig, isVppOnly],
      ['/usr/bin/vpp', '/usr/bin/contiv-agent', '/etc/vpp/contiv-vswitch.conf', false],
    );
    assert.deepEqual(agentArgs, []);
  });

  it('of the command line that concern the agent are its flags, too', () => {
    const flags = parseFlags(
      ['-vpp-bin=vpp', '--etcd-config', '/e.conf', '-config-dir', folder, '--vpp-only'],
      { CONFIG_DIR: '/other' },
    );
    assert.equal(flags.vppBin, 'vpp');
    assert.equal(flags.isVppOnly, true);
    assert.equal(flags.configDir, folder);
    assert.deepEqual(flags.agentArgs, [`--config-dir=${folder}`, '--etcd-config=/e.conf']);
  });

  it('are in the working directory when flag and variable are empty', () => {
    assert.equal(parseFlags(['--config-dir='], { CONFIG_DIR: '' }).configDir, '.');
  });

  it('are rejected with file and line', () => {
    writeFileSync(join(folder, 'grpc.conf'), '\nnetwork: pipe\n');
    const settings = (dir: string) => readSettings(parseFlags(['--config-dir', dir], {}), {});
    assert.throws(
      () => settings(folder),
      (error) => error instanceof ConfigError && /grpc\.conf:2/.test(error.message),
    );
    assert.throws(() => settings(join(folder, 'none')), ConfigError);
  });
});
