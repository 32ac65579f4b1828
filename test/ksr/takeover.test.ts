/** The writes of a new leader while its own watches of the API server are interrupted. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Leadership } from '#datastore/election.ts';
import { endpoints, pod, slice } from './support/objects.ts';
import { PREFIX, ReflectedCluster, type TestObject } from './support/reflected-cluster.ts';

/** Another instance leads for a while and writes these records. */
async function ledByAnother(cluster: ReflectedCluster, records: Map<string, string | undefined>) {
  const other = cluster.election.candidate(cluster.database);
  const campaign = other.campaign(new AbortController().signal);
  cluster.election.expire();
  const leadership = await campaign;
  await leadership.putAll(records);
  await leadership.resign();
  await cluster.settle();
}

const cases: readonly (readonly [TestObject, TestObject])[] = [
  [pod('p1'), pod('p1', 'newer')],
  [endpoints('s1', '10.1.1.2'), endpoints('s1', '10.1.1.3')],
  [slice('s1-a', 's1', '10.1.1.2'), slice('s1-a', 's1', '10.1.1.3')],
];

describe('an instance whose watch is interrupted', () => {
  for (const [older, newer] of cases)
    it(`does not replace newer records of ${older.kind} when it becomes the leader`, async () => {
      const cluster = new ReflectedCluster();
      cluster.put(older);
      await cluster.settle();
      cluster.interrupt(older.kind);
      cluster.putUnseen(newer);
      const records = new Map(cluster.expected());
      await ledByAnother(cluster, records);
      assert.deepEqual(await cluster.records(), records);

      cluster.resume(older.kind);
      await cluster.settle();
      assert.deepEqual(await cluster.records(), records);
    });

  it('compares the records when the watch continues', async () => {
    const cluster = new ReflectedCluster();
    cluster.put(pod('p1'));
    await cluster.settle();
    cluster.interrupt('Pod');
    await cluster.database.put(`${PREFIX}k8s/pod/unexpected/namespace/default`, '{}');
    await cluster.settle();
    cluster.resume('Pod');
    await cluster.settle();
    assert.deepEqual(await cluster.records(), cluster.expected());
  });
});

describe('an instance whose watch hangs without an error', () => {
  for (const [older, newer] of cases)
    it(`does not replace newer records of ${older.kind} when it becomes the leader`, async () => {
      const cluster = new ReflectedCluster();
      const gone = { ...older, metadata: { ...older.metadata, name: 's2-a' } };
      cluster.put(older, gone);
      await cluster.settle();
      cluster.putUnseen(newer);
      cluster.deleteUnseen(gone.kind, 's2-a', 'default');
      const records = new Map(cluster.expected());
      const writes = new Map<string, string | undefined>(records);
      for (const key of (await cluster.records()).keys())
        if (!records.has(key)) writes.set(key, undefined);
      cluster.writes.length = 0;
      await ledByAnother(cluster, writes);
      assert.deepEqual(await cluster.records(), records);
      assert.deepEqual(cluster.writes, []);
    });

  it('does not write older records into an etcd that was wiped', async () => {
    const cluster = new ReflectedCluster();
    cluster.put(pod('p1'), pod('p2'));
    await cluster.settle();
    cluster.putUnseen(pod('p1', 'newer'));
    cluster.deleteUnseen('Pod', 'p2', 'default');
    cluster.writes.length = 0;
    cluster.database.wipe();
    await cluster.settle();
    assert.deepEqual(await cluster.records(), cluster.expected());
    assert.equal(cluster.writes.length, 1);
  });
});

