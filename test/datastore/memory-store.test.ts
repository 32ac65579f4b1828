import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StoreUnavailableError } from '#datastore/api.ts';
import { FaultInjectingStore } from '#test/support/fault-injecting-store.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { compliance, Listener } from './compliance.ts';

compliance('memory', async () => {
  const opened: MemoryStore[] = [];
  return {
    open: async () => {
      const store = new MemoryStore();
      opened.push(store);
      return store;
    },
    compact: async (store) => (store as MemoryStore).compact(),
    close: async () => {
      for (const store of opened) await store.close();
    },
  };
});

compliance('memory under FaultyStore without faults', async () => ({
  open: async () => new FaultInjectingStore(new MemoryStore()),
  close: async () => undefined,
}));

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('MemoryStore', () => {
  it('loses a watch that starts before the retained log', async () => {
    const store = new MemoryStore(10);
    const { revision } = await store.list('');
    for (let round = 0; round < 100; round++) await store.put('a', `${round}`);
    const listener = new Listener();
    store.watch('', revision, listener);
    await listener.until(({ lost }) => lost.length === 1);
  });

  it('loses a watch that lags behind by more changes than the log retains', async () => {
    const store = new MemoryStore(10);
    const listener = new Listener();
    store.watch('', (await store.list('')).revision, listener);
    await Promise.all(Array.from({ length: 100 }, (_, at) => store.put('a', `${at}`)));
    await listener.until(({ lost }) => lost.length === 1);
    assert.deepEqual(listener.batches, []);
  });

  it('is another database after it is wiped', async () => {
    const store = new MemoryStore();
    await store.put('a', '1');
    const { revision } = await store.list('');
    const [running, late] = [new Listener(), new Listener()];
    store.watch('', revision, running);
    store.wipe();
    store.watch('', revision, late);
    await late.until(({ lost }) => lost.length === 1);
    assert.equal(running.lost.length, 1);
    assert.deepEqual((await store.list('')).entries, []);
  });
});

describe('FaultInjectingStore', () => {
  it('rejects every call during an outage and resumes the watch afterwards', async () => {
    const memory = new MemoryStore();
    const store = new FaultInjectingStore(memory);
    const listener = new Listener();
    store.watch('', (await store.list('')).revision, listener);
    await memory.put('a', '1');
    await turn();
    store.disconnect();
    for (const call of [
      () => store.get('a'),
      () => store.list(''),
      () => store.put('a', 'x'),
      () => store.putAll(new Map([['a', 'x']])),
      () => store.putIfAbsent('b', 'x'),
      () => store.compareAndSwap('a', '1', 'x'),
      () => store.compareAndDelete('a', '1'),
      () => store.delete('a'),
      () => store.probe(),
    ])
      await assert.rejects(call(), StoreUnavailableError);
    assert.equal(await memory.get('a'), '1');
    await memory.put('a', '2');
    await memory.put('a', '3');
    await turn();
    assert.deepEqual(listener.texts, ['a=1']);
    store.reconnect();
    await turn();
    assert.deepEqual(listener.texts, ['a=1', 'a=2', 'a=3']);
  });

  it('loses the watch when the history of the outage is compacted', async () => {
    const memory = new MemoryStore();
    const store = new FaultInjectingStore(memory);
    const listener = new Listener();
    store.watch('', (await store.list('')).revision, listener);
    store.disconnect();
    await memory.put('a', '1');
    memory.compact();
    store.reconnect();
    await listener.until(({ lost }) => lost.length === 1);
    assert.deepEqual(listener.batches, []);
  });

  it('drops, withholds and loses changes on request', async () => {
    const store = new FaultInjectingStore(new MemoryStore());
    const listener = new Listener();
    store.watch('', (await store.list('')).revision, listener);
    store.isDropped = ({ key }) => key === 'b';
    store.withholdChanges();
    for (const key of ['a', 'b', 'c']) await store.put(key, '1');
    await turn();
    assert.deepEqual(listener.texts, []);
    store.releaseChanges();
    assert.deepEqual(listener.texts, ['a=1', 'c=1']);
    store.loseWatches();
    await store.put('a', '2');
    await turn();
    assert.equal(listener.lost.length, 1);
    assert.equal(listener.changes.length, 2);
  });

  it('simulates a crash before and after every write', async () => {
    const life = async (store: FaultInjectingStore) => {
      await store.put('a', '1');
      await store.putIfAbsent('b', '2');
      await store.delete('a');
    };
    const whole = new FaultInjectingStore(new MemoryStore());
    await life(whole);
    assert.equal(whole.crashPoints, 6);
    const left: string[] = [];
    for (let point = 0; point < whole.crashPoints; point++) {
      const memory = new MemoryStore();
      const store = new FaultInjectingStore(memory);
      store.crashAt(point);
      await assert.rejects(life(store), StoreUnavailableError);
      await assert.rejects(store.get('a'), StoreUnavailableError);
      left.push((await memory.list('')).entries.map(({ key }) => key).join(''));
    }
    assert.deepEqual(left, ['', 'a', 'a', 'ab', 'ab', 'b']);
  });

  it('calls its hooks before and after a write', async () => {
    const memory = new MemoryStore();
    const store = new FaultInjectingStore(memory);
    store.beforeWrite = ({ keys }) => {
      if (keys.includes('a')) throw new Error('not sent');
    };
    store.afterWrite = ({ operation }) => {
      if (operation === 'put') throw new Error('reply lost');
    };
    await assert.rejects(store.put('a', '1'), /not sent/);
    await assert.rejects(store.put('b', '1'), /reply lost/);
    await store.putAll(new Map([['c', '1']]));
    assert.deepEqual(
      (await memory.list('')).entries.map(({ key }) => key),
      ['b', 'c'],
    );
  });
});
