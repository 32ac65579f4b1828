import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import {
  type KvStore,
  type Revision,
  StoreClosedError,
  StoreUnavailableError,
  type Watch,
  WatchLostError,
} from '#datastore/api.ts';
import { EtcdStore } from '#datastore/etcd/store.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { systemClock } from '#infra/clock/system.ts';
import { Listener } from '#test/datastore/compliance.ts';
import { withoutEtcd } from '#test/support/requirements.ts';
import { EtcdServer, etcdRoutes } from '../support/etcd-server.ts';
import { FaultyLink } from '../support/faulty-link.ts';

/** Puts numbers under a few keys until it is stopped; accepts unknown outcomes. */
class Writer {
  readonly acknowledged: number[] = [];
  failures = 0;
  #going = true;
  readonly #store: KvStore;
  readonly #done: Promise<void>;

  constructor(store: KvStore, prefix: string) {
    this.#store = store;
    this.#done = this.#run(store, prefix);
  }

  async stop(): Promise<void> {
    this.#going = false;
    await this.#done;
    await this.#store.close();
  }

  async until(condition: (writer: this) => boolean): Promise<void> {
    while (!condition(this)) await systemClock.sleep(10);
  }

  async #run(store: KvStore, prefix: string): Promise<void> {
    for (let round = 0; this.#going; round++) {
      try {
        await store.put(`${prefix}${round % 5}`, `${round}`);
        this.acknowledged.push(round);
      } catch {
        this.failures++;
        await systemClock.sleep(20);
      }
    }
  }
}

/** Limit for events that do not arrive; no result depends on it. */
const LIMIT_MS = 180_000;

