import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { StoreRefusedError, StoreUnavailableError } from '#datastore/api.ts';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { type Logger, silentLogger } from '#infra/log/log.ts';
import { ConfigStatusPublisher } from '#plugins/dbwatcher/config-status/publisher.ts';
import type { ValueStates } from '#plugins/dbwatcher/config-status/record.ts';
import type { ExternalValue } from '#plugins/dbwatcher/last-known-state.ts';
import { FaultInjectingStore, type Write } from '#test/support/fault-injecting-store.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { AGENT_PREFIX, settle } from './watcher-harness.ts';

const STATUS = `${AGENT_PREFIX}config-status/`;

/** A node with external configuration; its publisher can be restarted. */
class StatusNode {
  readonly clock = new ManualClock();
  readonly database = new MemoryStore();
  readonly store = new FaultInjectingStore(this.database);
  readonly values = new Map<string, ExternalValue>();
  readonly states = new Map<string, { value: ValueStates['value'] } & ValueStates>();
  readonly writes: Write[] = [];
  readonly warnings: object[] = [];
  /** Keys of the values that were compared. */
  compared: string[] = [];
  /** Called before the records are read. */
  onRead: () => void = () => undefined;
  isRead = true;
  isSettled = true;
  publisher = this.#start();

  constructor() {
    this.store.beforeWrite = (write) => void this.writes.push(write);
  }

  restart(): Promise<void> {
    const closed = this.publisher.close();
    this.publisher = this.#start();
    this.publisher.valuesRead();
    return closed;
  }

  #start(): ConfigStatusPublisher {
    const log: Logger = { ...silentLogger, warn: (fields: object) => this.warnings.push(fields) };
    return new ConfigStatusPublisher({
      store: {
        list: (prefix) => {
          this.onRead();
          return this.store.list(prefix);
        },
        putAll: (records) => this.store.putAll(records),
      },
      agentPrefix: AGENT_PREFIX,
      values: () => (this.isRead ? this.values : undefined),
      statesOf: (key) => {
        this.compared.push(key);
        return this.states.get(key) ?? { value: { key, state: 'NONEXISTENT' } };
      },
      isSettled: () => this.isSettled,
      clock: this.clock,
      random: seededRandom(1),
      log,
    });
  }

  put(name: string, state = 'CONFIGURED', more: Partial<ValueStates['value']> = {}): void {
    const key = `config/${name}`;
    this.values.set(key, { key, invalid: undefined, unknownFields: [] });
    this.states.set(key, { value: { key, state, ...more } });
    this.publisher.statesChanged([key]);
  }

  putInvalid(name: string, reason: string): void {
    const key = `config/${name}`;
    const isPreviousInUse = this.states.has(key);
    const invalid = { reason, field: undefined, isPreviousInUse };
    this.values.set(key, { key, invalid, unknownFields: [] });
    this.publisher.statesChanged([key]);
  }

  delete(name: string): void {
    this.values.delete(`config/${name}`);
    this.states.delete(`config/${name}`);
    this.publisher.statesChanged([`config/${name}`]);
  }

  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await settle();
  }

  async records(): Promise<Record<string, unknown>> {
    const { entries } = await this.database.list(STATUS);
    return Object.fromEntries(
      entries.map(({ key, value }) => [key.slice(STATUS.length), JSON.parse(value)]),
    );
  }

  async recordedStates(): Promise<Record<string, string>> {
    const records = Object.entries(await this.records()) as [string, { state: string }][];
    return Object.fromEntries(records.map(([key, { state }]) => [key, state]));
  }
}

