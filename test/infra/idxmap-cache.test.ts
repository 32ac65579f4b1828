import assert from 'node:assert/strict';
import test from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { CacheHelper } from '#infra/idxmap/cache.ts';
import { type Logger, silentLogger } from '#infra/log/log.ts';
import { MemoryStore } from '#test/support/memory-store.ts';

interface Pod {
  readonly node: string;
}

function setUp() {
  const complaints: string[] = [];
  const warn = ({ key, error }: { key?: string; error?: string }) =>
    void complaints.push(`${key ?? 'store'}: ${error}`);
  const cache = new CacheHelper<Pod>({
    title: 'pods',
    log: { ...silentLogger, warn } as Logger,
    prefix: 'pod/',
    nameOf: (key) => {
      const [, name = '', ...more] = key.split('/');
      if (more.length > 0) throw new Error('too deep');
      return name;
    },
    parse: (text) => {
      if (!text.startsWith('on ')) throw new Error('not a pod');
      return { node: text.slice(3) };
    },
    fieldsOf: ({ node }) => ({ node: [node] }),
  });
  const events: string[] = [];
  cache.map.watch('test', ({ name, value, update, del }) => {
    const what = del ? 'gone from' : update ? 'moved to' : 'new on';
    events.push(`${name} ${what} ${value.node}`);
  });
  return { cache, complaints, events, take: () => events.splice(0) };
}

test('changes are applied by name and by secondary index', () => {
  const { cache, take } = setUp();
  cache.change([
    { key: 'pod/a', value: 'on one' },
    { key: 'pod/b', value: 'on two' },
    { key: 'pod/a', value: 'on two' },
    { key: 'pod/c', value: undefined },
    { key: 'other/d', value: 'on one' },
  ]);
  assert.deepEqual(take(), ['a new on one', 'b new on two', 'a moved to two']);
  assert.deepEqual(cache.map.listNames('node', 'two').sort(), ['a', 'b']);
  assert.deepEqual(cache.map.listNames('node', 'one'), []);
  cache.change([{ key: 'pod/a', value: undefined }]);
  assert.deepEqual(take(), ['a gone from two']);
  assert.deepEqual(cache.map.listAllNames(), ['b']);
});

test('a resync applies new and changed entries, deletes missing ones, and notifies of nothing else', () => {
  const { cache, take } = setUp();
  cache.change([
    { key: 'pod/a', value: 'on one' },
    { key: 'pod/b', value: 'on one' },
    { key: 'pod/c', value: 'on one' },
  ]);
  take();
  cache.resync([
    { key: 'pod/b', value: 'on two' },
    { key: 'pod/c', value: 'on one' },
    { key: 'pod/d', value: 'on two' },
  ]);
  assert.deepEqual(take(), ['b moved to two', 'd new on two', 'a gone from one']);
  assert.deepEqual(cache.map.listNames('node', 'one'), ['c']);
  cache.resync([]);
  assert.equal(cache.map.size, 0);
  assert.deepEqual(cache.map.listNames('node', 'two'), []);
  // An entry that returns after its deletion is a change.
  take();
  cache.change([{ key: 'pod/c', value: 'on one' }]);
  assert.deepEqual(take(), ['c new on one']);
});

test('invalid entries are ignored with a log line, and the last valid value stays', () => {
  const { cache, complaints, take } = setUp();
  cache.change([{ key: 'pod/a', value: 'on one' }]);
  take();
  cache.change([
    { key: 'pod/a', value: 'nonsense' },
    { key: 'pod/x/y', value: 'on one' },
  ]);
  cache.resync([
    { key: 'pod/a', value: 'nonsense' },
    { key: 'pod/b', value: 'on one' },
  ]);
  assert.deepEqual(complaints, ['pod/a: not a pod', 'pod/x/y: too deep', 'pod/a: not a pod']);
  assert.deepEqual(take(), ['b new on one']);
  assert.deepEqual(cache.map.listAllNames(), ['a', 'b']);
  cache.change([{ key: 'pod/a', value: 'on one' }]);
  assert.deepEqual(take(), []);
});

test('it follows a store, and reads a snapshot again when the watch is lost or the store was unavailable', async () => {
  const { cache, complaints, take } = setUp();
  const clock = new ManualClock();
  const store = new MemoryStore();
  await store.put('pod/a', 'on one');
  let away = false;
  let lose: (reason: Error) => void = () => undefined;
  const stop = cache.follow(
    {
      list: async (prefix) => {
        if (away) throw new Error('away');
        return store.list(prefix);
      },
      watch: (prefix, from, handlers) => {
        const watch = store.watch(prefix, from, handlers);
        lose = (reason) => {
          watch.close();
          handlers.onLost(reason);
        };
        return watch;
      },
    },
    clock,
  );
  await clock.turn();
  await store.put('pod/b', 'on one');
  await clock.turn();
  assert.deepEqual(take(), ['a new on one', 'b new on one']);
  away = true;
  lose(new Error('compacted'));
  await store.delete('pod/a');
  await clock.advance(3500);
  assert.deepEqual(complaints, [
    'store: compacted',
    'store: away',
    'store: away',
    'store: away',
    'store: away',
  ]);
  assert.deepEqual(take(), []);
  away = false;
  await clock.advance(1000);
  assert.deepEqual(take(), ['a gone from one']);
  stop();
  await store.put('pod/c', 'on one');
  await clock.advance(5000);
  assert.deepEqual(take(), []);
  assert.equal(clock.pending, 0);
});

test('it stops while the store is unavailable, and during a read', async () => {
  const { cache, take } = setUp();
  const clock = new ManualClock();
  const never = { watch: () => assert.fail('not to be watched') };
  const stop = cache.follow({ ...never, list: () => Promise.reject(new Error('away')) }, clock);
  await clock.turn();
  assert.equal(clock.pending, 1);
  stop();
  await clock.turn();
  assert.equal(clock.pending, 0);
  let answer: (found: { entries: []; revision: string }) => void = () => undefined;
  const list = () =>
    new Promise<{ entries: []; revision: string }>((resolve) => {
      answer = resolve;
    });
  cache.change([{ key: 'pod/a', value: 'on one' }]);
  cache.follow({ ...never, list }, clock)();
  answer({ entries: [], revision: '1' });
  await clock.turn();
  assert.deepEqual(take(), ['a new on one']);
});