for (const [name, route] of Object.entries(etcdRoutes))
  describe(`a faulty ${name}`, { skip: withoutEtcd(), timeout: 10 * LIMIT_MS }, () => {
    let server: EtcdServer;
    let link: FaultyLink;
    /** Through the link. */
    let store: EtcdStore;
    /** Not through the link, and with long limits: load of the machine must not fail the test. */
    let direct: KvStore;
    let prefix = '';
    let tests = 0;
    const watches: Watch[] = [];

    before(async () => {
      server = await EtcdServer.startWith({ route });
    });
    after(() => server.close());
    beforeEach(async () => {
      prefix = `/faults/${tests++}/`;
      link = await FaultyLink.start(server.ports);
      store = server.store(link.port);
      direct = server.store(server.ports, 60_000);
    });
    afterEach(async () => {
      for (const watch of watches.splice(0)) watch.close();
      await store.close();
      await direct.close();
      await link.close();
    });

    /** Fails a test that waits for an event that does not arrive. */
    function test(title: string, body: () => Promise<void>): void {
      it(title, { timeout: LIMIT_MS }, body);
    }

    async function watched(from?: Revision): Promise<Listener> {
      const listener = new Listener();
      const revision = from ?? (await store.list(prefix)).revision;
      watches.push(store.watch(prefix, revision, listener));
      return listener;
    }

    /** Ends the history with a marker and returns the changes that an undisturbed client gets. */
    async function wholeHistory(from: Revision): Promise<string[]> {
      await direct.put(`${prefix}end`, '');
      const observer = new Listener();
      const watch = store.watch(prefix, from, observer);
      await observer.until(({ texts }) => texts.at(-1) === `${prefix}end=`);
      watch.close();
      return observer.texts;
    }

    /** Waits until the database has the value. */
    async function written(key: string, value: string): Promise<void> {
      while ((await direct.get(key)) !== value) await systemClock.sleep(10);
    }

    async function put(count: number, size = 0): Promise<void> {
      for (let from = 0; from < count; from += 100)
        await Promise.all(
          Array.from({ length: Math.min(100, count - from) }, (_, at) =>
            direct.put(`${prefix}${(from + at) % 7}`, `${from + at} `.padEnd(size, 'x')),
          ),
        );
    }

    async function heardAll(listener: Listener, from: Revision): Promise<void> {
      const history = await wholeHistory(from);
      await listener.until(({ texts, lost }) => texts.length >= history.length || lost.length > 0);
      assert.deepEqual(listener.lost, []);
      assert.deepEqual(listener.texts, history);
    }

    test('asks for a page again that does not come in time, and reads on', async () => {
      for (let from = 0; from < 2_500; from += 100) {
        const keys = Array.from({ length: 100 }, (_, at) => `${prefix}${from + at}`);
        await direct.putAll(new Map(keys.map((key) => [key, 'value'])));
      }
      const pages: number[] = [];
      const revision = await store.pages(prefix, (entries) => {
        pages.push(entries.length);
        if (pages.length > 1) return;
        // longer than a call may take
        link.silent = true;
        void systemClock.sleep(1_500).then(() => {
          link.silent = false;
          link.cut();
        });
        void direct.put(`${prefix}later`, 'value');
      });
      assert.deepEqual(pages, [1_000, 1_000, 500]);
      const listener = await watched(revision);
      await listener.until(({ texts }) => texts.includes(`${prefix}later=value`));
    });

    test('ends a list when it is closed while it waits for a page', async () => {
      const keys = Array.from({ length: 1_100 }, (_, at) => `${prefix}${at}`);
      for (let at = 0; at < keys.length; at += 100)
        await direct.putAll(new Map(keys.slice(at, at + 100).map((key) => [key, 'value'])));
      const waits = Promise.withResolvers<void>();
      const neverAgain: Clock = {
        ...systemClock,
        sleep: (_, signal) => {
          waits.resolve();
          return new Promise((_resolve, reject) => {
            signal?.addEventListener('abort', () => reject(signal.reason));
          });
        },
      };
      const closed = new EtcdStore(
        { endpoints: [`127.0.0.1:${link.port}`], operationTimeoutMs: 1_000 },
        neverAgain,
      );
      const listed = closed.pages(prefix, () => {
        link.silent = true;
      });
      const rejected = assert.rejects(listed, StoreClosedError);
      await waits.promise;
      await closed.close();
      await rejected;
    });

    test('gets every change once and in order when etcd is killed during writes', async () => {
      const { revision } = await store.list(prefix);
      const listener = await watched(revision);
      const writer = new Writer(server.store(), prefix);
      for (let round = 1; round <= 2; round++) {
        await writer.until(({ acknowledged }) => acknowledged.length > round * 200);
        await server.kill();
        await writer.until(({ failures }) => failures >= round);
        await server.run();
      }
      await writer.until(({ acknowledged }) => acknowledged.length > 700);
      await writer.stop();
      assert.ok(writer.failures > 0);
      await heardAll(listener, revision);
      const heard = listener.changes.slice(0, -1).map(({ value }) => Number(value));
      const set = new Set(heard);
      assert.equal(set.size, heard.length);
      assert.deepEqual(
        writer.acknowledged.filter((round) => !set.has(round)),
        [],
        'what was acknowledged is there',
      );
      assert.deepEqual(
        heard,
        heard.toSorted((a, b) => a - b),
      );
    });

    test('replies in time while etcd is suspended, and misses no change afterwards', async () => {
      const { revision } = await store.list(prefix);
      const listener = await watched(revision);
      const writer = new Writer(server.store(), prefix);
      await writer.until(({ acknowledged }) => acknowledged.length > 100);
      await server.suspend();
      try {
        await assert.rejects(store.get(`${prefix}1`), StoreUnavailableError);
        await assert.rejects(store.list(prefix), StoreUnavailableError);
      } finally {
        server.resume();
      }
      const before = writer.acknowledged.length;
      await writer.until(({ acknowledged }) => acknowledged.length > before + 100);
      await writer.stop();
      await heardAll(listener, revision);
    });

    test('misses no change when the connection breaks repeatedly during a watch backlog', async () => {
      const { revision } = await store.list(prefix);
      await put(5000, 40);
      // Space for one message of the watch backlog, which has a thousand revisions.
      link.cutAfter = 100_000;
      const listener = await watched(revision);
      await listener.until(({ changes }) => changes.length > 3500);
      assert.ok(link.connections > 3, `${link.connections} connections`);
      link.cutAfter = Number.POSITIVE_INFINITY;
      await heardAll(listener, revision);
    });

    test('gets a long backlog while other watches of the prefix are current', async () => {
      const { revision } = await store.list(prefix);
      await put(5000, 40);
      const current = await watched();
      for (let round = 0; round < 5; round++) {
        await heardAll(await watched(revision), revision);
        // The proxy joins streams a moment after a message.
        await direct.put(`${prefix}more`, `${round}`);
      }
      await current.until(({ changes }) => changes.length === 10);
    });

    test('misses no change of transactions that a disconnect splits', async () => {
      const { revision } = await store.list(prefix);
      for (let round = 0; round < 30; round++)
        await direct.putAll(
          new Map(
            Array.from({ length: 100 }, (_, at) => [
              `${prefix}${at}`,
              `${round} `.padEnd(10_000, 'x'),
            ]),
          ),
        );
      // Each connection transports more than the one before: the proxy sends the whole backlog in one message.
      link.cutAfter = 9_000_000;
      link.onConnection = () => {
        link.cutAfter *= 1.5;
      };
      const listener = await watched(revision);
      await listener.until(({ changes }) => changes.length > 1500);
      link.cutAfter = Number.POSITIVE_INFINITY;
      await heardAll(listener, revision);
      assert.ok(link.connections > 1);
      for (const batch of listener.batches.slice(0, -1)) assert.equal(batch.length % 100, 0);
    });

    test('reports the watch as lost when the history was compacted during a disconnect', async () => {
      const listener = await watched();
      await direct.put(`${prefix}a`, '1');
      await listener.until(({ changes }) => changes.length === 1);
      link.closed = true;
      link.cut();
      await put(50);
      await server.compact();
      link.closed = false;
      await listener.until(({ lost }) => lost.length > 0);
      assert.equal(listener.changes.length, 1);
      assert.ok(listener.lost[0] instanceof WatchLostError);
      const { entries, revision } = await store.list(prefix);
      assert.equal(entries.length, 8);
      await heardAll(await watched(revision), revision);
    });

    test('continues when the history was compacted up to its own revision', async () => {
      const { revision } = await store.list(prefix);
      const listener = await watched(revision);
      await put(20);
      await listener.until(({ changes }) => changes.length === 20);
      link.closed = true;
      link.cut();
      await server.compact();
      link.closed = false;
      await direct.put(`${prefix}end`, '');
      await listener.until(({ changes }) => changes.length === 21);
      assert.deepEqual(listener.lost, []);
    });

    test('reports the watch as lost when the database returns empty', async () => {
      await put(50);
      const listener = await watched();
      await server.wipe();
      await server.run();
      await listener.until(({ lost }) => lost.length > 0);
      assert.match(listener.lost[0]!.message, /wiped, restored or replaced/);
      assert.deepEqual(listener.batches, []);
      const { entries, revision } = await store.list(prefix);
      assert.deepEqual(entries, []);
      await heardAll(await watched(revision), revision);
    });

    test('also when the new database has higher revisions than the old one', async () => {
      await direct.put(`${prefix}a`, '1');
      const two = [await watched(), await watched()];
      const old = (await store.list(prefix)).revision;
      link.closed = true;
      link.cut();
      await server.wipe();
      await server.run();
      const other = server.store(server.ports, 60_000);
      for (let from = 0; from < 6000; from += 50)
        await Promise.all(
          Array.from({ length: 50 }, (_, at) => other.put(`${prefix}${at % 7}`, `${at}`)),
        );
      await other.close();
      link.closed = false;
      for (const listener of two) {
        await listener.until(({ lost, changes }) => lost.length > 0 || changes.length > 0);
        assert.equal(listener.lost.length, 1);
        assert.deepEqual(listener.batches, []);
      }
      const late = await watched(old);
      await late.until(({ lost }) => lost.length > 0);
    });

    test('detects a silent connection, and reconnects', async () => {
      const eager = new EtcdStore(
        {
          endpoints: [`127.0.0.1:${link.port}`],
          operationTimeoutMs: 500,
          reconnectIntervalMs: 100,
        },
        systemClock,
      );
      const { revision } = await eager.list(prefix);
      const listener = new Listener();
      watches.push(eager.watch(prefix, revision, listener));
      await direct.put(`${prefix}a`, '1');
      await listener.until(({ changes }) => changes.length === 1);
      // Data of this connection is lost from now on; the next connections work again.
      link.silent = true;
      await direct.put(`${prefix}a`, '2');
      const { connections } = link;
      while (link.connections === connections) await systemClock.sleep(20);
      link.silent = false;
      link.cut();
      await direct.put(`${prefix}a`, '3');
      await listener.until(({ changes }) => changes.length === 3);
      assert.deepEqual(
        listener.changes.map(({ value }) => value),
        ['1', '2', '3'],
      );
      await eager.close();
    });

    test('determines whether it created a key when the reply is lost', async () => {
      const key = `${prefix}id`;
      await store.probe();
      link.onRequest = (bytes) => {
        if (!bytes.includes(key) || !bytes.includes('mine')) return;
        link.onRequest = undefined;
        link.swallowReplies = true;
        void written(key, 'mine').then(() => {
          link.cut();
          link.swallowReplies = false;
        });
      };
      assert.deepEqual(await store.putIfAbsent(key, 'mine'), { created: true, value: 'mine' });
      assert.equal(link.onRequest, undefined, 'the reply was lost');
      assert.ok(link.connections > 1);
    });

    test('recognizes its own key after another client has changed it', async () => {
      const key = `${prefix}id`;
      await store.probe();
      link.onRequest = (bytes) => {
        if (!bytes.includes(key) || !bytes.includes('mine')) return;
        link.onRequest = undefined;
        link.swallowReplies = true;
        void written(key, 'mine').then(async () => {
          assert.ok(await direct.compareAndSwap(key, 'mine', 'changed'));
          link.cut();
          link.swallowReplies = false;
        });
      };
      assert.deepEqual(await store.putIfAbsent(key, 'mine'), { created: true, value: 'changed' });
    });

    test('does not take the key of another client for its own when the request is lost', async () => {
      const key = `${prefix}id`;
      await store.probe();
      link.onRequest = (bytes) => {
        if (!bytes.includes(key) || !bytes.includes('mine')) return;
        link.onRequest = undefined;
        link.silent = true;
        void direct.put(key, 'theirs').then(() => {
          link.cut();
          link.silent = false;
        });
      };
      assert.deepEqual(await store.putIfAbsent(key, 'mine'), { created: false, value: 'theirs' });
    });

    test('reports the unknown outcome of a write without a reply, and sends it once', async () => {
      const key = `${prefix}a`;
      const { revision } = await direct.list(prefix);
      for (const write of [() => store.put(key, '1'), () => store.compareAndSwap(key, '1', '2')]) {
        await store.probe();
        link.swallowReplies = true;
        await assert.rejects(write(), (error: Error) => {
          assert.ok(error instanceof StoreUnavailableError);
          assert.match(error.message, /may have taken place/);
          return true;
        });
        link.swallowReplies = false;
        link.cut();
      }
      const history = await wholeHistory(revision);
      assert.deepEqual(
        history.map((text) => text.slice(prefix.length)),
        ['a=1', 'a=2', 'end='],
      );
    });
  });
