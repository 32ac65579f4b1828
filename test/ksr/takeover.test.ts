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
