import { defineError } from '#infra/errors/errors.ts';

/** The agent shall be ended and started again: status ERROR for good. */
export const FatalError = defineError({
  name: 'FatalError',
  code: 'CV_LOOP_FATAL',
  remedy: 'Read the cause; the liveness probe restarts the agent, the log keeps the event.',
});

/** Processing of this event stops here and a resync follows. */
export const AbortEventError = defineError({
  name: 'AbortEventError',
  code: 'CV_LOOP_ABORT_EVENT',
  remedy: 'Nothing: a healing resync follows by itself. Read the cause if it comes back.',
});

export const ClosedControllerError = defineError({
  name: 'ClosedControllerError',
  code: 'CV_LOOP_CLOSED',
  isRetriable: true,
  remedy: 'The agent is shutting down; repeat the request against the next one.',
});

export const EventQueueFullError = defineError({
  name: 'EventQueueFullError',
  code: 'CV_LOOP_QUEUE_FULL',
  isRetriable: true,
  remedy: 'Repeat later; if it stays full, look for a slow handler in /controller/event-history.',
});

export const EventLoopIsAbortingError = defineError({
  name: 'EventLoopIsAbortingError',
  code: 'CV_LOOP_ABORTING',
  remedy: 'A fatal error came before; see /liveness and the log, then restart the agent.',
});

export const EventAbandonedError = defineError({
  name: 'EventAbandonedError',
  code: 'CV_LOOP_ABANDONED',
  remedy: 'Nothing: the caller had gone before its turn came, so the event was not run.',
});
