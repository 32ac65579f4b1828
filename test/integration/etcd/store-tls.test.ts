import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { StoreUnavailableError } from '#datastore/api.ts';
import { type EtcdTlsOptions, StoreConfigError } from '#datastore/etcd/options.ts';
import { EtcdStore } from '#datastore/etcd/store.ts';
import { systemClock } from '#infra/clock/system.ts';
import { makeCertificate } from '#test/support/certificates.ts';
import { withoutEtcd, withoutOpenssl } from '#test/support/requirements.ts';
import { EtcdServer } from '../support/etcd-server.ts';

describe('EtcdStore over TLS', {
  skip: withoutEtcd() || withoutOpenssl(),
  timeout: 300_000,
}, () => {
  let folder: string;
  let server: EtcdServer;
  const file = (name: string) => join(folder, name);

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'etcd-tls-'));
    for (const name of ['ca', 'server', 'client']) makeCertificate(folder, name, 'ca');
    makeCertificate(folder, 'stranger', 'stranger');
    server = await EtcdServer.start(
      `--cert-file=${file('server.crt')}`,
      `--key-file=${file('server.key')}`,
      `--trusted-ca-file=${file('ca.crt')}`,
      '--client-cert-auth',
    );
    const store = storeWith({ caFile: file('ca.crt'), ...own('client') });
    while ((await store.probe().catch((error) => error)) !== undefined) await systemClock.sleep(20);
    await store.close();
  });
  after(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  function own(name: string): EtcdTlsOptions {
    return { certFile: file(`${name}.crt`), keyFile: file(`${name}.key`) };
  }

  function storeWith(tls: EtcdTlsOptions): EtcdStore {
    const endpoints = [`https://localhost:${server.port}`];
    return new EtcdStore({ endpoints, tls, operationTimeoutMs: 2000 }, systemClock);
  }

  it('works with mutual authentication', async () => {
    const store = storeWith({ caFile: file('ca.crt'), ...own('client') });
    await store.put('a', '1');
    assert.equal(await store.get('a'), '1');
    await store.close();
  });

  for (const [title, tls, text] of [
    ['an authority we do not know', () => own('client'), /certificate/],
    [
      'another authority',
      () => ({ caFile: file('stranger.crt'), ...own('client') }),
      /certificate/,
    ],
    ['a client without a certificate', () => ({ caFile: file('ca.crt') }), /./],
    ['a client of another authority', () => ({ caFile: file('ca.crt'), ...own('stranger') }), /./],
  ] as const)
    it(`rejects ${title}`, async () => {
      const store = storeWith(tls());
      await assert.rejects(store.get('a'), (error: Error) => {
        assert.ok(error instanceof StoreUnavailableError);
        assert.match(error.message, text);
        return true;
      });
      await store.close();
    });

  it('accepts any certificate with insecureSkipVerify', async () => {
    const store = storeWith({ ...own('client'), insecureSkipVerify: true });
    await store.put('b', '1');
    assert.equal(await store.get('b'), '1');
    await store.close();
  });

  it('reports an invalid key or certificate before it connects', async () => {
    await writeFile(file('rubbish'), 'rubbish');
    for (const [tls, text] of [
      [{ caFile: file('rubbish') }, /ca-file/],
      [{ ...own('client'), certFile: file('rubbish') }, /cert-file/],
      [{ ...own('client'), keyFile: file('rubbish') }, /key-file/],
      [{ ...own('client'), keyFile: file('server.key') }, /not the key of the certificate/],
    ] as const)
      assert.throws(
        () => storeWith(tls),
        (error: Error) => {
          assert.ok(error instanceof StoreConfigError);
          assert.match(error.message, text);
          return true;
        },
      );
  });
});
