import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Static, Type } from 'typebox';
import { Secrets } from '#infra/support-bundle/secrets.ts';
import { checkProperty } from '#test/support/random-cases.ts';

const schema = Type.Object({
  endpoint: Type.String(),
  marked: Type.Array(Type.String(), { isSecret: true }),
  'ca-file': Type.String(),
  level: Type.Union([Type.Literal('debug'), Type.Literal('info')]),
  size: Type.Integer(),
  'insecure-skip-tls-verify': Type.Boolean(),
  'sign-key': Type.String(),
  inner: Type.Object({ name: Type.String(), password: Type.String() }),
});
type Config = Static<typeof schema>;

async function masked(secrets: Secrets, text: string, size: number): Promise<string> {
  const bytes = Buffer.from(text);
  const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size),
  );
  const result = await Readable.from(chunks).compose(secrets.mask()).toArray();
  return Buffer.concat(result).toString();
}

describe('secrets of a configuration', () => {
  it('are removed by schema, name, place and form; everything else stays', () => {
    const config: Config = {
      endpoint: 'http://root:p@ss/word@10.0.0.1:2379',
      marked: ['admin:hidden'],
      'ca-file': '/etc/etcd/ca.pem',
      level: 'debug',
      size: 5,
      'insecure-skip-tls-verify': true,
      'sign-key': 'hidden',
      inner: { name: 'root:p@ss@eth0', password: '' },
    };
    const given = {
      ...config,
      'CA-FILE': '-----BEGIN PRIVATE KEY-----\nhidden\n-----END PRIVATE KEY-----',
      clientBasicAuht: 'hidden',
      unknown: { deep: ['hidden'], pin: 123456, on: true },
      Inner: { name: ['hidden'], password: 123456 },
      Size: 'hidden',
      Level: 'hidden',
    };
    assert.deepEqual(new Secrets().withoutSecrets(given, schema), {
      endpoint: 'http://root:<removed>@10.0.0.1:2379',
      marked: '<removed>',
      'ca-file': '/etc/etcd/ca.pem',
      level: 'debug',
      size: 5,
      'insecure-skip-tls-verify': true,
      'sign-key': '<removed>',
      inner: { name: 'root:<removed>@eth0', password: '' },
      'CA-FILE': '<removed>',
      clientBasicAuht: '<removed>',
      unknown: { deep: ['<removed>'], pin: '<removed>', on: true },
      Inner: { name: ['<removed>'], password: '<removed>' },
      Size: '<removed>',
      Level: '<removed>',
    });
  });

  it('are masked in every spelling, with as many bytes as before', async () => {
    const secrets = new Secrets();
    const password = 'pässwörd "1" +/=?';
    secrets.withoutSecrets({ marked: [`admin:${password}`] }, schema);
    const basic = Buffer.from(`admin:${password}`).toString('base64');
    const text = [
      `user admin, ${password}.`,
      JSON.stringify({ password }),
      `Authorization: Basic ${basic}`,
      encodeURIComponent(password),
      'http://root:other@host/ and http://host:80/a@b',
    ].join('\n');
    const result = await masked(secrets, text, 7);
    assert.equal(Buffer.byteLength(result), Buffer.byteLength(text));
    assert.match(
      result,
      /^user admin, \*{19}\.\n\{"password":"\*+"\}\nAuthorization: Basic \*+=*\n\*+\n/,
    );
    assert.match(result, /http:\/\/root:\*{5}@host\/ and /);
    assert.equal(secrets.masked(text), result);
  });

  it('are masked wherever a stream is divided', async () => {
    const name = { file: 'test/infra/support-bundle/secrets.test.ts', name: 'wherever a stream' };
    const words = ['secret-one', 'secret-two-longer', 'x', ' \n', 'ü', '//a:pw@b '];
    const property = fc.asyncProperty(
      fc.array(fc.constantFrom(...words), { maxLength: 300 }),
      fc.integer({ min: 1, max: 700 }),
      async (chosen, size) => {
        const secrets = new Secrets();
        secrets.withoutSecrets({ marked: ['secret-one', 'secret-two-longer'] }, schema);
        const text = chosen.join('');
        const result = await masked(secrets, text, size);
        assert.equal(Buffer.byteLength(result), Buffer.byteLength(text));
        assert.doesNotMatch(result, /secret-|:pw@/);
      },
    );
    await checkProperty(name, 100, property);
  });
});
