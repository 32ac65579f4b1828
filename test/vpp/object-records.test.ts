import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreUnavailableError } from '#datastore/api.ts';
import { silentLogger } from '#infra/log/log.ts';
import { FaultInjectingStore } from '#test/support/fault-injecting-store.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { ObjectRecords, type RecordStore } from '#vpp/object-records.ts';

const PREFIX = 'local/vpp/object/';

async function recordsOn(store: RecordStore): Promise<ObjectRecords> {
  const isAgentKey = (key: string): boolean => key.startsWith('agent/');
  const records = new ObjectRecords({ store, isAgentKey, log: silentLogger });
  await records.load();
  return records;
}

const keysIn = async (store: MemoryStore): Promise<string[]> =>
  (await store.list('')).entries.map(({ key }) => key);

test('keys are recorded when add resolves, all of one turn in one batch', async () => {
  const store = new MemoryStore();
  const batches: number[] = [];
  const counting: RecordStore = {
    list: (prefix) => store.list(prefix),
    putAll: async (entries) => {
      batches.push(entries.size);
      await store.putAll(entries);
    },
  };
  const records = await recordsOn(counting);
  const keys = Array.from({ length: 100 }, (_, index) => `a/${index}`);
  await Promise.all(keys.map((key) => records.add(new Map([[key, '']]))));
  assert.deepEqual(batches, [100]);
  assert.ok(keys.every((key) => records.has(key)));
  records.delete(['a/1', 'a/2', 'unknown']);
  await records.add(new Map([['a/1', 'identity']]));
  assert.deepEqual(batches, [100, 2]);
  assert.ok(!records.has('a/2'));

  const later = await recordsOn(store);
  assert.equal(later.recorded().get('a/1'), 'identity');
  assert.deepEqual([later.has('a/1'), later.has('a/2'), later.has('a/3')], [true, false, true]);
  assert.deepEqual([later.has('agent/x'), later.recorded().size], [true, 99]);
});

test('changes that could not be written follow with the next one', async () => {
  const inner = new MemoryStore();
  const store = new FaultInjectingStore(inner);
  const records = await recordsOn(store);
  await records.add(new Map([['a/kept', '']]));
  store.disconnect('no space left on device');
  await records.add(new Map([['a/1', '']]));
  records.delete(['a/kept']);
  await records.add(new Map([['a/2', '']]));
  assert.deepEqual([records.has('a/1'), records.has('a/2')], [false, false]);
  records.delete(['a/2']);
  store.reconnect();
  await records.add(new Map([['a/3', '']]));
  assert.deepEqual(await keysIn(inner), [`${PREFIX}a/1`, `${PREFIX}a/3`]);
});

test('a store that cannot be read fails the load, and the next one tries again', async () => {
  const store = new FaultInjectingStore(new MemoryStore());
  store.disconnect('broken');
  const options = { store, isAgentKey: () => false, log: silentLogger };
  const records = new ObjectRecords(options);
  await assert.rejects(records.load(), StoreUnavailableError);
  store.reconnect();
  await records.load();
});

test('of an invalid record the key counts', async () => {
  const store = new MemoryStore();
  await store.put(`${PREFIX}a/1`, '{"not": "a record"}');
  await store.put(`${PREFIX}a/2`, 'rubbish');
  const records = await recordsOn(store);
  assert.deepEqual(
    [...records.recorded()],
    [
      ['a/1', ''],
      ['a/2', ''],
    ],
  );
});
