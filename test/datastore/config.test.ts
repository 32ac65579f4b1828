import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { etcdOptions, etcdSchema } from '#datastore/config.ts';
import { parseConfig } from '#infra/config/load.ts';

function options(text: string, env: Record<string, string> = {}) {
  return etcdOptions(parseConfig(etcdSchema, text, 'etcd.conf').value, env);
}

const times = { operationTimeoutMs: 3000, reconnectIntervalMs: 2000 };

describe('etcd.conf', () => {
  it('has loopback and the times of the original as defaults', () => {
    assert.deepEqual(options(''), { endpoints: ['127.0.0.1:2379'], ...times });
  });

  it('reads a file of the original', () => {
    const text = [
      'insecure-transport: true',
      'dial-timeout: 10000000000',
      'operation-timeout: 5000000000',
      'reconnect-interval: 1s',
      'cert-file: /etc/etcd.crt',
      'endpoints:',
      '  - "http://192.168.16.1:32379"',
      '  - 192.168.16.2:32379',
    ];
    assert.deepEqual(options(text.join('\n')), {
      endpoints: ['http://192.168.16.1:32379', '192.168.16.2:32379'],
      operationTimeoutMs: 5000,
      reconnectIntervalMs: 1000,
    });
  });

  it('refuses a pause that would be none, and let an unavailable etcd be asked in a busy loop', () => {
    for (const value of ['0', '0s', '1ms'])
      assert.throws(() => options(`reconnect-interval: ${value}`), /reconnect-interval/);
  });

  it('uses the endpoints of the file, then of either variable', () => {
    const env = { ETCDV3_ENDPOINTS: 'c:1', ETCD_ENDPOINTS: 'a:1, b:2,' };
    assert.deepEqual(options('endpoints: [d:1]', env).endpoints, ['d:1']);
    assert.deepEqual(options('', env).endpoints, ['a:1', 'b:2']);
    assert.deepEqual(options('', { ETCDV3_ENDPOINTS: 'c:1' }).endpoints, ['c:1']);
  });

  it('uses TLS with a certificate file or with insecure-skip-tls-verify', () => {
    assert.deepEqual(options('ca-file: /ca').tls, { caFile: '/ca' });
    assert.deepEqual(options('cert-file: /crt\nkey-file: /key').tls, {
      certFile: '/crt',
      keyFile: '/key',
    });
    assert.deepEqual(options('insecure-skip-tls-verify: true').tls, { insecureSkipVerify: true });
    assert.equal(options('ca-file: /ca\ninsecure-transport: true').tls, undefined);
  });
});
