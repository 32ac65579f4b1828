/** One round of each fault on a real etcd; `npm run soak -- watcher` runs a hundred. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { withoutEtcd, withoutEtcdctl } from '#test/support/requirements.ts';
import { WatcherTestbed } from '../support/dbwatcher/testbed.ts';

const limits = { skip: withoutEtcd() || withoutEtcdctl(), timeout: 300_000 };

describe('dbwatcher on a faulty etcd under a continuous writer', limits, () => {
  let ground: WatcherTestbed;
  before(async () => {
    ground = await WatcherTestbed.start(1);
  });
  after(() => ground.close());

  it('pushes every change once when etcd is killed', () => ground.kill());
  it('pushes every change once when etcd is suspended', () => ground.stop());
  it('pushes every change once when the connection breaks in the middle of a replay', () =>
    ground.cut());
  it('reads everything again when the history is compacted while it is disconnected', async () => {
    await ground.compact();
    assert.ok(ground.counts.resyncs > 1);
  });
  it('reads everything again when etcd is restored from an old backup', () => ground.restore());
});

describe('dbwatcher on three members under a continuous writer', limits, () => {
  it('continues when the leader is killed', async () => {
    const ground = await WatcherTestbed.start(3);
    try {
      await ground.loseLeader();
    } finally {
      await ground.close();
    }
  });
});