describe('the status of external configuration', () => {
  it('has the JSON of ligato, with the derived values that are not configured', async () => {
    const node = new StatusNode();
    node.put('a', 'CONFIGURED', { last_operation: 'UPDATE' });
    node.put('b', 'RETRYING', { error: 'no answer', last_operation: 'CREATE' });
    const key = 'config/c';
    node.values.set(key, { key, invalid: undefined, unknownFields: ['future'] });
    node.states.set(key, {
      value: { key, state: 'CONFIGURED', last_valid_state: 'PENDING' },
      derived_values: [
        { key: 'd/1', state: 'CONFIGURED' },
        { key: 'd/2', state: 'PENDING', details: ['vrf-table'] },
        { key: 'd/3', state: 'FAILED', error: 'no space' },
      ],
    });
    await node.advance(1_000);
    assert.deepEqual(await node.records(), {
      a: { key: 'config/a', state: 'CONFIGURED', last_operation: 'UPDATE' },
      b: { key: 'config/b', state: 'RETRYING', error: 'no answer', last_operation: 'CREATE' },
      c: {
        key,
        state: 'CONFIGURED',
        details: [
          'last valid value: PENDING',
          'd/2: PENDING: vrf-table',
          'd/3: FAILED: no space',
          'ignored unknown field: future',
        ],
      },
    });
    await node.publisher.close();
  });

  it('is bounded', async () => {
    const node = new StatusNode();
    const details = Array.from({ length: 1000 }, (_, at) => `${at}`.repeat(5000));
    node.put('a', 'FAILED', { error: 'x'.repeat(1e6), details });
    await node.advance(1_000);
    const { entries } = await node.database.list(STATUS);
    assert.ok(entries[0]!.value.length < 40_000);
    assert.match(entries[0]!.value, /and 968 more/);
    await node.publisher.close();
  });

  it('is written in batches that etcd accepts, and never again while nothing changes', async () => {
    const node = new StatusNode();
    for (let at = 0; at < 250; at++) node.put(`v${at}`);
    await node.advance(1_000);
    assert.deepEqual(
      node.writes.map(({ keys }) => keys.length),
      [100, 100, 50],
    );
    for (let round = 0; round < 10; round++) {
      node.publisher.statesChanged([]);
      node.publisher.valuesRead();
      await node.advance(5_000);
    }
    await node.restart();
    await node.advance(5_000);
    assert.equal(node.writes.length, 3);
    await node.publisher.close();
  });

  it('that changes many times a second is written once a second', async () => {
    const node = new StatusNode();
    for (let at = 0; at < 100; at++) {
      node.put('a', 'RETRYING', { error: `attempt ${at}` });
      await node.advance(50);
    }
    assert.ok(node.writes.length >= 4 && node.writes.length <= 6, `${node.writes.length} writes`);
    await node.publisher.close();
  });

  it('is written after the transaction, or after five seconds of a longer one', async () => {
    const node = new StatusNode();
    node.isSettled = false;
    node.put('a');
    await node.advance(4_000);
    assert.deepEqual(await node.records(), {});
    node.isSettled = true;
    await node.advance(200);
    assert.deepEqual(await node.recordedStates(), { a: 'CONFIGURED' });
    node.isSettled = false;
    node.put('a', 'FAILED');
    await node.advance(7_000);
    assert.deepEqual(await node.recordedStates(), { a: 'FAILED' });
    await node.publisher.close();
  });

  it('is not removed before the values were read, nor while a value is not configured yet', async () => {
    const node = new StatusNode();
    node.put('a', 'PENDING');
    await node.advance(1_000);
    node.isRead = false;
    node.values.clear();
    await node.restart();
    await node.advance(5_000);
    assert.deepEqual(await node.recordedStates(), { a: 'PENDING' });
    node.isRead = true;
    node.put('a', 'NONEXISTENT');
    await node.advance(5_000);
    assert.deepEqual(await node.recordedStates(), { a: 'PENDING' });
    node.delete('a');
    await node.advance(5_000);
    assert.deepEqual(await node.records(), {});
    await node.publisher.close();
  });

  it('is compared for what has changed and what waits, and for all values when the store was read', async () => {
    const node = new StatusNode();
    for (let at = 0; at < 250; at++) node.put(`v${at}`);
    node.put('waiting', 'PENDING', { details: ['a', 'b'] });
    await node.advance(1_000);
    assert.equal(node.compared.length, 251);
    node.compared = [];
    node.put('v7', 'FAILED');
    node.states.get('config/waiting')!.value = {
      key: 'config/waiting',
      state: 'PENDING',
      details: ['b'],
    };
    await node.advance(2_000);
    assert.deepEqual(node.compared.toSorted(), ['config/v7', 'config/waiting']);
    const { v7, waiting } = (await node.records()) as Record<string, Record<string, unknown>>;
    assert.deepEqual([v7!['state'], waiting!['details']], ['FAILED', ['b']]);
    for (const changed of [
      () => node.publisher.valuesRead(),
      () => node.publisher.statesChanged(undefined),
    ]) {
      node.compared = [];
      changed();
      await node.advance(2_000);
      assert.equal(node.compared.length, 251);
    }
    await node.publisher.close();
  });

  it('is compared for all values when they are read again while the records are read', async () => {
    const node = new StatusNode();
    node.put('a');
    await node.advance(1_000);
    node.onRead = () => {
      node.onRead = () => undefined;
      node.states.get('config/a')!.value = { key: 'config/a', state: 'FAILED' };
      node.publisher.valuesRead();
    };
    node.publisher.valuesRead();
    await node.advance(5_000);
    assert.deepEqual(await node.recordedStates(), { a: 'FAILED' });
    await node.publisher.close();
  });

  it('that the store refuses is reported once, and written when it is accepted', async () => {
    const node = new StatusNode();
    node.store.beforeWrite = () => {
      throw new StoreRefusedError('no permission');
    };
    node.put('a');
    await node.advance(120_000);
    assert.equal(node.warnings.length, 1);
    assert.ok(node.publisher.failures > 2 && node.publisher.failures < 20);
    node.store.beforeWrite = undefined;
    await node.advance(60_000);
    assert.deepEqual(await node.recordedStates(), { a: 'CONFIGURED' });
    await node.publisher.close();
  });

  it('converges after any changes, faults and restarts, and then causes no write', async () => {
    await fc.assert(fc.asyncProperty(fc.array(action, { maxLength: 40 }), converges), {
      numRuns: 200,
    });
  });
});

