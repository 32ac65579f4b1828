import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { namespaceModel } from '#kubernetes/models/namespace.ts';
import { DbResync, ExternalConfigChange, KubeStateChange } from '#plugins/controller/api/events.ts';
import {
  interfaceKey,
  interfaceText,
  namespaceKey,
  namespaceText,
  settle,
  type WatcherHarness,
  watcherHarness,
} from './watcher-harness.ts';

/** The state of a controller; fails on events that it must never receive. */
class Cache {
  readonly kube = new Map<string, object>();
  readonly external = new Map<string, object>();

  /** Takes what the loop has noted. */
  follow({ loop }: WatcherHarness): void {
    for (const event of loop.events.splice(0)) {
      if (DbResync.is(event)) {
        const { kubeState, externalConfig } = event.payload;
        this.kube.clear();
        this.external.clear();
        for (const values of Object.values(kubeState))
          for (const [key, value] of Object.entries(values)) this.kube.set(key, value);
        for (const [key, value] of Object.entries(externalConfig)) this.external.set(key, value);
      } else if (KubeStateChange.is(event)) {
        const { key, previous, current } = event.payload;
        assert.deepEqual(previous, this.kube.get(key), `previous value of ${key}`);
        assert.notDeepEqual(current, previous, `a change of ${key}`);
        if (current) this.kube.set(key, current);
        else this.kube.delete(key);
      } else if (ExternalConfigChange.is(event)) {
        for (const [key, value] of Object.entries(event.payload.values))
          if (value) this.external.set(key, value);
          else this.external.delete(key);
      }
    }
  }
}

type Action = (made: WatcherHarness) => Promise<unknown> | unknown;

const name = fc.constantFrom('a', 'b', 'c');
const version = fc.constantFrom('1', '2', '3');

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(name, version).map(
      ([n, v]): Action =>
        ({ database }) =>
          database.put(namespaceKey(n), namespaceText(n, v)),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(name, version).map(
      ([n, v]): Action =>
        ({ database }) =>
          database.put(interfaceKey(n), interfaceText(n, Number(v))),
    ),
  },
  {
    weight: 3,
    arbitrary: name.map(
      (n): Action =>
        ({ database }) =>
          database.delete(namespaceKey(n)),
    ),
  },
  {
    weight: 1,
    arbitrary: name.map(
      (n): Action =>
        ({ database }) =>
          database.delete(interfaceKey(n)),
    ),
  },
  {
    weight: 2,
    arbitrary: name.map(
      (n): Action =>
        ({ database }) =>
          database.put(namespaceKey(n), '{broken'),
    ),
  },
  {
    weight: 8,
    arbitrary: fc.constantFrom<Action[]>(
      ({ cluster }) => cluster.disconnect(),
      ({ cluster }) => cluster.reconnect(),
      ({ cluster }) => cluster.withholdChanges(),
      ({ cluster }) => cluster.releaseChanges(),
      ({ cluster }) => cluster.loseWatches(),
      ({ database }) => database.compact(),
      (made) => {
        made.cluster.isDropped = () => true;
      },
      (made) => {
        made.cluster.isDropped = undefined;
      },
      (made) => {
        made.loop.room = 1;
      },
      (made) => {
        made.loop.room = Number.POSITIVE_INFINITY;
      },
      // changes wait, and are merged
      ({ loop }) => loop.processed(50),
      ({ loop }) => loop.processed(0),
      (made) => {
        made.local.beforeWrite = () => {
          throw new Error('no space left');
        };
      },
      (made) => {
        made.local.beforeWrite = undefined;
      },
      ({ watcher }) => {
        // may exceed the limit, or meet an outage, or a read that fails
        void watcher.requestResync({ acceptEmpty: false }).catch(() => undefined);
      },
    ),
  },
  {
    weight: 6,
    arbitrary: fc.constantFrom(0, 0, 0, 700, 3_000, 20_000).map(
      (ms): Action =>
        ({ clock }) =>
          clock.advance(ms),
    ),
  },
);

describe('dbwatcher under faults', () => {
  it('finally pushes the state of the database to the loop, after any faults', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 60 }), async (actions) => {
        const made = watcherHarness({
          compareInterval: '60s',
          ownPodKeys: [namespaceKey('b')],
        });
        const cache = new Cache();
        await made.database.put(namespaceKey('default'), namespaceText('default'));
        made.watcher.start();
        for (const run of actions) {
          await run(made);
          cache.follow(made);
        }
        made.cluster.reconnect();
        made.cluster.releaseChanges();
        made.cluster.isDropped = undefined;
        made.loop.room = Number.POSITIVE_INFINITY;
        made.loop.processed(0);
        made.local.beforeWrite = undefined;
        for (let minute = 0; minute < 4; minute++) {
          await made.clock.advance(60_000);
          await settle();
          cache.follow(made);
        }
        await made.database.put(namespaceKey('end'), namespaceText('end'));
        await settle();
        cache.follow(made);
        assert.equal(made.watcher.status.watching, true);
        const mirror = await made.mirror();
        for (const n of ['a', 'b', 'c', 'default', 'end']) {
          const text = await made.database.get(namespaceKey(n));
          const told = cache.kube.get(`k8s/namespace/${n}`);
          if (text === '{broken') continue;
          const value = text === undefined ? undefined : namespaceModel.parse(JSON.parse(text));
          assert.deepEqual(told, value, n);
          assert.equal(mirror[namespaceKey(n)], text, `mirror of ${n}`);
        }
        for (const n of ['a', 'b', 'c']) {
          const text = await made.database.get(interfaceKey(n));
          const told = cache.external.get(`config/vpp/v2/interfaces/${n}`) as { mtu: number };
          assert.equal(told?.mtu, text === undefined ? undefined : JSON.parse(text).mtu, n);
        }
        await made.watcher.close();
        assert.equal(made.clock.pending, 0);
      }),
      { numRuns: 150 },
    );
  });
});
