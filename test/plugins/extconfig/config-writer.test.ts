import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { status } from '@grpc/grpc-js';
import fc from 'fast-check';
import type { KvStore } from '#datastore/api.ts';
import { StoreUnavailableError } from '#datastore/api.ts';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { FailedValuesError } from '#plugins/controller/api/errors.ts';
import {
  ConfigNotAppliedError,
  ConfigNotStoredError,
  ConfigWriter,
} from '#plugins/extconfig/config-writer.ts';
import type { ConfigItem } from '#plugins/extconfig/data-request.ts';
import { requestErrorStatus } from '#plugins/extconfig/item-errors.ts';
import { StoredConfig } from '#plugins/extconfig/stored-config.ts';
import { FaultInjectingStore } from '#test/support/fault-injecting-store.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { checkProperty } from '#test/support/random-cases.ts';
import { type Fate, ScriptedLoop } from './scripted-loop.ts';

const FILE = 'test/plugins/extconfig/config-writer.test.ts';

function item(name: string, mtu: number): ConfigItem {
  const value = vppInterfaceModel.canonical({ name, type: 'SOFTWARE_LOOPBACK', mtu });
  return { name: 'Interfaces[0]', key: vppInterfaceModel.key(value), value };
}

const alive = new AbortController().signal;

/** A start of the agent on what is stored. */
async function start(store: KvStore) {
  const stored = new StoredConfig({ store, clock: systemClock, log: silentLogger });
  await stored.load();
  const loop = new ScriptedLoop();
  for (const [key, value] of Object.entries(await stored.snapshot())) loop.values.set(key, value);
  const onReplaced = async () => undefined;
  const writer = new ConfigWriter({ loop, stored, onReplaced, log: silentLogger });
  return { stored, loop, writer };
}

const mtus = (values: ReadonlyMap<string, object>) =>
  Object.fromEntries(
    [...values.values()].map((value) => {
      const { name, mtu } = value as { name: string; mtu: number };
      return [name, mtu];
    }),
  );

const restarted = async (store: KvStore) => mtus((await start(store)).loop.values);

describe('a request', () => {
  it('is stored before its event, and applied by the next start after a crash between the two', async () => {
    const store = new MemoryStore();
    const { writer, loop, stored } = await start(store);
    await writer.put([item('a', 1)], alive);
    loop.fate = 'lost';
    void writer.put([item('a', 2), item('b', 2)], alive);
    while ((await store.list('')).entries.length < 2) await systemClock.turn();
    // a resync meanwhile applies what was acknowledged
    assert.deepEqual(mtus(new Map(Object.entries(await stored.snapshot()))), { a: 1 });
    assert.deepEqual(await restarted(store), { a: 2, b: 2 });
  });

  it('leaves nothing when its event is refused', async () => {
    const store = new MemoryStore();
    const { writer, loop } = await start(store);
    await writer.put([item('a', 1), item('b', 1)], alive);
    loop.fate = 'refused';
    await assert.rejects(writer.put([item('a', 2), item('c', 2)], alive), ConfigNotAppliedError);
    await assert.rejects(writer.delete([item('b', 1)], alive), ConfigNotAppliedError);
    await assert.rejects(writer.resync([], false, alive), ConfigNotAppliedError);
    assert.deepEqual(await restarted(store), { a: 1, b: 1 });
  });

  it('is not applied when it cannot be stored', async () => {
    const faulty = new FaultInjectingStore(new MemoryStore());
    const { writer, loop } = await start(faulty);
    await writer.put([item('a', 1)], alive);
    faulty.disconnect('disk full');
    await assert.rejects(writer.put([item('a', 2)], alive), (error) => {
      assert.ok(error instanceof ConfigNotStoredError);
      assert.match(error.message, /disk full/);
      return error.isRetriable === true;
    });
    assert.deepEqual(mtus(loop.values), { a: 1 });
    faulty.reconnect();
    await writer.put([item('b', 1)], alive);
    assert.deepEqual(await restarted(faulty), { a: 1, b: 1 });
  });

  it('whose write was reported as failed and took place is taken back by the next one', async () => {
    const store = new MemoryStore();
    const faulty = new FaultInjectingStore(store);
    const { writer } = await start(faulty);
    await writer.put([item('a', 1)], alive);
    faulty.afterWrite = () => {
      throw new StoreUnavailableError('no reply');
    };
    await assert.rejects(writer.put([item('a', 2), item('c', 2)], alive), ConfigNotStoredError);
    faulty.afterWrite = undefined;
    await writer.put([item('b', 1)], alive);
    assert.deepEqual(await restarted(store), { a: 1, b: 1 });
  });

  it('is only unavailable if nothing of it is stored', async () => {
    const store = new FaultInjectingStore(new MemoryStore());
    const { writer, loop } = await start(store);
    const codeOf = async () => {
      const failed = await writer.resync([item('a', 1)], false, alive).catch((error) => error);
      return requestErrorStatus(failed).code;
    };
    store.disconnect('disk is full');
    assert.equal(await codeOf(), status.UNAVAILABLE);
    store.reconnect();
    loop.fate = 'refused';
    assert.equal(await codeOf(), status.UNAVAILABLE);
    loop.fate = 'processed';
    loop.error = new StoreUnavailableError('a handler cannot read its store');
    assert.equal(await codeOf(), status.UNKNOWN);
    assert.deepEqual(await restarted(store), { a: 1 });
  });

  it('of a client that has disconnected while it waited is dropped', async () => {
    const store = new MemoryStore();
    const { writer, loop } = await start(store);
    const client = new AbortController();
    const first = writer.put([item('a', 1)], alive);
    const second = writer.put([item('b', 1)], client.signal);
    client.abort();
    await assert.rejects(second, ConfigNotAppliedError);
    await first;
    assert.deepEqual(mtus(loop.values), { a: 1 });
    assert.deepEqual(await restarted(store), { a: 1 });
  });

  it('of a client that has disconnected does not wait for the earlier ones', async () => {
    const { writer, loop } = await start(new MemoryStore());
    loop.fate = 'lost';
    void writer.put([item('a', 1)], alive);
    const client = new AbortController();
    const waiting = writer.put([item('b', 1)], client.signal);
    client.abort();
    const soon = systemClock.sleep(1_000).then(() => undefined);
    await assert.rejects(Promise.race([waiting, soon]), ConfigNotAppliedError);
  });

  it('has the failures of its own values, and not those of the rest of a resync', async () => {
    const { writer, loop } = await start(new MemoryStore());
    const own = item('a', 1);
    const failure = (key: string, base?: string) => ({
      key,
      ...(base !== undefined && { base }),
      operation: 'CREATE' as const,
      error: new Error(`${key} failed`),
    });
    loop.error = new FailedValuesError(
      [failure('config/other'), failure('derived', own.key)],
      'KeyErrors',
    );
    const failures = await writer.resync([own], false, alive);
    assert.deepEqual([...failures.keys()], [own.key]);
    loop.error = new Error('a handler failed');
    await assert.rejects(writer.resync([own], false, alive), /a handler failed/);
    // it stays wanted
    assert.deepEqual(mtus(loop.values), { a: 1 });
  });
});

