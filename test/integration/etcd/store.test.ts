import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Etcd3 } from 'etcd3';
import { type KvStore, StoreRefusedError, StoreUnavailableError } from '#datastore/api.ts';
import { StoreConfigError } from '#datastore/etcd/options.ts';
import { EtcdStore } from '#datastore/etcd/store.ts';
import { systemClock } from '#infra/clock/system.ts';
import { sortKeys } from '#infra/collections/key-order.ts';
import { compliance, Listener } from '#test/datastore/compliance.ts';
import { declareUnless, withoutEtcd } from '#test/support/requirements.ts';
import { EtcdServer, etcdRoutes } from '../support/etcd-server.ts';
import { freePort } from '../support/free-port.ts';

await declareUnless(withoutEtcd(), 'KvStore on etcd', () => {
  for (const [name, route] of Object.entries(etcdRoutes))
    compliance(name, async () => {
      const server = await EtcdServer.startWith({ route });
      return {
        // load of the machine must not fail a call
        open: async () => server.store(server.ports, 20_000),
        compact: () => server.compact(),
        close: () => server.close(),
      };
    });
});

for (const [name, route] of Object.entries(etcdRoutes))
  describe(`EtcdStore on ${name}`, { skip: withoutEtcd(), timeout: 300_000 }, () => {
    let server: EtcdServer;
    let store: KvStore;
    before(async () => {
      server = await EtcdServer.startWith({ route });
      store = server.store();
    });
    after(async () => {
      await store.close();
      await server.close();
    });

    it('lists more keys than a page has, and more bytes than gRPC accepts by default', async () => {
      for (let part = 0; part < 12; part++)
        await store.putAll(
          new Map(
            Array.from({ length: 100 }, (_, at) => [
              `/pages/${String(part * 100 + at).padStart(5, '0')}`,
              'x'.repeat(8_000),
            ]),
          ),
        );
      const { entries } = await store.list('/pages/');
      assert.equal(entries.length, 1200);
      assert.deepEqual(
        entries.map(({ key }) => Number(key.slice(7))),
        entries.map((_, at) => at),
      );
    });

    it('lists many keys of uneven density, of which each request has a part', async () => {
      const keys = Array.from({ length: 12_000 }, (_, at) =>
        at % 100 === 0 ? `/many/${at}/${'é'.repeat(at % 7)}` : `/many/app-${at % 29}-${at}`,
      );
      for (let at = 0; at < keys.length; at += 100)
        await store.putAll(new Map(keys.slice(at, at + 100).map((key) => [key, key])));
      const { entries } = await store.list('/many/');
      assert.deepEqual(
        entries.map(({ key }) => key),
        sortKeys(keys),
      );
    });

    it('delivers a watch backlog larger than gRPC accepts by default', async () => {
      const { revision } = await store.list('/replay/');
      for (let round = 0; round < 60; round++)
        await store.put('/replay/a', `${round} `.padEnd(150_000, 'x'));
      const listener = new Listener();
      const watch = store.watch('/replay/', revision, listener);
      await listener.until(({ changes }) => changes.length >= 60);
      watch.close();
      assert.deepEqual(
        listener.changes.map(({ value }) => Number(value?.split(' ')[0])),
        Array.from({ length: 60 }, (_, round) => round),
      );
    });

    it('delivers a large transaction in one batch, also from several fragments', async () => {
      const { revision } = await store.list('/large/');
      for (let round = 0; round < 8; round++)
        await store.putAll(
          new Map(
            Array.from({ length: 10 }, (_, at) => [
              `/large/${at}`,
              `${round}`.padEnd(120_000, 'x'),
            ]),
          ),
        );
      const listener = new Listener();
      const watch = store.watch('/large/', revision, listener);
      await listener.until(({ changes }) => changes.length >= 80);
      watch.close();
      // The proxy does not ask etcd for fragments.
      if (route === 'direct') assert.ok(listener.batches.length > 1, 'etcd has cut the replay');
      for (const batch of listener.batches) assert.equal(batch.length % 10, 0);
    });

    it('reports a request as rejected when a retry would not help', async () => {
      const many = new Map(Array.from({ length: 200 }, (_, at) => [`/many/${at}`, '']));
      await assert.rejects(store.putAll(many), (error: Error) => {
        assert.ok(error instanceof StoreRefusedError);
        assert.match(error.message, /too many operations/);
        return true;
      });
      await assert.rejects(store.put('/big', 'x'.repeat(3_000_000)), StoreRefusedError);
      await assert.rejects(store.put('', 'x'), StoreRefusedError);
      assert.equal(await store.get('/many/0'), undefined);
      await store.probe();
    });

    it('rejects in time when etcd is unreachable', async () => {
      const port = await freePort();
      const absent = new EtcdStore({ endpoints: [`http://127.0.0.1:${port}`] }, systemClock);
      for (const call of [
        () => absent.get('a'),
        () => absent.list('a'),
        () => absent.put('a', 'b'),
        () => absent.putIfAbsent('a', 'b'),
        () => absent.probe(),
      ])
        await assert.rejects(call(), (error: Error) => {
          assert.ok(error instanceof StoreUnavailableError);
          assert.match(error.message, new RegExp(`127.0.0.1:${port}`));
          return true;
        });
      await absent.close();
    });

    it('uses the endpoint that answers', async () => {
      const dead = `127.0.0.1:${await freePort()}`;
      const alive = `127.0.0.1:${server.port}`;
      const both = new EtcdStore({ endpoints: [dead, dead, alive] }, systemClock);
      await both.put('/both', '1');
      assert.equal(await both.get('/both'), '1');
      const { revision } = await both.list('/both');
      const listener = new Listener();
      const watch = both.watch('/both', revision, listener);
      await store.put('/both', '2');
      await listener.until(({ changes }) => changes.length === 1);
      watch.close();
      await both.close();
    });

    it('reads values of other clients, and they read its values', async () => {
      const other = new Etcd3({ hosts: `127.0.0.1:${server.port}` });
      await other.put('/other/a').value('ä😀');
      assert.equal(await store.get('/other/a'), 'ä😀');
      await store.put('/other/b', 'ö');
      assert.equal(await other.get('/other/b').string(), 'ö');
      other.close();
    });

    it('rejects contradictory options', () => {
      for (const [options, text] of [
        [{ endpoints: [] }, /no endpoint/],
        [{ endpoints: ['http://a:1', 'https://b:1'] }, /mixed/],
        [{ endpoints: ['http://a:1'], tls: {} }, /cannot be used with TLS/],
        [{ endpoints: ['a:1'], tls: { certFile: '/x' } }, /must both be set/],
        [{ endpoints: ['a:1'], tls: { caFile: '/does/not/exist' } }, /ca-file .*no such file/],
        [
          { endpoints: ['a:1'], tls: { caFile: import.meta.filename } },
          /ca-file .*store\.test\.ts/,
        ],
      ] as const)
        assert.throws(
          () => new EtcdStore(options, systemClock),
          (error: Error) => {
            assert.ok(error instanceof StoreConfigError, String(error));
            assert.match(error.message, text);
            return true;
          },
        );
    });
  });
