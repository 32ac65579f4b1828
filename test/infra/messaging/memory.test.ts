import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { silentLogger } from '#infra/log/log.ts';
import { Multiplexer } from '#infra/messaging/multiplexer.ts';
import { MemoryBroker } from './memory-broker.ts';

const ROUNDS = 8;
/** With 125,000, a million in all, the samples were between 5.4 and 12.7 MB, in no order. */
const MESSAGES = 25_000;
const BATCH = 1_000;
const MIB = 1024 * 1024;

test('memory stays flat over many messages', async () => {
  setFlagsFromString('--expose-gc');
  const gc: () => void = runInNewContext('gc');
  const broker = new MemoryBroker(BATCH);
  const client = broker.client('group');
  const connection = new Multiplexer(client, silentLogger).bytesConnection('user');
  let found = 0;
  connection.watch(() => void found++, 'topic');
  const publish = connection.syncPublisher('topic');
  const value = Buffer.from('{"name":"loop0","oper_status":"UP"}');
  const heap: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (let at = 0; at < MESSAGES; at += BATCH) {
      await Promise.all(Array.from({ length: BATCH }, (_, one) => publish(`key${one}`, value)));
      // The topic keeps one batch.
      while (found < round * MESSAGES + at + BATCH) await new Promise(setImmediate);
    }
    gc();
    heap.push(process.memoryUsage().heapUsed);
  }
  assert.equal(found, ROUNDS * MESSAGES);
  // A single sample may include what the next collection frees.
  const grown = Math.min(...heap.slice(ROUNDS / 2)) - Math.min(...heap.slice(0, ROUNDS / 2));
  assert.ok(grown < 4 * MIB, `the heap grew by ${grown} bytes: ${heap}`);
  await client.close();
});
