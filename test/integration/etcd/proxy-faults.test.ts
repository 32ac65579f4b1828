/** Two of `etcd grpc-proxy` before one etcd, and a store that knows both: it moves to the other one by itself. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { WatchLostError } from '#datastore/api.ts';
import type { EtcdStore } from '#datastore/etcd/store.ts';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { Listener } from '#test/datastore/compliance.ts';
import { withoutEtcd } from '#test/support/requirements.ts';
import type { EtcdProxy } from '../support/etcd-proxy.ts';
import { EtcdServer } from '../support/etcd-server.ts';

const LIMIT_MS = 120_000;
const READS = 100;
/** Seconds. */
const TTL = 4;

describe('proxies before etcd', { skip: withoutEtcd(), timeout: 5 * LIMIT_MS }, () => {
  let server: EtcdServer;
  let first: EtcdProxy;
  let second: EtcdProxy;
  /** Of an agent: it uses the first proxy until that fails. */
  let store: EtcdStore;
  /** Past the proxies, and with long limits: load of the machine must not fail the test. */
  let direct: EtcdStore;
  let prefix = '';
  let tests = 0;

  before(async () => {
    server = await EtcdServer.startWith({ route: 'proxies' });
    [first, second] = server.proxies as [EtcdProxy, EtcdProxy];
  });
  after(() => server.close());
  beforeEach(() => {
    prefix = `/proxies/${tests++}/`;
    store = server.store();
    direct = server.store(server.memberPorts, 60_000);
  });
  afterEach(async () => {
    await store.close();
    await direct.close();
  });

  function test(title: string, body: () => Promise<void>): void {
    it(title, { timeout: LIMIT_MS }, body);
  }

  async function watched(): Promise<Listener> {
    const listener = new Listener();
    store.watch(prefix, (await store.list(prefix)).revision, listener);
    await heard(listener, 0);
    return listener;
  }

  let writes = 0;

  /** Writes past the proxies, and waits until the watch has each change once and in order. */
  async function heard(listener: Listener, count: number): Promise<void> {
    for (let at = 0; at <= count; at++) await direct.put(`${prefix}${at % 3}`, `${writes++}`);
    await listener.until(
      ({ changes, lost }) => changes.at(-1)?.value === `${writes - 1}` || lost.length > 0,
    );
    assert.deepEqual(listener.lost, []);
    const values = listener.changes.map(({ value }) => Number(value));
    const begin = values[0]!;
    assert.deepEqual(
      values,
      Array.from({ length: writes - begin }, (_, at) => begin + at),
    );
  }

  test('watch and calls move to the other one when one dies, and back, and miss nothing', async () => {
    const listener = await watched();
    await first.close();
    await heard(listener, 50);
    assert.equal(await store.get(`${prefix}0`), await direct.get(`${prefix}0`));
    first.restart();
    await heard(listener, 50);
    await second.close();
    await heard(listener, 50);
    await store.putIfAbsent(`${prefix}0`, 'present');
    second.restart();
  });

  test('miss nothing when both die and return', async () => {
    const listener = await watched();
    for (const proxy of server.proxies) await proxy.close();
    for (let at = 0; at < 20; at++) await direct.put(`${prefix}1`, `${writes++}`);
    for (const proxy of server.proxies) proxy.restart();
    await heard(listener, 5);
  });

  test('a watch is lost when the history is compacted while both are dead', async () => {
    const listener = await watched();
    for (const proxy of server.proxies) await proxy.close();
    for (let at = 0; at < 20; at++) await direct.put(`${prefix}1`, `${writes++}`);
    await server.compact();
    for (const proxy of server.proxies) proxy.restart();
    await listener.until(({ lost }) => lost.length > 0);
    assert.ok(listener.lost[0] instanceof WatchLostError);
    await heard(await watched(), 5);
  });

  test('one that hangs is noticed, and its watch continues at the other one', async () => {
    const listener = await watched();
    await first.suspend();
    try {
      await heard(listener, 20);
      assert.equal(await store.get(`${prefix}0`), await direct.get(`${prefix}0`));
    } finally {
      first.resume();
    }
    await heard(listener, 20);
  });

  test('never answer a read with what was true before', async () => {
    const other = server.store(second.port);
    for (let at = 0; at < READS; at++) {
      await direct.put(`${prefix}a`, `${at}`);
      for (const one of [store, other]) assert.equal(await one.get(`${prefix}a`), `${at}`);
    }
    await other.close();
  });

  test('an elected leader stays the leader when its proxy dies', async () => {
    const stopping = new AbortController();
    const options = { prefix: `${prefix}leader`, ttl: TTL, name: 'a', log: silentLogger };
    const leadership = await store.election(options).campaign(stopping.signal);
    await first.close();
    await systemClock.sleep(1.5 * TTL * 1000);
    assert.ok(!leadership.lost.aborted);
    await leadership.putAll(new Map([[`${prefix}data`, '1']]));
    assert.equal(await direct.get(`${prefix}data`), '1');
    await leadership.resign();
    first.restart();
  });
});
