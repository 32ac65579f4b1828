/** Kinds of events for tests only. */
import {
  Direction,
  defineEvent,
  EventMethod,
  TransactionType,
} from '#plugins/controller/api/event.ts';

export const Note = defineEvent<{ n: number }>({
  id: 'note',
  blocking: false,
  name: 'Note',
  method: EventMethod.Update,
});

export const Undo = defineEvent<{ n: number }>({
  id: 'undo',
  blocking: false,
  name: 'Undo',
  method: EventMethod.Update,
  transactionType: TransactionType.BestEffortIgnoreErrors,
  direction: Direction.Reverse,
});

export const Ask = defineEvent<{ n: number }, string>({
  id: 'ask',
  blocking: true,
  name: 'Ask',
  method: EventMethod.Update,
  transactionType: TransactionType.RevertOnFailure,
});

export const Recalculate = defineEvent<object>({
  id: 'recalculate',
  blocking: false,
  name: 'Recalculate',
  method: EventMethod.UpstreamResync,
});
