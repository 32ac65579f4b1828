import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { toChannel } from '#infra/idxmap/channel.ts';
import { IndexMap } from '#infra/idxmap/idxmap.ts';
import { type Logger, silentLogger } from '#infra/log/log.ts';

function setUp() {
  const clock = new ManualClock();
  const dropped: string[] = [];
  const warn = ({ name }: { name: string }) => void dropped.push(name);
  const log = { ...silentLogger, warn } as Logger;
  const map = new IndexMap<number>('numbers', silentLogger);
  const channel = toChannel(map, 'reader', { clock, log });
  return { clock, map, channel, dropped };
}

test('a reader takes the changes in their order, when it is ready', async () => {
  const { clock, map, channel, dropped } = setUp();
  const found: string[] = [];
  const reading = (async () => {
    for await (const { name, value, update, del } of channel) {
      found.push(`${name}=${value}${update ? ' updated' : ''}${del ? ' deleted' : ''}`);
      await clock.sleep(500);
    }
  })();
  map.put('a', 1);
  map.put('a', 2);
  map.delete('a');
  await clock.advance(1_200);
  assert.deepEqual(found, ['a=1', 'a=2 updated', 'a=2 deleted']);
  channel.close();
  await clock.advance(1_000);
  await reading;
  map.put('b', 1);
  assert.deepEqual([found.length, dropped, clock.pending], [3, [], 0]);
});

test('a change that is not taken within 2 seconds is dropped', async () => {
  const { clock, map, channel, dropped } = setUp();
  map.put('a', 1);
  await clock.advance(1_500);
  map.put('b', 1);
  await clock.advance(600);
  assert.deepEqual(dropped, ['a']);
  for await (const { name } of channel) {
    assert.equal(name, 'b');
    break;
  }
  // The end of the loop closes the channel.
  map.put('c', 1);
  map.watch('reader', () => undefined);
  await clock.advance(5_000);
  assert.deepEqual([dropped, clock.pending], [['a'], 0]);
});
