import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CommanderError } from 'commander';
import { parseFlags } from '#cmd/stn/flags.ts';

describe('the flags of contiv-stn', () => {
  it('have the defaults of the original', () => {
    assert.deepEqual(parseFlags([]), {
      socketPath: '/var/run/contiv/stn.sock',
      stateDir: '/var/run/contiv/stn',
      httpPort: 9192,
      hasStatusCheck: false,
    });
  });

  it('may have one dash or two', () => {
    const flags = parseFlags(['-grpc=/tmp/a.sock', '-statuscheck', '9999', '--http-port', '0']);
    assert.equal(flags.socketPath, '/tmp/a.sock');
    assert.equal(flags.hasStatusCheck, true);
    assert.equal(flags.httpPort, 0);
  });

  it('are rejected when a path is relative or a port is not a number', () => {
    const output = process.stderr.write;
    process.stderr.write = () => true;
    try {
      for (const argv of [
        ['--grpc', 'stn.sock'],
        ['--http-port', '70000'],
        ['--state-dir', ''],
      ])
        assert.throws(() => parseFlags(argv), CommanderError, argv.join(' '));
    } finally {
      process.stderr.write = output;
    }
  });
});
