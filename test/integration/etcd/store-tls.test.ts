import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { StoreRefusedError, StoreUnavailableError } from '#datastore/api.ts';
import { type EtcdTlsOptions, StoreConfigError } from '#datastore/etcd/options.ts';
import { EtcdStore } from '#datastore/etcd/store.ts';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { makeCertificate } from '#test/support/certificates.ts';
import { withoutEtcd, withoutEtcdctl, withoutOpenssl } from '#test/support/requirements.ts';
import { EtcdServer, etcdRoute } from '../support/etcd-server.ts';

const isBehindProxies = etcdRoute === 'proxies';

describe('EtcdStore over TLS', {
  skip: withoutEtcd() || withoutOpenssl(),
  timeout: 300_000,
}, () => {
  let folder: string;
  let server: EtcdServer;
  const file = (name: string) => join(folder, name);

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'etcd-tls-'));
    for (const name of ['ca', 'server', 'client', 'root']) makeCertificate(folder, name, 'ca');
    makeCertificate(folder, 'stranger', 'stranger');
    // the proxy does not start with one that has a common name
    makeCertificate(folder, 'proxy', 'ca', { commonName: '' });
    server = await EtcdServer.startWith({
      flags: [
        `--cert-file=${file('server.crt')}`,
        `--key-file=${file('server.key')}`,
        `--trusted-ca-file=${file('ca.crt')}`,
        '--client-cert-auth',
      ],
      proxyFlags: [
        `--cacert=${file('ca.crt')}`,
        `--cert=${file('proxy.crt')}`,
        `--key=${file('proxy.key')}`,
      ],
    });
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
    const endpoints = server.ports.map((port) => `https://localhost:${port}`);
    return new EtcdStore({ endpoints, tls, operationTimeoutMs: 2000 }, systemClock);
  }

  it('works with mutual authentication', async () => {
    const store = storeWith({ caFile: file('ca.crt'), ...own('client') });
    await store.put('a', '1');
    assert.equal(await store.get('a'), '1');
    await store.close();
  });

  it('connects with certificates that were replaced since it was created', async () => {
    makeCertificate(folder, 'own', 'stranger');
    copyFileSync(file('stranger.crt'), file('own-ca.crt'));
    const store = storeWith({ caFile: file('own-ca.crt'), ...own('own') });
    await assert.rejects(store.get('a'), StoreUnavailableError);
    copyFileSync(file('ca.crt'), file('own-ca.crt'));
    // Half of a replacement: the key is not that of the certificate.
    copyFileSync(file('client.crt'), file('own.crt'));
    await assert.rejects(store.get('a'), StoreUnavailableError);
    copyFileSync(file('client.key'), file('own.key'));
    await store.put('a', '1');
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

  const etcdctl = (...args: string[]) =>
    execFileSync('etcdctl', [
      `--endpoints=https://localhost:${server.memberPorts[0]}`,
      `--cacert=${file('ca.crt')}`,
      `--cert=${file('root.crt')}`,
      `--key=${file('root.key')}`,
      ...args,
    ]);

  describe('for a user with rights to one prefix', {
    skip: withoutEtcdctl() || (isBehindProxies && 'etcd sees the certificate of the proxy'),
  }, () => {
    before(() => {
      for (const name of ['root', 'client']) etcdctl('user', 'add', name, '--no-password');
      etcdctl('role', 'add', 'one-prefix');
      etcdctl('role', 'grant-permission', '--prefix=true', 'one-prefix', 'readwrite', '/own/');
      etcdctl('user', 'grant-role', 'root', 'root');
      etcdctl('user', 'grant-role', 'client', 'one-prefix');
      etcdctl('auth', 'enable');
    });
    after(() => etcdctl('auth', 'disable'));

    it('works under the prefix, and is refused elsewhere', async () => {
      const store = storeWith({ caFile: file('ca.crt'), ...own('client') });
      await store.probe();
      const { revision } = await store.list('/own/empty/');
      const seen = Promise.withResolvers<string>();
      store.watch('/own/empty/', revision, {
        onChanges: ([change]) => seen.resolve(change!.key),
        onLost: (reason) => seen.reject(reason),
      });
      await store.put('/own/empty/a', '1');
      assert.equal(await seen.promise, '/own/empty/a');
      await assert.rejects(store.put('/other', '1'), StoreRefusedError);
      await store.close();
    });

    it('holds elections under the prefix', async () => {
      const store = storeWith({ caFile: file('ca.crt'), ...own('client') });
      const options = { prefix: '/own/election', ttl: 5, name: 'a', log: silentLogger };
      const election = store.election(options);
      const leadership = await election.campaign(AbortSignal.timeout(20_000));
      await leadership.putAll(new Map([['/own/b', '1']]));
      assert.equal(await store.get('/own/b'), '1');
      await leadership.resign();
      await store.close();
    });
  });

  if (isBehindProxies)
    it('is refused by an etcd with users behind a proxy, which has no name', {
      skip: withoutEtcdctl(),
    }, async () => {
      etcdctl('user', 'add', 'root', '--no-password');
      etcdctl('user', 'grant-role', 'root', 'root');
      etcdctl('auth', 'enable');
      const store = storeWith({ caFile: file('ca.crt'), ...own('client') });
      try {
        await assert.rejects(store.put('a', '1'), StoreRefusedError);
        await assert.rejects(store.list('a'), StoreRefusedError);
      } finally {
        await store.close();
        etcdctl('auth', 'disable');
      }
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
