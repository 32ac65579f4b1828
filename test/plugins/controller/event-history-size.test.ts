import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import type { EventRecord } from '#plugins/controller/event-record.ts';
import { retainedBytes } from '#test/support/retained-bytes.ts';
import { makeHistory } from './history-records.ts';

const RECORDS = 5_000;

/** A pod that is attached, with texts that are put together as by the handlers. */
function added(seqNum: number): EventRecord {
  const id = seqNum.toString(16).padStart(64, '0');
  const pod = `backoffice/orders-${seqNum}`;
  const change = (handler: string, text: string) => ({
    handler,
    revert: false,
    change: text,
    error: undefined,
    startMs: seqNum + 0.125,
    tookMs: seqNum + 0.25,
  });
  return {
    seqNum,
    start: seqNum + 0.5,
    end: seqNum + 0.75,
    followUpTo: undefined,
    id: 'add-pod',
    name: `Add Pod ${pod}`,
    method: 1,
    description: [`Add Pod ${pod}`, `* Container: ${id}`].join('\n'),
    handlers: [
      change('podmanager', `attach ${pod} eth0`),
      change('ipam', `address 10.1.${seqNum >> 8}.${seqNum & 255}`),
      change('ipv4net', `wire ${id}`),
      change('service', ''),
      change('policy', `policies of pods: ${id}`),
      change('statscollector', ''),
    ],
    transactionError: undefined,
    transaction: seqNum,
    trace: {
      origin: { container: id },
      queuedMs: seqNum + 0.125,
      totalMs: seqNum + 0.625,
      commitStartMs: seqNum + 0.3125,
      commitMs: seqNum + 0.375,
      transaction: {
        queuedMs: seqNum + 0.05,
        readingMs: 0,
        planningMs: seqNum + 0.1,
        writingMs: 0,
        executionMs: seqNum + 0.2,
        operations: 12,
      },
    },
  };
}

it('counts about the bytes of the heap that its records take', () => {
  const limits = { ageMs: 1e9, permanentMs: 1e9, bytes: 1e9 };
  const history = makeHistory(limits, new ManualClock());
  const before = retainedBytes();
  for (let n = 0; n < RECORDS; n++) history.add(added(n));
  const heap = (retainedBytes() - before) / RECORDS;
  const counted = history.bytes / RECORDS;
  assert.ok(counted > 0.9 * heap, `${counted} bytes are counted of ${heap}`);
  assert.ok(counted < 1.3 * heap, `${counted} bytes are counted of ${heap}`);
});
