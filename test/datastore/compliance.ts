/** The contract of KvStore as one suite, which every backend runs. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  type KvChange,
  type KvEntry,
  type KvSnapshot,
  type KvStore,
  type Revision,
  StoreClosedError,
  WatchLostError,
} from '#datastore/api.ts';
import { compareKeys } from '#infra/collections/key-order.ts';

export interface Backend {
  /** A store on the database of the suite, which is empty at first; each call may be a new client. */
  open(): Promise<KvStore>;
  /** Compacts the history up to now. */
  compact?(store: KvStore): Promise<void>;
  close(): Promise<void>;
}

/** Collects the changes of a watch and lets a test wait for them. */
export class Listener {
  readonly batches: (readonly KvChange[])[] = [];
  readonly lost: Error[] = [];
  #wake: (() => void)[] = [];

  get changes(): KvChange[] {
    return this.batches.flat();
  }

  get texts(): string[] {
    return this.changes.map(({ key, value }) => `${key}=${value ?? ''}`);
  }

  readonly onChanges = (changes: readonly KvChange[]): void => {
    this.batches.push(changes);
    this.#notify();
  };

  readonly onLost = (reason: Error): void => {
    this.lost.push(reason);
    this.#notify();
  };

  /** Resolves when the condition holds; the test's own time limit ends it otherwise. */
  async until(condition: (listener: this) => boolean): Promise<void> {
    while (!condition(this)) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  #notify(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}

/** Waits for changes that a store may still deliver. */
async function settled(store: KvStore): Promise<void> {
  for (let round = 0; round < 3; round++) {
    await store.probe();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

export function compliance(name: string, start: () => Promise<Backend>): void {
  describe(`KvStore on ${name}`, { timeout: 600_000 }, () => {
    let backend: Backend;
    let store: KvStore;
    let prefix = '';
    let tests = 0;

    before(async () => {
      backend = await start();
      store = await backend.open();
    });
    after(async () => {
      await store?.close();
      await backend?.close();
    });

    /** Each test has its own prefix. */
    function test(title: string, body: () => Promise<void>): void {
      it(title, { timeout: 120_000 }, async () => {
        prefix = `/test/${tests++}/`;
        await body();
      });
    }

    async function apply(snapshot: KvSnapshot, changes: readonly KvChange[]): Promise<void> {
      const state = new Map(snapshot.entries.map(({ key, value }) => [key, value]));
      for (const { key, value } of changes)
        if (value === undefined) state.delete(key);
        else state.set(key, value);
      const now = await store.list(prefix);
      assert.deepEqual(
        [...state].sort(([a], [b]) => compareKeys(a, b)),
        now.entries.map(({ key, value }) => [key, value]),
      );
    }

    test('returns the value that was put, and undefined for a missing key', async () => {
      assert.equal(await store.get(`${prefix}a`), undefined);
      await store.put(`${prefix}a`, 'one');
      assert.equal(await store.get(`${prefix}a`), 'one');
      await store.put(`${prefix}a`, 'two');
      assert.equal(await store.get(`${prefix}a`), 'two');
      assert.equal(await store.get(prefix), undefined);
    });

    test('has the same identity whatever is written', async () => {
      const identity = await store.identity();
      await store.put(`${prefix}a`, 'one');
      await store.delete(`${prefix}a`);
      assert.equal(await store.identity(), identity);
    });

    test('keeps any text: empty, long, and beyond the basic plane', async () => {
      const texts = ['', ' ', '\n\0\u007f', 'äöü€', '😀', 'x'.repeat(300_000), '{"a":"\\u0000"}'];
      for (const [at, text] of texts.entries()) await store.put(`${prefix}${at}`, text);
      for (const [at, text] of texts.entries())
        assert.equal(await store.get(`${prefix}${at}`), text);
    });

    test('lists a prefix, and only that, in the order of bytes', async () => {
      const keys = ['b', 'a', 'a/', 'a0', 'Z', 'ä', '\uffee', '😀', '￿', 'a\0', 'a\0\0'];
      for (const key of keys) await store.put(prefix + key, key);
      const outside = prefix.slice(0, -1);
      await store.put(`${outside}0`, 'after');
      await store.put(`${outside}.`, 'before');
      const { entries } = await store.list(prefix);
      assert.deepEqual(
        entries.map(({ value }) => value),
        keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
      );
      assert.deepEqual(
        (await store.list(`${prefix}a`)).entries.map(({ value }) => value),
        ['a', 'a\0', 'a\0\0', 'a/', 'a0'],
      );
      assert.deepEqual((await store.list(`${prefix}nothing`)).entries, []);
    });

    test('returns parts of a prefix, which together are the list', async () => {
      const keys = ['b', 'a', 'a/', 'a0', 'Z', 'ä', '\uffee', '😀', 'a\0', 'a\0\0'];
      for (const key of keys) await store.put(prefix + key, key);
      await store.put(`${prefix.slice(0, -1)}0`, 'after');
      const { entries: all } = await store.list(prefix);
      for (const limit of [1, 3, 10, 11]) {
        const found: KvEntry[] = [];
        for (let isLast = false; !isLast; ) {
          const part = await store.part(prefix, found.at(-1)?.key, limit);
          assert(
            part.entries.length === limit || part.isLast,
            `${part.entries.length} of ${limit}`,
          );
          found.push(...part.entries);
          isLast = part.isLast;
        }
        assert.deepEqual(found, all);
      }
      // the key after which it begins need not exist
      assert.deepEqual((await store.part(prefix, `${prefix}a\x01`, 2)).entries, all.slice(4, 6));
      assert.deepEqual(await store.part(`${prefix}nothing`, undefined, 5), {
        entries: [],
        isLast: true,
      });
    });

    test('deletes, and returns whether the key existed', async () => {
      assert.equal(await store.delete(`${prefix}a`), false);
      await store.put(`${prefix}a`, '1');
      await store.put(`${prefix}ab`, '2');
      assert.equal(await store.delete(`${prefix}a`), true);
      assert.equal(await store.delete(`${prefix}a`), false);
      assert.equal(await store.get(`${prefix}ab`), '2');
    });

    test('creates a key once', async () => {
      assert.deepEqual(await store.putIfAbsent(`${prefix}id`, 'first'), {
        created: true,
        value: 'first',
      });
      assert.deepEqual(await store.putIfAbsent(`${prefix}id`, 'second'), {
        created: false,
        value: 'first',
      });
      assert.deepEqual(await store.putIfAbsent(`${prefix}id`, 'first'), {
        created: false,
        value: 'first',
      });
      assert.equal(await store.get(`${prefix}id`), 'first');
    });

    test('lets one of many concurrent callers create a key', async () => {
      const rivals = Array.from({ length: 10 }, (_, at) => `node${at}`);
      const answers = await Promise.all(
        rivals.map((rival) => store.putIfAbsent(`${prefix}id`, rival)),
      );
      const winner = await store.get(`${prefix}id`);
      assert.deepEqual(answers.map(({ created }, at) => created && rivals[at]).filter(Boolean), [
        winner,
      ]);
      assert.ok(answers.every(({ value }) => value === winner));
    });

    test('swaps and deletes only the expected value', async () => {
      const key = `${prefix}a`;
      assert.equal(await store.compareAndSwap(key, 'x', 'y'), false);
      assert.equal(await store.compareAndDelete(key, 'x'), false);
      assert.equal(await store.get(key), undefined);
      await store.put(key, 'x');
      assert.equal(await store.compareAndSwap(key, 'y', 'z'), false);
      assert.equal(await store.get(key), 'x');
      assert.equal(await store.compareAndSwap(key, 'x', 'z'), true);
      assert.equal(await store.compareAndDelete(key, 'x'), false);
      assert.equal(await store.get(key), 'z');
      assert.equal(await store.compareAndDelete(key, 'z'), true);
      assert.equal(await store.get(key), undefined);
    });

    test('counts correctly with many concurrent swaps', async () => {
      const key = `${prefix}counter`;
      await store.put(key, '0');
      const increment = async () => {
        for (;;) {
          const there = (await store.get(key))!;
          if (await store.compareAndSwap(key, there, `${Number(there) + 1}`)) return;
        }
      };
      await Promise.all(Array.from({ length: 8 }, increment));
      assert.equal(await store.get(key), '8');
    });

    test('writes and deletes many keys in one batch', async () => {
      await store.put(`${prefix}old`, '1');
      await store.putAll(new Map());
      await store.putAll(
        new Map([
          [`${prefix}a`, '1'],
          [`${prefix}old`, undefined],
          [`${prefix}none`, undefined],
          [`${prefix}b`, '2'],
        ]),
      );
      assert.deepEqual(
        (await store.list(prefix)).entries.map(({ key, value }) => [key, value]),
        [
          [`${prefix}a`, '1'],
          [`${prefix}b`, '2'],
        ],
      );
    });

    test('lists a consistent snapshot during concurrent writes', async () => {
      const keys = Array.from({ length: 100 }, (_, at) => `${prefix}${at}`);
      await store.putAll(new Map(keys.map((key) => [key, '0'])));
      const writer = (async () => {
        for (let round = 1; round <= 20; round++)
          await store.putAll(new Map(keys.map((key) => [key, `${round}`])));
      })();
      for (let round = 0; round < 10; round++) {
        const { entries } = await store.list(prefix);
        assert.equal(entries.length, keys.length);
        assert.equal(new Set(entries.map(({ value }) => value)).size, 1);
      }
      await writer;
    });

    test('delivers every change after the snapshot to a watch, once and in order', async () => {
      await store.put(`${prefix}a`, 'before');
      const { revision } = await store.list(prefix);
      await store.put(`${prefix}a`, '1');
      const listener = new Listener();
      const watch = store.watch(prefix, revision, listener);
      assert.equal(listener.batches.length, 0, 'not from inside watch()');
      await store.put(`${prefix}b`, '2');
      await store.delete(`${prefix}a`);
      await store.delete(`${prefix}a`);
      await store.put(`${prefix}b`, '2');
      await store.put(`${prefix.slice(0, -1)}x`, 'elsewhere');
      await store.putIfAbsent(`${prefix}c`, '3');
      await store.putIfAbsent(`${prefix}c`, 'x');
      await store.compareAndSwap(`${prefix}c`, 'x', 'x');
      await store.compareAndSwap(`${prefix}c`, '3', '4');
      await store.compareAndDelete(`${prefix}c`, '4');
      await store.put(`${prefix}end`, '');
      await listener.until(({ texts }) => texts.includes(`${prefix}end=`));
      watch.close();
      assert.deepEqual(
        listener.texts.map((text) => text.slice(prefix.length)),
        ['a=1', 'b=2', 'a=', 'b=2', 'c=3', 'c=4', 'c=', 'end='],
      );
    });

    test('delivers a batch together, in the order of the map', async () => {
      const { revision } = await store.list(prefix);
      const listener = new Listener();
      const watch = store.watch(prefix, revision, listener);
      await store.put(`${prefix}b`, '0');
      const keys = ['c', 'a', 'b', 'd'].map((key) => prefix + key);
      await store.putAll(
        new Map(keys.map((key, at) => [key, key.endsWith('b') ? undefined : `${at}`])),
      );
      await listener.until(({ changes }) => changes.length === 5);
      watch.close();
      const batch = listener.batches.find((changes) => changes.some(({ key }) => key === keys[0]))!;
      assert.deepEqual(
        batch.slice(-4).map(({ key }) => key),
        keys,
      );
    });

    test('resumes from any delivered change, also within a batch', async () => {
      const start = await store.list(prefix);
      await store.put(`${prefix}1`, '1');
      await store.putAll(new Map(['2', '3', '4'].map((key) => [prefix + key, key])));
      await store.putAll(
        new Map([
          [`${prefix}2`, undefined],
          ['/elsewhere', prefix],
          [`${prefix}5`, '5'],
        ]),
      );
      const all = new Listener();
      const first = store.watch(prefix, start.revision, all);
      await all.until(({ changes }) => changes.length === 6);
      first.close();
      const revisions: Revision[] = [start.revision, ...all.changes.map((c) => c.revision)];
      for (const [at, revision] of revisions.entries()) {
        const rest = new Listener();
        const watch = store.watch(prefix, revision, rest);
        await store.put(`${prefix}end`, `${at}`);
        await rest.until(({ texts }) => texts.at(-1) === `${prefix}end=${at}`);
        watch.close();
        const told = rest.texts.filter((text) => !text.startsWith(`${prefix}end`));
        assert.deepEqual(told, all.texts.slice(at), `from change ${at}`);
      }
    });

    test('misses nothing between snapshot and watch while others write', async () => {
      let going = true;
      const writer = (async () => {
        for (let round = 0; going; round++) await store.put(`${prefix}${round % 7}`, `${round}`);
      })();
      for (let round = 0; round < 5; round++) {
        const snapshot = await store.list(prefix);
        const listener = new Listener();
        const watch = store.watch(prefix, snapshot.revision, listener);
        await listener.until(({ changes }) => changes.length >= 20);
        watch.close();
        const rounds = listener.changes.map(({ value }) => Number(value));
        const newest = Math.max(-1, ...snapshot.entries.map(({ value }) => Number(value)));
        assert.deepEqual(
          rounds,
          rounds.map((_, at) => newest + 1 + at),
        );
      }
      going = false;
      await writer;
    });

    test('serves several watches, each with its own prefix', async () => {
      const whole = await store.list(prefix);
      const part = await store.list(`${prefix}a/`);
      const [all, some] = [new Listener(), new Listener()];
      const watches = [
        store.watch(prefix, whole.revision, all),
        store.watch(`${prefix}a/`, part.revision, some),
      ];
      await store.put(`${prefix}a/1`, '1');
      await store.put(`${prefix}b/1`, '2');
      await store.put(`${prefix}a/2`, '3');
      await all.until(({ changes }) => changes.length === 3);
      await some.until(({ changes }) => changes.length === 2);
      for (const watch of watches) watch.close();
      assert.deepEqual(some.texts, [`${prefix}a/1=1`, `${prefix}a/2=3`]);
      await apply(whole, all.changes);
    });

    test('delivers nothing to a closed watch', async () => {
      const { revision } = await store.list(prefix);
      const listener = new Listener();
      const probe = new Listener();
      const watch = store.watch(prefix, revision, listener);
      const other = store.watch(prefix, revision, probe);
      await store.put(`${prefix}a`, '1');
      await listener.until(({ changes }) => changes.length === 1);
      watch.close();
      watch.close();
      await store.put(`${prefix}a`, '2');
      await probe.until(({ changes }) => changes.length === 2);
      await settled(store);
      other.close();
      assert.deepEqual(listener.texts, [`${prefix}a=1`]);
      assert.deepEqual(listener.lost, []);
    });

    test('delivers nothing to a watch that is closed at once', async () => {
      const { revision } = await store.list(prefix);
      await store.put(`${prefix}a`, '1');
      const listener = new Listener();
      store.watch(prefix, revision, listener).close();
      await settled(store);
      assert.deepEqual(listener.batches, []);
    });

    test('reports a watch as lost when its revision is of another database', async () => {
      for (const revision of ['elsewhere:1', 'nonsense', '9999:1:0']) {
        const listener = new Listener();
        store.watch(prefix, revision as Revision, listener);
        assert.equal(listener.lost.length, 0, 'not from inside watch()');
        await listener.until(({ lost }) => lost.length > 0);
        assert.ok(listener.lost[0] instanceof WatchLostError);
        assert.match(listener.lost[0].message, new RegExp(prefix));
      }
    });

    test('reports a watch as lost, once, when it starts before a compaction', async () => {
      if (!backend.compact) return;
      const { revision } = await store.list(prefix);
      await store.put(`${prefix}a`, '1');
      await store.put(`${prefix}a`, '2');
      await backend.compact(store);
      const listener = new Listener();
      store.watch(prefix, revision, listener);
      await listener.until(({ lost }) => lost.length > 0);
      await store.put(`${prefix}a`, '3');
      await settled(store);
      assert.deepEqual(listener.batches, []);
      assert.equal(listener.lost.length, 1);
      assert.ok(listener.lost[0] instanceof WatchLostError);
    });

    test('continues an open watch over a compaction', async () => {
      if (!backend.compact) return;
      const { revision } = await store.list(prefix);
      const listener = new Listener();
      const watch = store.watch(prefix, revision, listener);
      await store.put(`${prefix}a`, '1');
      await listener.until(({ changes }) => changes.length === 1);
      await backend.compact(store);
      await store.put(`${prefix}a`, '2');
      await listener.until(({ changes }) => changes.length === 2);
      watch.close();
      assert.deepEqual(listener.lost, []);
    });

    test('rejects calls and delivers nothing after it is closed', async () => {
      const mine = await backend.open();
      const { revision } = await mine.list(prefix);
      const listener = new Listener();
      mine.watch(prefix, revision, listener);
      await mine.close();
      for (const call of [
        () => mine.get('a'),
        () => mine.list('a'),
        () => mine.put('a', 'b'),
        () => mine.putAll(new Map([['a', 'b']])),
        () => mine.putIfAbsent('a', 'b'),
        () => mine.compareAndSwap('a', 'b', 'c'),
        () => mine.compareAndDelete('a', 'b'),
        () => mine.delete('a'),
        () => mine.probe(),
      ])
        await assert.rejects(call(), StoreClosedError);
      assert.throws(() => mine.watch(prefix, revision, listener), StoreClosedError);
      assert.deepEqual([listener.batches, listener.lost], [[], []]);
    });
  });
}
