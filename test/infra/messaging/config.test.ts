import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parseConfig } from '#infra/config/load.ts';
import { kafkaOptions, kafkaSchema } from '#infra/messaging/config.ts';
import { makeCertificate } from '#test/support/certificates.ts';
import { withoutOpenssl } from '#test/support/requirements.ts';

const parse = (text: string) => kafkaOptions(parseConfig(kafkaSchema, text, 'f').value, 'node1');

describe('kafka.conf', () => {
  it('has the defaults of the original', () => {
    assert.deepEqual(parse(''), {
      brokers: [{ host: '127.0.0.1', port: 9092 }],
      groupId: 'node1',
      clientId: 'node1',
    });
  });

  it('names brokers with and without port, also by IPv6 address', () => {
    const { brokers, groupId } = parse(
      'addrs: [kafka, "kafka2:9093", "[fd00::1]:9094", "[fd00::2]"]\ngroup_id: agents\n',
    );
    assert.deepEqual(brokers, [
      { host: 'kafka', port: 9092 },
      { host: 'kafka2', port: 9093 },
      { host: 'fd00::1', port: 9094 },
      { host: 'fd00::2', port: 9092 },
    ]);
    assert.equal(groupId, 'agents');
    for (const address of ['', 'a:b', 'a:0', 'a:65536', 'fd00::1', 'a b:1'])
      assert.throws(() => parse(JSON.stringify({ addrs: [address] })), {
        code: 'CV_MESSAGING_CONFIG',
      });
    assert.throws(() => parse('addrs: []'), { code: 'CV_MESSAGING_CONFIG' });
  });

  it('does not use TLS unless it is enabled', () => {
    assert.equal(parse('tls: {ca-file: /nowhere}').tls, undefined);
    assert.deepEqual(parse('tls: {enabled: true, skip-verify: true}').tls, {
      rejectUnauthorized: false,
    });
  });

  it('reads certificates and key, and names those that cannot be used', {
    skip: withoutOpenssl(),
  }, (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'kafka-conf-'));
    t.after(() => rmSync(folder, { recursive: true }));
    for (const name of ['ca', 'client', 'other']) makeCertificate(folder, name, 'ca');
    const file = (name: string) => join(folder, name);
    writeFileSync(file('rubbish'), 'rubbish');
    const tls = (keys: object) => parse(JSON.stringify({ tls: { enabled: true, ...keys } })).tls;
    const pair = { 'cert-file': file('client.crt'), 'key-file': file('client.key') };
    const found = tls({ ...pair, 'ca-file': file('ca.crt') });
    assert.deepEqual(Object.keys(found!), ['rejectUnauthorized', 'ca', 'cert', 'key']);
    assert.equal(found!.rejectUnauthorized, true);
    for (const [keys, text] of [
      [{ 'cert-file': file('client.crt') }, /certificate and key must both be set/],
      [{ 'key-file': file('client.key') }, /certificate and key must both be set/],
      [{ ...pair, 'key-file': file('other.key') }, /not the key of the certificate/],
      [{ ...pair, 'key-file': file('rubbish') }, /tls.key-file/],
      [{ 'ca-file': file('rubbish') }, /tls.ca-file/],
      [{ 'ca-file': file('missing') }, /tls.ca-file .*ENOENT/],
    ] as const)
      assert.throws(
        () => tls(keys),
        (error: Error) => {
          assert.match(error.message, text);
          return true;
        },
      );
  });
});
