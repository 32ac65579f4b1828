/** One round of each trouble on a real etcd; `npm run soak -- watcher` does a hundred. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { withoutEtcd, withoutEtcdctl } from '#test/support/requirements.ts';
import { WatcherTestbed } from '../support/dbwatcher/testbed.ts';

const limits = { skip: withoutEtcd() || withoutEtcdctl(), timeout: 300_000 };

describe('dbwatcher on an etcd in trouble, under a writer that never rests', limits, () => {
  let ground: WatcherTestbed;
  before(async () => {
    ground = await WatcherTestbed.start(1);
  });
  after(() => ground.close());

  it('misses nothing and tells nothing twice when etcd is killed', () => ground.kill());
  it('nor when it stands still for a while', () => ground.stop());
  it('nor when the connection is cut in the middle of a replay', () => ground.cut());
  it('reads everything again when the history was compacted while it was away', async () => {
    await ground.compact();
    assert.ok(ground.counts.resyncs > 1);
  });
  it('reads everything again when etcd was put back to an old backup', () => ground.restore());
});

describe('dbwatcher on three members, under a writer that never rests', limits, () => {
  it('goes on when their leader is killed', async () => {
    const ground = await WatcherTestbed.start(3);
    try {
      await ground.loseLeader();
    } finally {
      await ground.close();
    }
  });
});
