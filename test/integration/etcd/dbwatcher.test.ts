import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { KvStore } from '#datastore/api.ts';
import { LevelStore } from '#datastore/level-store.ts';
import { seededRandom } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { DbWatcher } from '#plugins/dbwatcher/api.ts';
import { createDbWatcher } from '#plugins/dbwatcher/dbwatcher.ts';
import {
  AGENT_PREFIX,
  fill,
  namespaceKey,
  namespaceText,
  RecordingLoop,
  WHOLE_RESYNC,
} from '#test/plugins/dbwatcher/watcher-harness.ts';
import { withoutEtcd } from '#test/support/requirements.ts';
import { EtcdServer } from '../support/etcd-server.ts';
import { FaultyLink } from '../support/faulty-link.ts';

describe('dbwatcher on etcd', { skip: withoutEtcd(), timeout: 300_000 }, () => {
  let server: EtcdServer;
  let folder: string;
  let local: LevelStore;
  let cluster: KvStore;
  let writer: KvStore;
  let loop: RecordingLoop;
  let watcher: DbWatcher;
  const lines: string[] = [];

  before(async () => {
    server = await EtcdServer.start();
    folder = await mkdtemp(join(tmpdir(), 'dbwatcher-'));
    local = await LevelStore.open({ folder: join(folder, 'local') });
    writer = server.store();
    await fill(writer);
    startWatcher();
  });
  after(async () => {
    await watcher.close();
    for (const store of [cluster, writer, local]) await store.close();
    await server.close();
    await rm(folder, { recursive: true });
  });

  function startWatcher(port: number | readonly number[] = server.ports): void {
    cluster = server.store(port);
    loop = new RecordingLoop();
    watcher = createDbWatcher({
      loop,
      cluster,
      mirror: local,
      nodeName: 'node1',
      agentPrefix: AGENT_PREFIX,
      config: {
        delayLocalResync: '300ms',
        remoteDBProbingInterval: '100ms',
        remoteDBCompareInterval: '1h',
      },
      clock: systemClock,
      random: seededRandom(1),
      log: silentLogger,
      reportState: () => undefined,
    });
    watcher.start();
  }

  /** Waits until the loop has accepted so many more events. */
  async function next(count = 1): Promise<string[]> {
    const deadline = systemClock.monotonic() + 120_000;
    while (lines.push(...loop.take()) < count)
      if (systemClock.monotonic() > deadline) break;
      else await systemClock.sleep(10);
    return lines.splice(0, count);
  }

  async function until(condition: () => boolean): Promise<void> {
    while (!condition()) await systemClock.sleep(10);
  }

  it('reads and follows', async () => {
    assert.deepEqual(await next(), [WHOLE_RESYNC]);
    await writer.put(namespaceKey('a'), namespaceText('a', '1'));
    assert.deepEqual(await next(), ['namespace k8s/namespace/a: - -> 1']);
    await writer.put(namespaceKey('a'), namespaceText('a', '2'));
    assert.deepEqual(await next(), ['namespace k8s/namespace/a: 1 -> 2']);
    await writer.delete(namespaceKey('a'));
    assert.deepEqual(await next(), ['namespace k8s/namespace/a: 2 -> -']);
  });

  it('continues after an outage of etcd', async () => {
    await server.kill();
    await until(() => !watcher.status.connected);
    await server.run();
    await until(() => watcher.status.watching);
    await writer.put(namespaceKey('default'), namespaceText('default', '1'));
    assert.deepEqual(await next(), ['namespace k8s/namespace/default: plain -> 1']);
  });

  it('starts from its mirror while etcd is unavailable, and uses etcd when it is available again', async () => {
    await watcher.close();
    await cluster.close();
    await server.kill();
    startWatcher();
    assert.deepEqual(await next(), [WHOLE_RESYNC.replace('remote', 'local')]);
    await server.run();
    assert.deepEqual(await next(), [WHOLE_RESYNC]);
  });

  it('reads a new snapshot of another cluster behind the same address', async () => {
    const other = await EtcdServer.start();
    const there = other.store();
    // Longer history than here: revisions alone would not show the difference.
    for (let at = 0; at < 300; at++)
      await there.put(namespaceKey('elsewhere'), namespaceText('elsewhere', `${at}`));
    const link = await FaultyLink.start(server.ports);
    await watcher.close();
    await cluster.close();
    startWatcher(link.port);
    assert.deepEqual(await next(), [WHOLE_RESYNC]);
    await until(() => watcher.status.watching);
    link.target = other.ports;
    link.cut();
    assert.deepEqual(await next(), ['resync remote: k8s/namespace/elsewhere']);
    await until(() => watcher.status.watching);
    await there.put(namespaceKey('elsewhere'), namespaceText('elsewhere', 'x'));
    assert.deepEqual(await next(), ['namespace k8s/namespace/elsewhere: 299 -> x']);
    await watcher.close();
    await cluster.close();
    for (const each of [there, link, other]) await each.close();
    startWatcher();
    assert.deepEqual(await next(), [WHOLE_RESYNC]);
  });

  it('keeps its last known state when etcd returns empty, until it is filled again', async () => {
    await until(() => watcher.status.watching);
    await server.wipe();
    await server.run();
    await until(() => watcher.status.error?.includes('lost the state of Kubernetes') === true);
    assert.deepEqual(loop.take(), []);
    await fill(writer);
    const [line] = await next();
    assert.match(line ?? '', /^resync remote: .*k8s\/namespace/);
  });

  it('drops a resync request whose read failed before etcd returned empty', async () => {
    await until(() => watcher.status.watching);
    loop.take();
    lines.length = 0;
    await server.suspend();
    await assert.rejects(watcher.requestResync({ acceptEmpty: true }), {
      name: 'DatabaseUnavailableError',
    });
    await server.wipe();
    await server.run();
    await until(() => watcher.status.error?.includes('lost the state of Kubernetes') === true);
    assert.deepEqual(loop.take(), []);
    await assert.rejects(watcher.requestResync({ acceptEmpty: false }), {
      name: 'LostKubeStateError',
    });
    assert.deepEqual(loop.take(), []);
    await watcher.requestResync({ acceptEmpty: true });
    assert.deepEqual(loop.take(), ['resync remote: ']);
  });
});
