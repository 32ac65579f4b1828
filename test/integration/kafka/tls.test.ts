import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { seededRandom } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { type KafkaConfig, kafkaOptions } from '#infra/messaging/config.ts';
import { KafkaClient } from '#infra/messaging/kafka-client.ts';
import { makeCertificate } from '#test/support/certificates.ts';
import { withoutKafka, withoutOpenssl } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { KafkaServer } from '../support/kafka-server.ts';

describe('KafkaClient over TLS', {
  skip: withoutKafka() || withoutOpenssl(),
  timeout: 600_000,
}, () => {
  const folder = mkdtempSync(join(tmpdir(), 'kafka-tls-'));
  const file = (name: string) => join(folder, name);
  let server: KafkaServer;

  before(async () => {
    for (const name of ['ca', 'server', 'client']) makeCertificate(folder, name, 'ca');
    makeCertificate(folder, 'stranger', 'stranger');
    // Java reads keys in PKCS 8 only.
    const key = execFileSync('openssl', ['pkcs8', '-topk8', '-nocrypt', '-in', file('server.key')]);
    writeFileSync(file('server.pem'), Buffer.concat([key, readFileSync(file('server.crt'))]));
    server = await KafkaServer.start({
      tls: [
        'ssl.keystore.type=PEM',
        `ssl.keystore.location=${file('server.pem')}`,
        'ssl.truststore.type=PEM',
        `ssl.truststore.location=${file('ca.crt')}`,
        'ssl.client.auth=required',
        'ssl.endpoint.identification.algorithm=',
      ],
    });
  });
  after(async () => {
    await server?.close();
    rmSync(folder, { recursive: true });
  });

  function open(keys: Partial<KafkaConfig['tls']>, isEnabled = true): KafkaClient {
    const config: KafkaConfig = {
      addrs: [`localhost:${server.port}`],
      group_id: '',
      tls: {
        enabled: isEnabled,
        'skip-verify': false,
        'ca-file': '',
        'cert-file': '',
        'key-file': '',
        ...keys,
      },
      'events-topic': '',
      'interface-state-topic': '',
    };
    const options = kafkaOptions(config, 'tls');
    return new KafkaClient({
      options,
      clock: systemClock,
      random: seededRandom(1),
      log: silentLogger,
    });
  }
  const ca = () => ({ 'ca-file': file('ca.crt') });
  const own = (name: string) => ({
    'cert-file': file(`${name}.crt`),
    'key-file': file(`${name}.key`),
  });

  it('publishes and watches with certificates of both sides', async () => {
    const client = open({ ...ca(), ...own('client') });
    const found: string[] = [];
    client.watchTopic('tls', ({ value }) => void found.push(String(value)));
    client.watchPartition({ topic: 'tls', partition: 0, offset: 0n }, ({ value }) => {
      found.push(String(value));
    });
    await client.publish({ topic: 'tls', key: '', value: Buffer.from('x') }, 'all');
    await until('both watches have it', () => found.length === 2, 60_000);
    await client.close();
  });

  it('accepts any broker with skip-verify', async () => {
    const client = open({ 'skip-verify': true, ...own('client') });
    await client.probe();
    await client.close();
  });

  for (const [title, keys, isEnabled] of [
    ['an authority that it does not know', () => own('client'), true],
    ['another authority', () => ({ 'ca-file': file('stranger.crt'), ...own('client') }), true],
    ['a broker that demands a certificate', ca, true],
    ['a broker that does not know its authority', () => ({ ...ca(), ...own('stranger') }), true],
    ['a broker that accepts only TLS', () => ({}), false],
  ] as const)
    it(`is unavailable because of ${title}`, async () => {
      const client = open(keys(), isEnabled);
      await assert.rejects(client.probe(), { code: 'CV_MESSAGING_UNAVAILABLE' });
      await client.close();
    });
});
