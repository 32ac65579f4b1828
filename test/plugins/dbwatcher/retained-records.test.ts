/** A database that was wiped or restored: the records that it has lost are kept until they are written again. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RETENTION_MS } from '#plugins/dbwatcher/retained-records.ts';
import {
  advance,
  fill,
  KSR,
  namespaceKey,
  namespaceText,
  settle,
  startedWatcher,
  type WatcherHarness,
} from './watcher-harness.ts';

const idKey = (id: number) => `${KSR}allocatedIDs/${id}`;
const idText = (id: number, name: string, address = `192.168.16.${id}/24`) =>
  JSON.stringify({ id, name, ip_addresses: [address] });
const nodeKey = (name: string) => `${KSR}k8s/node/${name}`;
const nodeText = (name: string) => JSON.stringify({ name });

/** Writes the records of the reflector: namespaces and nodes. */
async function reflect({ database }: WatcherHarness, ...names: string[]): Promise<void> {
  await fill(database);
  for (const name of names) await database.put(nodeKey(name), nodeText(name));
}

/** A watcher of node1 in a cluster of three nodes; its events are taken. */
async function inCluster(): Promise<WatcherHarness> {
  const made = await startedWatcher();
  await reflect(made, 'node1', 'node2', 'node3');
  for (const id of [1, 2, 3]) await made.database.put(idKey(id), idText(id, `node${id}`));
  await settle();
  made.loop.take();
  return made;
}

/** Keys of node records in the last resync. */
function nodesOf({ loop }: WatcherHarness): string[] {
  const { kubeState } = loop.resyncs.at(-1)!;
  return ['node', 'vppnode', 'nodeconfig'].flatMap((keyword) =>
    Object.keys(kubeState[keyword]!).sort(),
  );
}

/** The records of the nodes, without the own ID. */
const OTHERS = [
  ...['k8s/node/node1', 'k8s/node/node2', 'k8s/node/node3'],
  ...['allocatedIDs/2', 'allocatedIDs/3'],
];

describe('records of nodes that the database has lost', () => {
  it('stay until they are written again, without an event in between', async () => {
    const made = await inCluster();
    const { loop, database } = made;
    database.wipe();
    await reflect(made, 'node1', 'node2', 'node3');
    await advance(made, 3_000);
    assert.deepEqual(nodesOf(made), OTHERS);
    const [event] = loop.events;
    assert.match(
      event!.kind.describe(event!.payload),
      /\* lost by the database, kept for now: allocatedIDs\/2, allocatedIDs\/3$/m,
    );
    assert.equal(made.watcher.status.retained, 2);
    loop.take();
    await database.put(idKey(2), idText(2, 'node2'));
    await database.put(idKey(3), idText(3, 'node3', '192.168.16.33/24'));
    await advance(made, 2 * RETENTION_MS);
    assert.deepEqual(loop.take(), ['vppnode allocatedIDs/3: plain -> plain'], 'what has changed');
    assert.equal(made.watcher.status.retained, 0);
    await made.watcher.close();
  });

  it('stay also while the reflector has only begun to write, with the NodeConfigs', async () => {
    const made = await inCluster();
    const config = `${KSR}k8s/nodeconfig/node1`;
    await made.database.put(config, '{"node_name":"node1","gateway":"10.0.0.1"}');
    await settle();
    made.loop.take();
    made.database.wipe();
    await made.database.put(namespaceKey('default'), namespaceText('default'));
    await advance(made, 3_000);
    assert.deepEqual(nodesOf(made), [...OTHERS, 'k8s/nodeconfig/node1']);
    await made.watcher.close();
  });

  it('are removed when the grace period is over', async () => {
    const made = await inCluster();
    const { loop, database } = made;
    database.wipe();
    await reflect(made, 'node1', 'node2', 'node3');
    await advance(made, 3_000);
    loop.take();
    await database.put(idKey(2), idText(2, 'node2'));
    await advance(made, RETENTION_MS - 5_000);
    assert.deepEqual(loop.take(), []);
    await advance(made, 5_000);
    assert.deepEqual(loop.take(), ['vppnode allocatedIDs/3: plain -> -']);
    assert.equal(made.watcher.status.retained, 0);
    assert.ok(!(idKey(3) in (await made.mirror())));
    await made.watcher.close();
  });

  it('are not taken for changes that the watch has missed', async () => {
    const made = await startedWatcher({ compareInterval: '10s' });
    await reflect(made, 'node1', 'node2');
    await made.database.put(idKey(2), idText(2, 'node2'));
    await settle();
    made.database.wipe();
    await reflect(made, 'node1', 'node2');
    await advance(made, 3_000);
    made.loop.take();
    for (let step = 0; step < 11; step++) await advance(made, 10_000);
    assert.deepEqual(made.loop.take(), []);
    assert.equal(made.watcher.status.missedChanges, 0);
    await made.watcher.close();
  });

  it('survive an outage within the grace period, and end with it', async () => {
    const made = await inCluster();
    made.database.wipe();
    await reflect(made, 'node1', 'node2', 'node3');
    await advance(made, 3_000);
    made.cluster.loseWatches();
    await advance(made, 5_000);
    assert.deepEqual(nodesOf(made), OTHERS);
    made.loop.take();
    made.cluster.disconnect();
    await advance(made, 2 * RETENTION_MS);
    assert.deepEqual(made.loop.take(), [], 'nothing is removed while nothing can be read');
    made.cluster.reconnect();
    await advance(made, 4_000);
    assert.deepEqual(
      nodesOf(made),
      OTHERS.filter((key) => key.startsWith('k8s')),
    );
    await made.watcher.close();
  });

  it('survive a restart of the agent, before and after the loss was seen', async () => {
    for (const isSeen of [false, true]) {
      const first = await inCluster();
      if (!isSeen) await first.watcher.close();
      first.database.wipe();
      await reflect(first, 'node1', 'node2', 'node3');
      if (isSeen) {
        await advance(first, 3_000);
        await first.watcher.close();
      }
      const made = first.restart();
      made.watcher.start();
      await settle();
      assert.deepEqual(nodesOf(made), OTHERS);
      made.loop.take();
      await advance(made, RETENTION_MS);
      assert.deepEqual(made.loop.take().sort(), [
        'vppnode allocatedIDs/2: plain -> -',
        'vppnode allocatedIDs/3: plain -> -',
      ]);
      await made.watcher.close();
    }
  });

  it('give way to a node that announces the same name or address', async () => {
    const made = await inCluster();
    const { loop, database } = made;
    database.wipe();
    await reflect(made, 'node1', 'node2', 'node3');
    await advance(made, 3_000);
    loop.take();
    await database.put(idKey(7), idText(7, 'node2'));
    await database.put(idKey(8), idText(8, 'node9', '192.168.16.3/24'));
    await settle();
    assert.deepEqual(loop.take(), [
      'vppnode allocatedIDs/2: plain -> -',
      'vppnode allocatedIDs/7: - -> plain',
      'vppnode allocatedIDs/3: plain -> -',
      'vppnode allocatedIDs/8: - -> plain',
    ]);
    await made.watcher.close();
  });

  it('give way also to those that a resync finds', async () => {
    const made = await inCluster();
    made.database.wipe();
    await made.database.put(idKey(8), idText(8, 'node3'));
    await reflect(made, 'node1', 'node2', 'node3');
    await advance(made, 3_000);
    assert.deepEqual(
      nodesOf(made).filter((key) => key.startsWith('allocatedIDs')),
      ['allocatedIDs/2', 'allocatedIDs/8'],
    );
    await made.watcher.close();
  });
});

