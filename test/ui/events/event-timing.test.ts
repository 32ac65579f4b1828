import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { processedMs, timingOf } from '../../../ui/src/views/events/event-timing.ts';
import { handlerCall, processedEvent } from './event-samples.ts';

/** Received at 0, queued from 2 to 5, processed from 5 to 15. */
const added = processedEvent(1, {
  Handlers: [
    handlerCall('ipam', { StartMs: 1, TookMs: 0.5 }),
    handlerCall('ipv4net', { StartMs: 1.5, TookMs: 0.5 }),
    handlerCall('ipam', { StartMs: 9, TookMs: 0.5, Revert: true }),
  ],
  Trace: {
    Origin: { Key: '/k', Revision: '1', Heard: '2025-12-31T23:59:59Z' },
    QueuedMs: 3,
    TotalMs: 15,
    CommitStartMs: 3,
    CommitMs: 5,
    Transaction: {
      SeqNum: 1,
      QueuedMs: 0.5,
      ReadingMs: 0,
      PlanningMs: 1,
      WritingMs: 0,
      ExecutionMs: 3,
      Operations: 4,
    },
  },
});

describe('the timing of an event', () => {
  it('puts each phase where it was, from the cause on', () => {
    const { phases, totalMs, processingMs } = timingOf(added);
    assert.deepEqual(
      phases.map(({ name, startMs, tookMs }) => `${name} ${startMs} ${tookMs}`),
      [
        'receiving the change 0 2',
        'queue of events 2 3',
        'ipam 6 0.5',
        'ipv4net 6.5 0.5',
        'transaction: queue 8 0.5',
        'transaction: planning 8.5 1',
        'transaction: execution 9.5 3',
        'transaction: recording 12.5 0.5',
        'ipam (revert) 14 0.5',
      ],
    );
    assert.deepEqual([processingMs, totalMs], [5, 15]);
  });

  it('names the last reply of VPP, and the time that no phase explains', () => {
    const { acknowledgedMs, others, otherMs } = timingOf(added);
    assert.equal(acknowledgedMs, 12.5);
    assert.deepEqual(others, [
      { startMs: 5, tookMs: 1 },
      { startMs: 7, tookMs: 1 },
      { startMs: 13, tookMs: 1 },
      { startMs: 14.5, tookMs: 0.5 },
    ]);
    assert.equal(otherMs, 3.5);
  });

  it('accounts for the whole time: the phases and the rest are the total', () => {
    const { phases, otherMs, totalMs } = timingOf(added);
    const sum = phases.reduce((all, { tookMs }) => all + tookMs, otherMs);
    assert.ok(Math.abs(sum - totalMs) < 0.01);
  });

  it('begins with the queue if it is unknown when its cause was received', () => {
    const { phases } = timingOf(processedEvent(1, { Trace: { QueuedMs: 4, TotalMs: 14 } }));
    assert.deepEqual(phases, [{ name: 'queue of events', kind: 'queue', startMs: 0, tookMs: 4 }]);
  });

  it('shows before a follow-up the event that caused it', () => {
    const followUp = processedEvent(2, { IsFollowUp: true, FollowUpTo: 1, Trace: { TotalMs: 40 } });
    const [first] = timingOf(followUp).phases;
    assert.deepEqual([first?.name, first?.tookMs], ['the event that caused it', 30]);
  });

  it('has no acknowledgment of what was not sent', () => {
    const { Transaction } = added.Trace;
    assert.ok(Transaction);
    const empty = { ...added.Trace, Transaction: { ...Transaction, Operations: 0 } };
    assert.equal(timingOf({ ...added, Trace: empty }).acknowledgedMs, undefined);
    assert.equal(timingOf(processedEvent(1)).acknowledgedMs, undefined);
  });

  it('shows a transaction that was refused as one phase', () => {
    const { phases } = timingOf(processedEvent(1, { Trace: { CommitStartMs: 1, CommitMs: 2 } }));
    assert.deepEqual(
      phases.map(({ name, startMs, tookMs }) => [name, startMs, tookMs]),
      [['transaction', 1, 2]],
    );
  });

  it('reads microseconds', () => {
    const event = processedEvent(1, {
      ProcessingStart: '2026-01-01T00:00:00.00025Z',
      ProcessingEnd: '2026-01-01T00:00:00.0015Z',
    });
    assert.ok(Math.abs(processedMs(event) - 1.25) < 1e-3, String(processedMs(event)));
  });
});
