import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseFlags } from '#cmd/agent/flags.ts';

describe('command line', () => {
  it('accepts one dash or two, a blank or an equals sign', () => {
    for (const argv of [
      ['-microservice-label=node1', '-http-port', '9000', '-contiv-config=/etc/c.conf'],
      ['--microservice-label', 'node1', '--http-port=9000', '--contiv-config', '/etc/c.conf'],
    ]) {
      const { values } = parseFlags(argv, {});
      assert.equal(values['microservice-label'], 'node1');
      assert.equal(values['http-port'], '9000');
      assert.equal(values['contiv-config'], '/etc/c.conf');
    }
  });

  it('does not change values that begin with a dash', () => {
    assert.equal(parseFlags(['--config-dir', './-x'], {}).configDir, './-x');
  });

  it('finds the configuration folder by flag, variable, default', () => {
    assert.equal(parseFlags(['--config-dir', 'a'], { CONFIG_DIR: 'b' }).configDir, 'a');
    assert.equal(parseFlags([], { CONFIG_DIR: 'b' }).configDir, 'b');
    assert.equal(parseFlags([], {}).configDir, '.');
    assert.equal(parseFlags([], {}).embedded, false);
    assert.equal(parseFlags([], {}).undeploy, false);
    assert.equal(parseFlags(['undeploy', '-config-dir', 'x'], {}).undeploy, true);
  });
});
