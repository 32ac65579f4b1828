import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventRows } from '../../../ui/src/views/events/event-rows.ts';
import { processedEvent } from './event-samples.ts';

const followUp = (n: number, FollowUpTo: number) =>
  processedEvent(n, { IsFollowUp: true, FollowUpTo });

const shown = (events: Parameters<typeof eventRows>[0]) =>
  eventRows(events).map(({ event, depth }) => `${'  '.repeat(depth)}${event.SeqNum}`);

describe('the rows of the events', () => {
  it('are the newest first, with follow-ups below their cause in their order', () => {
    const events = [
      processedEvent(1),
      followUp(2, 1),
      followUp(3, 1),
      followUp(4, 2),
      processedEvent(5),
    ];
    assert.deepEqual(shown(events), ['5', '1', '  2', '    4', '  3']);
  });

  it('contain a follow-up whose cause is not in the list', () => {
    assert.deepEqual(shown([followUp(7, 6), processedEvent(8)]), ['8', '7']);
  });

  it('take the first event for no cause of all others: its number is that of no follow-up', () => {
    assert.deepEqual(shown([processedEvent(0), processedEvent(1)]), ['1', '0']);
    assert.deepEqual(shown([processedEvent(0), followUp(1, 0)]), ['0', '  1']);
  });
});
