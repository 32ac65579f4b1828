import {
  type CodedError,
  type CodedErrorClass,
  defineError,
  errorText,
} from '#infra/errors/errors.ts';
import type { KeyFailure } from '#kvscheduler/api/transaction.ts';

/** Some values of a transaction failed. */
export class FailedValuesError extends AggregateError {
  readonly failures: readonly KeyFailure[];

  constructor(failures: readonly KeyFailure[], message: string) {
    super(
      failures.map(({ error }) => error),
      message,
    );
    this.failures = failures;
  }
}

/** The agent must be restarted: its status stays ERROR. */
export const FatalError = defineError({
  name: 'FatalError',
  code: 'CV_LOOP_FATAL',
  remedy:
    'Read the cause in the log and in the event history. The liveness probe makes Kubernetes restart the agent.',
});

/** Processing of this event stops here and a resync follows. */
export const AbortEventError = defineError({
  name: 'AbortEventError',
  code: 'CV_LOOP_ABORT_EVENT',
  remedy: 'No action is needed: a healing resync follows. If the error recurs, read its cause.',
});

/** Log lines of events, records and readiness have only the text of an error, so it includes the cause. */
export function causedError(
  ErrorClass: CodedErrorClass,
  reason: string,
  cause: unknown,
): CodedError {
  return new ErrorClass(`${reason}: ${errorText(cause)}`, { cause });
}

export const UnmergedValueError = defineError({
  name: 'UnmergedValueError',
  code: 'CV_LOOP_UNMERGED_VALUE',
  isRetriable: false,
  remedy: 'Correct the external value of this key so that both together are valid, or delete it.',
});

export const HandlesEventError = defineError({
  name: 'HandlesEventError',
  code: 'CV_LOOP_HANDLES_EVENT',
  remedy: 'This is a defect of the handler. Read the cause in the log and in the event history.',
});

export const ClosedControllerError = defineError({
  name: 'ClosedControllerError',
  code: 'CV_LOOP_CLOSED',
  isRetriable: true,
  remedy: 'The agent is shutting down. Retry the request when it has restarted.',
});

export const EventQueueFullError = defineError({
  name: 'EventQueueFullError',
  code: 'CV_LOOP_QUEUE_FULL',
  isRetriable: true,
  remedy:
    'Retry later. If the queue stays full, look for a slow handler in /controller/event-history.',
});

export const EventLoopIsAbortingError = defineError({
  name: 'EventLoopIsAbortingError',
  code: 'CV_LOOP_ABORTING',
  isRetriable: true,
  remedy:
    'The event loop stopped after a fatal error. See /liveness and the log, then restart the agent.',
});

/** A blocking event was rejected, because VPP is not configured; see readiness for the reason. */
export const NotConfiguredError = defineError({
  name: 'NotConfiguredError',
  code: 'CV_LOOP_NOT_CONFIGURED',
  isRetriable: true,
  remedy: 'Retry later: the resync is repeated. GET /readiness says why it failed.',
});

export const EventLoopDeadlockError = defineError({
  name: 'EventLoopDeadlockError',
  code: 'CV_LOOP_DEADLOCK',
  remedy:
    'This is a defect of the handler: it must send a follow-up event (ctx.followUp) and must not wait for it.',
});

export const EventAbandonedError = defineError({
  name: 'EventAbandonedError',
  code: 'CV_LOOP_ABANDONED',
  remedy:
    'No action is needed: the caller disconnected before the event was processed, so it was not run.',
});