describe('stored values', () => {
  it('of a newer agent stay stored, and are not applied', async () => {
    const store = new MemoryStore();
    const key = 'config/vpp/v2/interfaces/new';
    await store.put(key, '{"name":"new","shape":"round"}');
    await store.put('config/unknown/model', '{}');
    await store.put('config/vpp/v2/interfaces/x', 'no JSON');
    const { writer, stored, loop } = await start(store);
    assert.equal(loop.values.size, 0);
    assert.deepEqual(stored.unreadableKeys, [
      'config/unknown/model',
      key,
      'config/vpp/v2/interfaces/x',
    ]);
    loop.fate = 'refused';
    await assert.rejects(writer.put([item('new', 7)], alive));
    assert.equal(await store.get(key), '{"name":"new","shape":"round"}');
    loop.fate = 'processed';
    await writer.put([item('new', 7)], alive);
    assert.deepEqual(await restarted(store), { new: 7 });
    await writer.resync([], false, alive);
    assert.deepEqual((await store.list('')).entries, []);
  });
});

const names = fc.constantFrom('a', 'b', 'c', 'd');
const items = fc.array(fc.tuple(names, fc.integer({ min: 1, max: 9 })), { maxLength: 4 });
const step = fc.oneof(
  fc.record({
    method: fc.constantFrom('put' as const, 'delete' as const, 'resync' as const),
    items,
    fate: fc.constantFrom<Fate>('processed', 'processed', 'processed', 'refused', 'lost'),
    /** Of the store: the write fails, or is reported as failed. */
    fault: fc.constantFrom('none', 'none', 'none', 'before', 'after'),
  }),
  fc.constant('restart' as const),
);

it('acknowledged requests survive everything, and refused ones nothing', async () => {
  const property = fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
    const store = new MemoryStore();
    let faulty = new FaultInjectingStore(store);
    let agent = await start(faulty);
    let model: Record<string, number> = {};
    /** States that a restart may find instead: of requests without an answer, or with an unknown outcome. */
    let possible: Record<string, number>[] = [];
    const restart = async () => {
      faulty = new FaultInjectingStore(store);
      agent = await start(faulty);
      const found = mtus(agent.loop.values);
      model = possible.find((one) => isSame(found, one)) ?? model;
      possible = [];
      assert.deepEqual(sorted(found), sorted(model));
    };
    for (const one of steps) {
      if (one === 'restart') {
        await restart();
        continue;
      }
      const changed = new Map(one.items.map(([name, mtu]) => [name, item(name, mtu)]));
      const next = one.method === 'resync' ? {} : { ...model };
      for (const [name, { value }] of changed)
        if (one.method === 'delete') delete next[name];
        else next[name] = (value as { mtu: number }).mtu;
      const fail = () => {
        throw new StoreUnavailableError('no space left');
      };
      if (one.fault === 'before') faulty.beforeWrite = fail;
      if (one.fault === 'after') faulty.afterWrite = fail;
      agent.loop.fate = one.fate;
      const all = [...changed.values()];
      const call =
        one.method === 'resync'
          ? agent.writer.resync(all, false, alive)
          : agent.writer[one.method](all, alive);
      const outcome = await Promise.race([
        call.then(
          () => 'ok',
          (error) => error,
        ),
        turns(20).then(() => 'none'),
      ]);
      faulty.beforeWrite = undefined;
      faulty.afterWrite = undefined;
      if (outcome === 'ok') {
        model = next;
        // a request without items writes nothing
        if (all.length > 0 || one.method === 'resync') possible = [];
      } else if (outcome === 'none') {
        // as killed in the middle
        possible.push(next);
        await restart();
      } else if (outcome instanceof ConfigNotStoredError) possible.push(next);
      else {
        assert.ok(outcome instanceof ConfigNotAppliedError, String(outcome));
        // the store took both writes, and with them what was uncertain
        possible = [];
      }
      agent.loop.fate = 'processed';
      assert.deepEqual(sorted(mtus(agent.loop.values)), sorted(model));
    }
    await restart();
  });
  await checkProperty({ file: FILE, name: 'acknowledged requests' }, 400, property);
});

async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await systemClock.turn();
}

const sorted = (values: Record<string, number>) => Object.entries(values).sort();
const isSame = (a: Record<string, number>, b: Record<string, number>) =>
  JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
