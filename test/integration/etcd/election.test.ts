import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { type Leadership, LeadershipLostError } from '#datastore/election.ts';
import type { EtcdStore } from '#datastore/etcd/store.ts';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { withoutEtcd, withoutEtcdctl } from '#test/support/requirements.ts';
import { EtcdServer, etcdRoutes } from '../support/etcd-server.ts';

/** Seconds. */
const TTL = 2;
/** Limit for events that do not arrive; no result depends on it. */
const LIMIT_MS = 120_000;

for (const [etcd, route] of Object.entries(etcdRoutes))
  describe(`an election in ${etcd}`, { skip: withoutEtcd(), timeout: 5 * LIMIT_MS }, () => {
    let server: EtcdServer;
    let prefix = '';
    let tests = 0;
    const stores: EtcdStore[] = [];
    const stopping: AbortController[] = [];
    before(async () => {
      server = await EtcdServer.startWith({ route });
    });
    after(() => server.close());
    beforeEach(() => {
      prefix = `/election/${tests++}`;
    });
    afterEach(async () => {
      for (const one of stopping.splice(0)) one.abort(new Error('the test is over'));
      for (const store of stores.splice(0)) await store.close();
    });

    /** Each candidate has a store of its own, as in a process of its own. */
    function campaign(name: string, ttl = TTL): Promise<Leadership> {
      const store = server.store();
      const controller = new AbortController();
      stores.push(store);
      stopping.push(controller);
      const election = store.election({ prefix, ttl, name, log: silentLogger });
      const leadership = election.campaign(controller.signal);
      leadership.catch(() => undefined);
      return leadership;
    }

    async function isWaiting(leadership: Promise<Leadership>): Promise<boolean> {
      const first = await Promise.race([
        leadership,
        systemClock.sleep(TTL * 1000).then(() => 'none'),
      ]);
      return first === 'none';
    }

    function lost({ lost: signal }: Leadership): Promise<unknown> {
      if (signal.aborted) return Promise.resolve();
      return new Promise((resolve) => signal.addEventListener('abort', resolve));
    }

    it('has one leader, and the next one when it resigns', async () => {
      const first = await campaign('first');
      assert.equal(await first.hasSuccessor(), false);
      const second = campaign('second');
      assert.ok(await isWaiting(second));
      assert.equal(await first.hasSuccessor(), true);
      await first.putAll(new Map([[`${prefix}-data`, '1']]));
      await first.resign();
      await (await second).putAll(new Map([[`${prefix}-data`, '2']]));
      assert.equal(await (await second).hasSuccessor(), false);
      await assert.rejects(first.putAll(new Map([[`${prefix}-data`, '1']])), LeadershipLostError);
      assert.equal(await stores[0]!.get(`${prefix}-data`), '2');
    });

    it('withdraws a candidate that gives up', async () => {
      await campaign('first');
      const second = campaign('second');
      assert.ok(await isWaiting(second));
      stopping[1]!.abort(new Error('stopping'));
      await assert.rejects(second, /stopping/);
      assert.equal((await stores[0]!.list(`${prefix}/`)).entries.length, 1);
    });

    it('refuses the writes of a leader whose key was deleted, before it notices', async () => {
      const first = await campaign('first');
      const [entry] = (await stores[0]!.list(`${prefix}/`)).entries;
      await stores[0]!.delete(entry!.key);
      const second = await campaign('second');
      await second.putAll(new Map([[`${prefix}-data`, 'second']]));
      await assert.rejects(
        first.putAll(new Map([[`${prefix}-data`, 'first']])),
        LeadershipLostError,
      );
      assert.equal(await stores[0]!.get(`${prefix}-data`), 'second');
      assert.ok(first.lost.aborted);
    });

    it('ends the leadership of a leader whose key was deleted, also if it writes nothing', async () => {
      const first = await campaign('first');
      const [entry] = (await stores[0]!.list(`${prefix}/`)).entries;
      await stores[0]!.delete(entry!.key);
      await Promise.race([lost(first), systemClock.sleep(2 * TTL * 1000)]);
      assert.ok(first.lost.aborted);
    });

    it('ends a leadership when etcd is unavailable for the time to live, and leads again', async () => {
      const first = await campaign('first');
      await server.kill();
      await lost(first);
      const again = campaign('again');
      await server.run();
      await (await again).putAll(new Map([[`${prefix}-data`, 'again']]));
    });

    it('keeps the leadership over a quick restart of etcd', async () => {
      const first = await campaign('first');
      await server.kill();
      await server.run();
      for (;;) {
        const failure = await first
          .putAll(new Map([[`${prefix}-data`, '1']]))
          .catch((e: Error) => e);
        if (failure === undefined) break;
        assert.ok(!(failure instanceof LeadershipLostError), failure.message);
      }
      await systemClock.sleep(2 * TTL * 1000);
      assert.ok(!first.lost.aborted);
    });

    it('ends a leadership in a database that was wiped', async () => {
      const first = await campaign('first');
      await server.wipe();
      await server.run();
      await lost(first);
      assert.equal(await stores[0]!.get(`${prefix}-data`), undefined);
      await (await campaign('second')).putAll(new Map([[`${prefix}-data`, '2']]));
    });

    it('refuses a write without a reply that arrives after a later one', async () => {
      // long enough that the lease outlives the suspensions
      const leader = await campaign('first', 60);
      const key = `${prefix}-data`;
      for (let round = 0; round < 3; round++) {
        await server.suspend();
        // the request waits at etcd until the end of its time limit
        const early = await leader.putAll(new Map([[key, 'early']])).catch((error: Error) => error);
        assert.ok(early instanceof Error);
        server.resume();
        for (let failure: unknown = early; failure; ) {
          assert.ok(!leader.lost.aborted);
          failure = await leader.putAll(new Map([[key, `late ${round}`]])).catch((error) => error);
        }
        for (let times = 0; times < 10; times++) {
          assert.equal(await stores[0]!.get(key), `late ${round}`);
          await systemClock.sleep(20);
        }
      }
    });

    describe("with etcd's own client", { skip: withoutEtcdctl() }, () => {
      const processes: ChildProcess[] = [];
      afterEach(() => {
        for (const one of processes.splice(0)) one.kill('SIGKILL');
      });

      /** Campaigns as the original does, and prints its key when it leads. */
      function elect(): ChildProcess {
        const args = [`--endpoints=127.0.0.1:${server.port}`, 'elect', prefix, 'other'];
        const env = { ...process.env, ETCDCTL_API: '3' };
        const child = spawn('etcdctl', args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
        processes.push(child);
        return child;
      }

      it('waits for a leader of that kind', async () => {
        const other = elect();
        await once(other.stdout!, 'data');
        const own = campaign('own');
        assert.ok(await isWaiting(own));
        other.kill('SIGINT');
        await (await own).putAll(new Map([[`${prefix}-data`, 'own']]));
      });

      it('makes a candidate of that kind wait', async () => {
        const own = await campaign('own');
        const other = elect();
        const leads = once(other.stdout!, 'data').then(() => 'leads');
        assert.equal(
          await Promise.race([leads, systemClock.sleep(TTL * 1000).then(() => 'waits')]),
          'waits',
        );
        await own.resign();
        assert.equal(await leads, 'leads');
      });
    });
  });
