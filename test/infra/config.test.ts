import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Type } from 'typebox';
import { Duration, durationMs } from '#infra/config/duration.ts';
import { ConfigError, loadConfig, parseConfig } from '#infra/config/load.ts';
import { originalKeys } from '#infra/config/original-keys.ts';
import { temporaryFolder } from '#test/support/temporary-folder.ts';

const schema = Type.Object({
  mtuSize: Type.Integer({ default: 1450 }),
  wait: Duration({ default: 5_000_000_000, description: 'wait' }),
  nested: Type.Object({ flag: Type.Boolean({ default: true }) }, { default: {} }),
  list: Type.Array(Type.Object({ name: Type.String() }), { default: [] }),
});

describe('configuration files', () => {
  it('uses defaults for keys that are not set', () => {
    const { value, set } = parseConfig(schema, '', 'x.conf');
    assert.deepEqual(value, {
      mtuSize: 1450,
      wait: 5_000_000_000,
      nested: { flag: true },
      list: [],
    });
    assert.equal(set.size, 0);
  });

  it('compares key names without case, down to the last level', () => {
    const { value, set } = parseConfig(
      schema,
      'MTUsize: 9000\nNESTED:\n  Flag: false\nlist:\n  - NAME: a\n',
      'x.conf',
    );
    assert.equal(value.mtuSize, 9000);
    assert.equal(value.nested.flag, false);
    assert.deepEqual(value.list, [{ name: 'a' }]);
    assert.ok(set.has('nested.flag'));
  });

  it('warns of an unknown key with file and line', () => {
    const { warnings } = parseConfig(schema, 'mtuSize: 1\n\nnested:\n  flga: true\n', 'x.conf');
    assert.deepEqual(warnings, ['x.conf:4: ignoring unknown key nested.flga']);
  });

  it('warns of an unknown key that every object has', () => {
    const text = '__proto__:\n  mtuSize: 7\nconstructor: 1\nnested:\n  toString: 2\n';
    const { value, warnings } = parseConfig(schema, text, 'x.conf');
    assert.deepEqual(warnings, [
      'x.conf:1: ignoring unknown key __proto__',
      'x.conf:3: ignoring unknown key constructor',
      'x.conf:5: ignoring unknown key nested.toString',
    ]);
    assert.equal(value.mtuSize, parseConfig(schema, '', undefined).value.mtuSize);
    assert.equal('mtuSize' in {}, false);
  });

  it('rejects a wrong type with file and line', () => {
    assert.throws(
      () => parseConfig(schema, '# c\nlist:\n  - name: a\n  - name: 7\n', 'x.conf'),
      (error: Error) =>
        error instanceof ConfigError && /^x\.conf:4: list\.1\.name/.test(error.message),
    );
    assert.throws(
      () => parseConfig(schema, 'mtuSize: "big"', 'x.conf'),
      /^ConfigError: x\.conf:1: mtu/,
    );
    assert.throws(() => parseConfig(schema, '- 1\n- 2\n', 'x.conf'), /x\.conf:1: /);
  });

  it('rejects a syntax error with file and line', () => {
    assert.throws(() => parseConfig(schema, 'a: 1\nb: [1,\nc', 'x.conf'), /x\.conf:3: /);
    assert.throws(() => parseConfig(schema, 'a: 1\n---\nb: 1', 'x.conf'), /multiple documents$/);
  });

  it('rejects aliases that are unresolved, recursive or too large', () => {
    const laughs = ['a: &a [x, x, x, x, x, x, x, x, x, x]'];
    for (const [at, name] of [...'bcdefgh'].entries()) {
      const before = 'abcdefg'[at];
      laughs.push(`${name}: &${name} [${Array(10).fill(`*${before}`)}]`);
    }
    for (const text of ['mtuSize: *x', 'list: &a [*a]', 'nested: &a {flag: *a}', laughs.join('\n')])
      assert.throws(
        () => parseConfig(schema, text, 'x.conf'),
        (error: Error) => error instanceof ConfigError && /^x\.conf:/.test(error.message),
        text,
      );
  });

  it('warns of a key that is set twice in different spellings', () => {
    const text = 'mtuSize: 1\nnested:\n  flag: true\n  FLAG: false\nMTUSIZE: 2\n';
    const { value, warnings, where } = parseConfig(schema, text, 'x.conf');
    assert.equal(value.mtuSize, 2);
    assert.equal(value.nested.flag, false);
    assert.deepEqual(warnings, [
      'x.conf:4: FLAG overrides the same key flag above',
      'x.conf:5: MTUSIZE overrides the same key mtuSize above',
    ]);
    assert.equal(where('mtuSize'), 'x.conf:5');
  });

  it('reads durations as nanoseconds or as text', () => {
    assert.equal(durationMs(5_000_000_000), 5000);
    assert.equal(durationMs('1m30.5s'), 90_500);
    assert.equal(durationMs('250ms'), 250);
    for (const wrong of ['5 sec', '-1s', 'true', '1.5'])
      assert.throws(
        () => parseConfig(schema, `wait: ${wrong}`, 'x.conf'),
        /x\.conf:1: wait: has to be a duration such as 500ms/,
      );
  });

  it('rejects durations below a millisecond', () => {
    const interval = Type.Object({
      wait: Duration({ default: 1e9, description: 'wait', positive: true }),
    });
    assert.equal(durationMs(parseConfig(schema, 'wait: 0', 'x.conf').value.wait), 0);
    assert.throws(
      () => parseConfig(schema, '\nwait: 30', 'x.conf'),
      /x\.conf:2: wait: has to be 0 or at least 1ms; a number without unit counts nanoseconds/,
    );
    assert.throws(() => parseConfig(interval, 'wait: 0s', 'x.conf'), /has to be at least 1ms/);
    assert.equal(durationMs(parseConfig(interval, 'wait: 1ms', 'x.conf').value.wait), 1);
  });

  it('finds a file by flag, then by variable, then in the folder', () => {
    const dir = temporaryFolder('config');
    mkdirSync(join(dir, 'etc'));
    writeFileSync(join(dir, 'etc', 'agent.conf'), 'mtuSize: 1');
    writeFileSync(join(dir, 'env.conf'), 'mtuSize: 2');
    writeFileSync(join(dir, 'etc', 'flag.conf'), 'mtuSize: 3');
    const config = { name: 'agent', schema };
    const source = { flags: {}, env: {}, configDir: join(dir, 'etc') };
    assert.equal(loadConfig(config, source).value.mtuSize, 1);
    const env = { AGENT_CONFIG: join(dir, 'env.conf') };
    assert.equal(loadConfig(config, { ...source, env }).value.mtuSize, 2);
    const flags = { 'agent-config': 'flag.conf' };
    assert.equal(loadConfig(config, { ...source, env, flags }).value.mtuSize, 3);
    assert.throws(
      () => loadConfig(config, { ...source, flags: { 'agent-config': 'none.conf' } }),
      /none\.conf: the file does not exist/,
    );
    assert.equal(loadConfig({ ...config, name: 'other' }, source).file, undefined);
  });
});

describe('keys of the original', () => {
  const parse = (key: string, value: string) =>
    parseConfig(schema, `mtuSize: 1\n${key}: ${value}\n`, 'http.conf', originalKeys['grpc.conf']);

  it('are warnings with their reason', () => {
    for (const [key, value] of [
      ['extended-logging', 'true'],
      ['Extended-Logging', '[]'],
    ] as const) {
      const [warning = ''] = parse(key, value).warnings;
      assert.ok(warning.startsWith(`http.conf:2: ${key} has no effect: `), warning);
    }
  });

  it('are unknown in the files of others', () => {
    const { warnings } = parseConfig(schema, 'users: [a]', 'etcd.conf', originalKeys['etcd.conf']);
    assert.deepEqual(warnings, ['etcd.conf:1: ignoring unknown key users']);
  });
});
