/** Watches of a kube-apiserver under random changes: what they have at the end is what a list has. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '#infra/clock/manual.ts';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { KindWatch } from '#ksr/api-server/api.ts';
import { createApiServer } from '#ksr/api-server/wire-api-server.ts';
import { keyOf, ObjectView } from '#test/ksr/support/object-view.ts';
import { withoutKubernetes } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { EtcdServer } from '../support/etcd-server.ts';
import { KubeApiServer } from '../support/kube-api-server.ts';
import type { KubeObject } from '../support/kube-client.ts';
import { RandomChanges } from '../support/random-changes.ts';
import { reflectedLists } from '../support/reflected-state.ts';

const LIMIT_MS = 60_000;
const installed = reflectedLists.filter((path) => !path.includes('contiv'));

interface Versioned extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly resourceVersion: string };
}

/** Resource versions by name. */
function versions(objects: readonly unknown[]): Record<string, string> {
  const pairs = (objects as readonly Versioned[]).map(({ metadata }): [string, string] => [
    keyOf(metadata),
    metadata.resourceVersion,
  ]);
  return Object.fromEntries(pairs.sort(([a], [b]) => (a < b ? -1 : 1)));
}

describe('watches of a kube-apiserver', { skip: withoutKubernetes(), timeout: 240_000 }, () => {
  let etcd: EtcdServer;
  /** The watches connect to the first one, changes are made at the second one. */
  let servers: readonly [KubeApiServer, KubeApiServer];
  let changes: RandomChanges;
  let watches: KindWatch[];
  const views = new Map(installed.map((path) => [path, new ObjectView()]));

  before(async () => {
    etcd = await EtcdServer.start();
    const start = () => KubeApiServer.start({ etcd: `127.0.0.1:${etcd.port}` });
    servers = [await start(), await start()];
    changes = new RandomChanges(servers[1].client(), seededRandom(1));
    const apiServer = await createApiServer({
      kubeConfig: servers[0].kubeconfig(),
      clock: systemClock,
      random: systemRandom,
      log: silentLogger,
    });
    watches = [...views].map(([path, view]) => apiServer.watch({ kind: path, path }, view));
  });
  after(async () => {
    for (const watch of watches ?? []) watch.close();
    for (const server of servers ?? []) await server[Symbol.asyncDispose]();
    await etcd?.close();
  });

  const listings = (): number =>
    [...views.values()].flatMap(({ calls }) => calls).filter((call) => call === 'listing').length;

  async function assertComplete(): Promise<void> {
    using client = servers[1].client();
    for (const [path, view] of views) {
      const wanted = versions(await client.list(path));
      const isEqual = () => {
        const actual = versions([...view.objects.values()]);
        return JSON.stringify(actual) === JSON.stringify(wanted);
      };
      await until(`the watch of ${path} is complete`, isEqual, LIMIT_MS).catch(() => undefined);
      assert.deepEqual(versions([...view.objects.values()]), wanted, path);
    }
  }

  it('have each object, with one list a kind', async () => {
    await changes.make(300);
    await assertComplete();
    assert.equal(listings(), views.size);
  });

  it('continue without another list when the API server was suspended', async () => {
    await servers[0].suspend();
    await changes.make(100);
    servers[0].resume();
    await changes.make(100);
    await assertComplete();
    assert.equal(listings(), views.size);
  });

  it('list again when a restarted API server does not have the changes since their version', async () => {
    await servers[0].kill();
    await changes.make(200);
    await etcd.compact();
    await servers[0].run();
    await assertComplete();
    assert.ok(listings() > views.size);
  });

  it('survive the loss of etcd and of the API server in the middle of changes', async () => {
    const made = changes.make(400);
    await sleep(500);
    await etcd.kill();
    await sleep(500);
    await etcd.run();
    await sleep(500);
    await servers[0].kill();
    await servers[0].run();
    await made;
    await assertComplete();
  });

  it('list again when the database was replaced by an empty one, whose versions are lower', async () => {
    await Promise.all(servers.map((server) => server.kill()));
    await etcd.kill();
    await etcd.wipe();
    await etcd.run();
    for (const server of servers) await server.run();
    await assertComplete();
  });
});
