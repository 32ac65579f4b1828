import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parseFlags } from '#cmd/agent/flags.ts';
import { readSettings } from '#cmd/agent/settings.ts';
import { CodedError } from '#infra/errors/errors.ts';
import { temporaryFolder } from '#test/support/temporary-folder.ts';

/** The error for these arguments, variables and files. */
function refusal(
  argv: readonly string[],
  env: Record<string, string> = {},
  files: Record<string, string> = {},
): string {
  const folder = temporaryFolder('settings');
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  try {
    readSettings(parseFlags(['--config-dir', folder, ...argv], env), env);
  } catch (error) {
    assert.ok(error instanceof CodedError);
    return error.message.replace(`${folder}/`, '');
  }
  return 'taken';
}

describe('the settings of the agent', () => {
  it('are accepted when they are valid', () => {
    const label = ['--microservice-label', 'node-1.example_a'];
    assert.equal(refusal(label, { STARTUPTIMEOUT: '1m30s', HTTP_PORT: '0' }), 'taken');
    assert.equal(refusal([], {}, { 'grpc.conf': 'permission: 0770' }), 'taken');
  });

  it('are rejected with file and line', () => {
    const cases: [string, string[], Record<string, string>, Record<string, string>][] = [
      [
        '/nowhere: the folder does not exist (set by --config-dir',
        ['--config-dir', '/nowhere'],
        {},
        {},
      ],
      ['--manifests: requires --embedded', ['--manifests', 'x'], {}, {}],
      [
        'STARTUPTIMEOUT: "1ms" is too short for a start: 0 or at least 1s',
        [],
        { STARTUPTIMEOUT: '1ms' },
        {},
      ],
      ['STARTUPTIMEOUT: "45" is not a duration such as 45s', [], { STARTUPTIMEOUT: '45' }, {}],
      ['--http-port or HTTP_PORT: "70000" is not a port number', [], { HTTP_PORT: '70000' }, {}],
      ['"../x" is not a valid node name', ['--microservice-label', '../x'], {}, {}],
      ['http.conf:1: endpoint: has to be address:port', [], {}, { 'http.conf': 'endpoint: x' }],
      [
        'http.conf:2: client-basic-auth.1: has to be user:password',
        [],
        {},
        { 'http.conf': 'client-basic-auth: [a:b,\n c]' },
      ],
      ['grpc.conf:1: permission: has to be', [], {}, { 'grpc.conf': 'permission: 780' }],
      ['logs.conf:1: default-level: has to be', [], {}, { 'logs.conf': 'default-level: loud' }],
      [
        'controller.conf:2: startupResyncDeadline: startupResyncDeadline has to be longer than delay',
        [],
        {},
        { 'controller.conf': 'delayLocalResync: 20s\nstartupResyncDeadline: 20s' },
      ],
      [
        'controller.conf:1: delayLocalResync: startupResyncDeadline has to be longer than delay',
        [],
        {},
        { 'controller.conf': 'delayLocalResync: 60s' },
      ],
      ['controller.conf:1: delayRetry: has to be', [], {}, { 'controller.conf': 'delayRetry: 30' }],
    ];
    for (const [reason, argv, env, files] of cases) {
      const message = refusal(argv, env, files);
      assert.ok(message.startsWith(reason), message);
    }
  });

  it('take an empty flag or variable as not set', () => {
    const folder = temporaryFolder('settings');
    writeFileSync(join(folder, 'http.conf'), 'endpoint: 127.0.0.1:7');
    const names = ['CONFIG_DIR', 'HTTP_CONFIG', 'HTTP_PORT', 'ETCD_CONFIG', 'STARTUPTIMEOUT'];
    const env = Object.fromEntries(names.map((name) => [name, '']));
    assert.equal(parseFlags([], env).configDir, '.');
    assert.equal(parseFlags(['--config-dir='], { CONFIG_DIR: folder }).configDir, folder);
    for (const argv of [[], ['--http-config=', '--http-port=', '--microservice-label=']]) {
      const flags = parseFlags(['--config-dir', folder, ...argv], env);
      const { http, etcd, label } = readSettings(flags, env);
      assert.equal(http.endpoint, '127.0.0.1:7');
      assert.equal(etcd, undefined);
      assert.equal(label, 'vpp1');
    }
  });

  it('warn of the virtual reassembly that VPP cannot disable', () => {
    const folder = temporaryFolder('settings');
    writeFileSync(join(folder, 'service.conf'), '\ndisableNATVirtualReassembly: true\n');
    const { warnings, service } = readSettings(parseFlags(['--config-dir', folder], {}), {});
    assert.equal(service.disableNATVirtualReassembly, true);
    assert.deepEqual(
      warnings.map((text) => text.replace(`${folder}/`, '')),
      ['service.conf:2: disableNATVirtualReassembly has no effect: VPP always reassembles for NAT'],
    );
  });
});
