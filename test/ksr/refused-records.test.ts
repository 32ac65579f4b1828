/** Records that etcd refuses: its limit is lower than the default, it is full, or a right is missing. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StoreRefusedError } from '#datastore/api.ts';
import { ManualClock } from '#infra/clock/manual.ts';
import { type Logger, silentLogger } from '#infra/log/log.ts';
import { UnexpectedChanges } from '#ksr/records/unexpected-changes.ts';
import { pod } from './support/objects.ts';
import { PREFIX, ReflectedCluster } from './support/reflected-cluster.ts';

const key = (name: string): string => `${PREFIX}k8s/pod/${name}/namespace/default`;

function refusedCluster(isRefused: (key: string) => boolean) {
  const warnings: object[] = [];
  const warn = (fields: object) => warnings.push(fields);
  const cluster = new ReflectedCluster({ ...silentLogger, warn } as Logger);
  cluster.instance.store.beforeWrite = ({ keys }) => {
    if (keys.some(isRefused)) throw new StoreRefusedError('request is too large');
  };
  const podState = () => cluster.instance.leader.kinds().find(({ name }) => name === 'Pod');
  return { cluster, warnings, podState };
}

describe('a record that etcd refuses', () => {
  it('is named once in the log, and in the status as long as it is refused', async () => {
    const { cluster, warnings, podState } = refusedCluster((one) => one === key('p2'));
    cluster.put(pod('p1'), pod('p2'), pod('p3'));
    for (let i = 0; i < 20; i++) {
      await cluster.settle(1_500);
      cluster.put(pod('p1', `label-${i}`));
      await cluster.settle(1);
      assert.match(podState()?.problem ?? '', /too large/);
    }
    await cluster.settle();
    assert.deepEqual([...(await cluster.records()).keys()], [key('p1'), key('p3')]);
    assert.equal(warnings.length, 1);
    assert.deepEqual((warnings[0] as { key?: string }).key, key('p2'));

    cluster.instance.store.beforeWrite = undefined;
    await cluster.settle();
    assert.equal((await cluster.records()).size, 3);
    assert.equal(podState()?.problem, undefined);
  });

  it('causes one line in the log when all are refused', async () => {
    const { cluster, warnings } = refusedCluster((one) => one.startsWith(`${PREFIX}k8s/pod/`));
    for (let i = 0; i < 300; i++) cluster.put(pod(`p${i}`));
    await cluster.settle(60_000);
    assert.equal(warnings.length, 1);
  });

  it('does not delay a deletion, however many are refused, as by an etcd that is full', async () => {
    const { cluster } = refusedCluster((one) => one.startsWith(key('new').split('/namespace')[0]!));
    for (let i = 0; i < 200; i++) cluster.put(pod(`old-${i}`));
    await cluster.settle();
    for (let i = 0; i < 500; i++) cluster.put(pod(`new-${i}`));
    await cluster.settle(300_000);
    for (let i = 0; i < 200; i++) cluster.delete('Pod', `old-${i}`, 'default');
    for (let i = 500; i < 1_000; i++) cluster.put(pod(`new-${i}`));
    await cluster.settle(3_000);
    assert.equal((await cluster.records()).size, 0);
    cluster.instance.store.beforeWrite = undefined;
    await cluster.settle();
    assert.equal((await cluster.records()).size, 1_000);
  });
});

describe('a record that another program has changed', () => {
  it('is read again when a pending write of it has ended', async () => {
    const clock = new ManualClock();
    const repaired: string[] = [];
    let isPending = true;
    const changes = new UnexpectedChanges({
      store: { get: async () => 'unexpected' },
      clock,
      isPending: () => isPending,
      isWanted: (_key, text) => text === 'wanted',
      repair: (one) => repaired.push(one),
    });
    changes.suspect('a');
    await clock.advance(3_000);
    assert.deepEqual(repaired, []);
    isPending = false;
    await clock.advance(3_000);
    assert.deepEqual(repaired, ['a']);
    changes.close();
  });
});
