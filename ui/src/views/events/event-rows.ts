/** The order of the list: the newest event first, its follow-ups below it in the order of their processing. */
import type { ProcessedEvent } from '#documents/events.ts';

export interface EventRow {
  readonly event: ProcessedEvent;
  /** 0: it is not below its cause, or has none. */
  readonly depth: number;
}

/** @param events the oldest first */
export function eventRows(events: readonly ProcessedEvent[]): readonly EventRow[] {
  const known = new Set(events.map(({ SeqNum }) => SeqNum));
  const followUps = new Map<number, ProcessedEvent[]>();
  const roots: ProcessedEvent[] = [];
  for (const event of events) {
    const { IsFollowUp, FollowUpTo } = event;
    if (!IsFollowUp || !known.has(FollowUpTo)) roots.push(event);
    else followUps.set(FollowUpTo, [...(followUps.get(FollowUpTo) ?? []), event]);
  }
  const rows: EventRow[] = [];
  const add = (event: ProcessedEvent, depth: number): void => {
    rows.push({ event, depth });
    for (const followUp of followUps.get(event.SeqNum) ?? []) add(followUp, depth + 1);
  };
  for (const root of roots.toReversed()) add(root, 0);
  return rows;
}