type Action = (node: StatusNode) => Promise<unknown> | unknown;

const name = fc.constantFrom('a', 'b', 'c', 'd/e');
const state = fc.constantFrom('CONFIGURED', 'PENDING', 'RETRYING', 'FAILED', 'NONEXISTENT');

const action: fc.Arbitrary<Action> = fc.oneof(
  fc.tuple(name, state).map(
    ([n, s]): Action =>
      (node) =>
        node.put(n, s),
  ),
  fc.tuple(name, fc.constantFrom('no JSON', 'no model')).map(
    ([n, reason]): Action =>
      (node) =>
        node.putInvalid(n, reason),
  ),
  name.map(
    (n): Action =>
      (node) =>
        node.delete(n),
  ),
  fc.constant<Action>((node) => node.restart()),
  fc.constant<Action>((node) => node.publisher.valuesRead()),
  fc.constant<Action>((node) => node.store.disconnect()),
  fc.constant<Action>((node) => node.store.reconnect()),
  // the reply of the next write is lost
  fc.constant<Action>(({ store }) => {
    store.afterWrite = () => {
      store.afterWrite = undefined;
      throw new StoreUnavailableError('the reply was lost');
    };
  }),
  // another database: it was wiped or restored
  name.map(
    (n): Action =>
      async (node) => {
        const { entries } = await node.database.list('');
        await node.database.putAll(new Map(entries.map(({ key }) => [key, undefined])));
        await node.database.put(`${STATUS}${n}`, '{"state":"CONFIGURED"}');
        node.publisher.valuesRead();
      },
  ),
  fc.constantFrom(0, 50, 150, 1_000, 10_000).map(
    (ms): Action =>
      (node) =>
        node.advance(ms),
  ),
);

async function converges(actions: readonly Action[]): Promise<void> {
  const node = new StatusNode();
  node.publisher.valuesRead();
  for (const each of actions) await each(node);
  node.store.reconnect();
  for (const [key, { value }] of node.states)
    if (value.state === 'NONEXISTENT')
      node.states.set(key, { value: { key, state: 'CONFIGURED' } });
  node.publisher.statesChanged([]);
  await node.advance(60_000);
  await node.advance(60_000);
  const expected = [...node.values.values()].map(({ key, invalid }): [string, string] => [
    key.slice('config/'.length),
    invalid ? 'INVALID' : node.states.get(key)!.value.state,
  ]);
  assert.deepEqual(await node.recordedStates(), Object.fromEntries(expected));
  const { length } = node.writes;
  node.publisher.statesChanged([]);
  await node.advance(10_000);
  await node.restart();
  await node.advance(10_000);
  assert.equal(node.writes.length, length);
  await node.publisher.close();
}
