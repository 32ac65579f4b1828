/** A history and records to fill it with. */
import { ManualClock } from '#infra/clock/manual.ts';
import { type Logger, silentLogger } from '#infra/log/log.ts';
import { EventHistory, type HistoryLimits } from '#plugins/controller/event-history.ts';
import type { EventRecord } from '#plugins/controller/event-record.ts';

export const START = Date.UTC(2026, 0, 1);
export const seconds = START / 1000;

/** Ten seconds apart, each takes 1.5 seconds. */
export function record(seqNum: number, followUpTo?: number): EventRecord {
  return {
    seqNum,
    start: START + seqNum * 10_000,
    end: START + seqNum * 10_000 + 1500,
    followUpTo,
    id: 'healing-resync',
    name: 'Healing Resync',
    method: 0,
    description: 'Healing Resync (After error: e)',
    handlers: [{ handler: 'ipam', revert: false, change: '', error: 'bad', startMs: 1, tookMs: 2 }],
    transactionError: undefined,
    transaction: seqNum === 1 ? 5 : undefined,
    trace: {
      origin: seqNum === 2 ? { key: '/k', revision: '7' } : undefined,
      queuedMs: 1,
      totalMs: 1501,
      commitStartMs: seqNum === 1 ? 3 : undefined,
      commitMs: seqNum === 1 ? 4 : undefined,
      transaction:
        seqNum === 1
          ? {
              queuedMs: 0.25,
              readingMs: 0,
              planningMs: 1,
              writingMs: 0,
              executionMs: 2.5,
              operations: 3,
            }
          : undefined,
    },
  };
}

export function makeHistory(
  limits: HistoryLimits = { ageMs: 1e9, permanentMs: 0, bytes: 1e6 },
  clock = new ManualClock(),
  log: Logger = silentLogger,
): EventHistory {
  return new EventHistory(limits, clock, log);
}