describe('a leader that compares a long list', () => {
  const keyOf = (name: string) => `${PREFIX}k8s/pod/${name}/namespace/default`;

  /** It has begun, and has read two of six records. */
  async function comparing(): Promise<ReflectedCluster> {
    const cluster = new ReflectedCluster();
    cluster.put(...['p1', 'p2', 'p3', 'p4', 'p5', 'p6'].map((name) => pod(name)));
    await cluster.settle();
    cluster.restart();
    cluster.instance.store.afterPage = () => cluster.clock.sleep(1_000);
    await cluster.settle(500);
    cluster.writes.length = 0;
    return cluster;
  }

  it('writes what changes meanwhile at once, and only once', async () => {
    const cluster = await comparing();
    cluster.put(pod('p1', 'newer'), pod('p6', 'newer'), pod('p7'));
    cluster.delete('Pod', 'p5', 'default');
    await cluster.settle(10);
    assert.deepEqual(await cluster.records(), cluster.expected());
    assert.deepEqual(
      cluster.instance.leader.kinds().find(({ name }) => name === 'Pod')?.state,
      'sweeping',
    );
    await cluster.settle();
    assert.deepEqual(await cluster.records(), cluster.expected());
    assert.deepEqual(cluster.writes.sort(), ['p1', 'p5', 'p6', 'p7'].map(keyOf));
  });

  it('writes a change after an outage that came with it', async () => {
    const cluster = await comparing();
    const { store } = cluster.instance;
    cluster.put(pod('p1', 'newer'));
    store.disconnect();
    await cluster.settle(2_000);
    store.reconnect();
    await cluster.settle(20_000);
    assert.deepEqual(await cluster.records(), cluster.expected());
  });

  it('repairs what another program writes between a change and the list', async () => {
    const cluster = new ReflectedCluster();
    cluster.put(pod('p1'), pod('p2'), pod('p3'));
    await cluster.settle();
    cluster.restart();
    const { store } = cluster.instance;
    const list = store.list.bind(store);
    store.list = async (prefix) => {
      await cluster.clock.sleep(1_000);
      return list(prefix);
    };
    await cluster.settle(500);
    cluster.put(pod('p1', 'newer'), pod('p3', 'newer'));
    cluster.delete('Pod', 'p2', 'default');
    await cluster.settle(10);
    assert.deepEqual(await cluster.records(), cluster.expected());
    await cluster.database.delete(keyOf('p3'));
    for (const name of ['p1', 'p2']) await cluster.database.put(keyOf(name), '{}');
    await cluster.settle(20_000);
    assert.deepEqual(await cluster.records(), cluster.expected());
  });

  it('deletes what another one has left', async () => {
    const cluster = await comparing();
    await cluster.database.put(keyOf('unexpected'), '{}');
    cluster.put(pod('p3', 'newer'));
    await cluster.settle(20_000);
    assert.deepEqual(await cluster.records(), cluster.expected());
  });
});

/** Several transactions. */
const MANY = 300;

it('writes what changes before the many records that an empty etcd lacks', async () => {
  const cluster = new ReflectedCluster();
  cluster.put(...Array.from({ length: 6 * MANY }, (_, at) => pod(`p${at}`)));
  await cluster.settle();
  cluster.instance.store.afterWrite = () => cluster.clock.sleep(1_000);
  cluster.database.wipe();
  await cluster.settle(500);
  cluster.put(pod(`p${6 * MANY - 1}`, 'newer'), pod('new'));
  cluster.writes.length = 0;
  await cluster.settle(1_000);
  assert.deepEqual(
    cluster.writes.slice(0, 2).map((key) => key.split('/').at(-3)),
    [`p${6 * MANY - 1}`, 'new'],
  );
});

describe('a leader that is killed while it writes', () => {
  const all = Array.from({ length: MANY }, (_, at) => pod(`p${at}`));
  const keyOf = (name: string) => `${PREFIX}k8s/pod/${name}/namespace/default`;
  const before: Readonly<Record<string, readonly (readonly [key: string, text: string])[]>> = {
    'the first records': [],
    'all records again': all.map(({ metadata: { name } }) => [keyOf(name), '{}']),
    'what has no object any more': all.map(({ metadata: { name } }) => [keyOf(`x${name}`), '{}']),
  };
  for (const [what, records] of Object.entries(before))
    it(`leaves ${what} to the next one`, async () => {
      for (let point = 0, isOver = false; !isOver; point++) {
        const cluster = new ReflectedCluster();
        cluster.kill();
        for (const one of all) cluster.putUnseen(one);
        await cluster.database.putAll(new Map(records));
        cluster.restart();
        cluster.instance.store.crashAt(point);
        await cluster.settle();
        isOver = cluster.instance.store.crashPoints <= point;
        const left = await cluster.records();
        const expected = cluster.expected();
        cluster.restart();
        cluster.writes.length = 0;
        await cluster.settle();
        assert.deepEqual(await cluster.records(), expected);
        const needless = cluster.writes.filter((key) => left.get(key) === expected.get(key));
        assert.deepEqual(needless, []);
      }
    });
});

describe('a leader that the API server does not answer', () => {
  function cutOff(): ReflectedCluster {
    const cluster = new ReflectedCluster();
    for (const { kind } of cluster.instance.reflector.watches) cluster.interrupt(kind.kind);
    return cluster;
  }

  it('leads on while no other instance waits', async () => {
    const cluster = cutOff();
    await cluster.settle(600_000);
    assert.ok(cluster.instance.leader.isLeader);
    assert.equal(cluster.instance.leader.terms, 1);
  });

  it('lets another instance lead after a minute, and campaigns when the server answers', async () => {
    const cluster = cutOff();
    await cluster.settle(30_000);
    let other: Leadership | undefined;
    const candidate = cluster.election.candidate(cluster.database);
    void candidate.campaign(new AbortController().signal).then((won) => {
      other = won;
    });
    await cluster.settle(20_000);
    assert.ok(cluster.instance.leader.isLeader);
    await cluster.settle(20_000);
    assert.ok(other && !cluster.instance.leader.isLeader);
    await other.resign();
    await cluster.settle(600_000);
    assert.ok(!cluster.instance.leader.isLeader);
    for (const { kind } of cluster.instance.reflector.watches) cluster.resume(kind.kind);
    await cluster.settle();
    assert.ok(cluster.instance.leader.isLeader);
  });
});