describe('the state of Kubernetes after a wipe that the agent has seen', () => {
  const namespacesOf = ({ loop }: WatcherHarness) =>
    Object.keys(loop.resyncs.at(-1)!.kubeState['namespace']!).length;

  /** 50 namespaces beside those of the harness; the reflector has written one of them again. */
  async function rewriting(): Promise<WatcherHarness> {
    const made = await inCluster();
    for (let at = 0; at < 50; at++)
      await made.database.put(namespaceKey(`ns${at}`), namespaceText(`ns${at}`));
    await settle();
    made.database.wipe();
    await settle();
    await made.database.put(namespaceKey('ns0'), namespaceText('ns0'));
    await advance(made, 3_000);
    return made;
  }

  it('is kept while the reflector writes it again, and then follows the database', async () => {
    const made = await rewriting();
    assert.equal(namespacesOf(made), 52);
    made.loop.take();
    await made.database.put(namespaceKey('ns1'), namespaceText('ns1', 'new'));
    await made.database.put(namespaceKey('ns2'), namespaceText('ns2'));
    await made.database.delete(namespaceKey('ns2'));
    await settle();
    assert.deepEqual(made.loop.take(), [
      'namespace k8s/namespace/ns1: plain -> new',
      'namespace k8s/namespace/ns2: plain -> -',
    ]);
    await advance(made, RETENTION_MS);
    const removed = made.loop.take();
    assert.equal(removed.filter((line) => line.startsWith('namespace')).length, 49);
    assert.ok(removed.every((line) => line.endsWith('-> -')));
    await made.watcher.close();
  });

  it('is that of the database after a restart, which may have missed deletions', async () => {
    const made = await rewriting();
    await made.watcher.close();
    const next = made.restart();
    next.watcher.start();
    await settle();
    assert.equal(namespacesOf(next), 1);
    assert.ok(nodesOf(next).length > 0);
    await next.watcher.close();
  });
});

describe('a record of a node that was deleted', () => {
  it('is removed at once when the watch reports it, also in the grace period', async () => {
    const made = await inCluster();
    const { loop, database } = made;
    await database.delete(idKey(2));
    await settle();
    assert.deepEqual(loop.take(), ['vppnode allocatedIDs/2: plain -> -']);
    database.wipe();
    await reflect(made, 'node1', 'node3');
    await advance(made, 3_000);
    loop.take();
    await database.put(idKey(3), idText(3, 'node3'));
    await database.delete(idKey(3));
    await settle();
    assert.deepEqual(loop.take(), ['vppnode allocatedIDs/3: plain -> -']);
    await made.watcher.close();
  });

  it('is removed at once by a resync from the same database', async () => {
    const made = await inCluster();
    made.cluster.isDropped = () => true;
    await made.database.delete(idKey(2));
    await made.database.delete(nodeKey('node2'));
    made.cluster.isDropped = undefined;
    made.cluster.loseWatches();
    await advance(made, 1_100);
    assert.deepEqual(nodesOf(made), [
      'k8s/node/node1',
      'k8s/node/node3',
      'allocatedIDs/1',
      'allocatedIDs/3',
    ]);
    await made.watcher.close();
  });

  it('is removed with all others when a request accepts the empty database', async () => {
    const made = await inCluster();
    made.database.wipe();
    await advance(made, 3_000);
    await made.watcher.requestResync({ acceptEmpty: true });
    assert.deepEqual(nodesOf(made), []);
    await made.watcher.close();
  });
});
