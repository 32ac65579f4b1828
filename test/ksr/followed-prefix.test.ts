import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Revision } from '#datastore/api.ts';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { FollowedPrefix, type FollowedPrefixDeps } from '#ksr/records/followed-prefix.ts';

it('a prefix that is closed while it is read is not followed any more', async () => {
  const reading = Promise.withResolvers<void>();
  const calls: string[] = [];
  const store: FollowedPrefixDeps['store'] = {
    pages: async () => {
      await reading.promise;
      return 'revision' as unknown as Revision;
    },
    watch: () => {
      calls.push('watch');
      return { close: () => undefined };
    },
  };
  const followed = new FollowedPrefix({
    store,
    prefix: '/records/',
    onRead: () => calls.push('read'),
    onChange: () => calls.push('change'),
    clock: new ManualClock(),
    random: seededRandom(1),
    log: silentLogger,
  });
  followed.start();
  followed.close();
  reading.resolve();
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(calls, []);
});
