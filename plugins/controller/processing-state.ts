/** State of an event while it is processed. */

import { errorText } from '#infra/errors/errors.ts';
import type { TransactionTrace } from '#kvscheduler/api/transaction.ts';
import { type Event, EventMethod, TransactionType } from './api/event.ts';
import type { Tell, Undo } from './api/event-handler.ts';
import { Shutdown } from './api/events.ts';
import type { QueuedEvent } from './event-queue.ts';
import type { HandlingRecord } from './event-record.ts';
import type { EventTransaction } from './event-transaction.ts';

/** Work of a handler that has returned. */
interface PendingWork {
  readonly record: { error: string | undefined };
  /** Resolves to its error. */
  readonly ended: Promise<Error | undefined>;
}

export class ProcessingState {
  readonly entry: QueuedEvent;
  readonly event: Event;
  readonly method: EventMethod;
  /** All or nothing: changes are reverted if anything fails. */
  readonly isRevertible: boolean;
  /** Milliseconds since the epoch. */
  readonly start: number;
  /** The same moment on the monotonic clock. */
  readonly began: number;
  readonly txn: EventTransaction;
  readonly records: HandlingRecord[] = [];
  readonly replies: unknown[] = [];
  /** Work of handlers that must end before the transaction. */
  readonly pending: PendingWork[] = [];
  /** The undos that handlers have registered, in their order. */
  readonly undos: { readonly handler: string; readonly undo: Undo }[] = [];
  /** Calls that pass on the result of a resync that is not aborted. */
  readonly successes: { readonly handler: string; readonly tell: Tell }[] = [];
  /** All errors, in order. */
  readonly errors: Error[] = [];
  /** Those of handlers and of the whole transaction: not of a value. */
  readonly eventErrors: Error[] = [];
  /** The first of these that shows a defect of the agent. */
  defect: Error | undefined;
  /** Those of reading the southbound. */
  readonly readErrors: Error[] = [];
  seqNum = -1;
  description = '';
  fatal: Error | undefined;
  /** The following handlers are not called, and nothing is committed. */
  stopped = false;
  needsHealing = false;
  /** An operation failed because the southbound is unavailable. */
  waitsForSouthbound = false;
  transaction: number | undefined;
  transactionError: Error | undefined;
  /** From the start of processing to the commit. */
  commitStartMs: number | undefined;
  commitMs: number | undefined;
  trace: TransactionTrace | undefined;

  constructor(entry: QueuedEvent, txn: EventTransaction, start: number, began: number) {
    const { kind, payload } = entry.event;
    this.entry = entry;
    this.event = entry.event;
    this.txn = txn;
    this.start = start;
    this.began = began;
    this.method = kind.method(payload);
    this.isRevertible =
      this.method === EventMethod.Update &&
      kind.transactionType(payload) === TransactionType.RevertOnFailure;
  }

  /** A resync that calls the handlers. */
  get isResync(): boolean {
    return this.method === EventMethod.FullResync || this.method === EventMethod.UpstreamResync;
  }

  /** A shutdown that removes everything from VPP and Linux. */
  get isUndeploy(): boolean {
    return Shutdown.is(this.event) && this.event.payload.cleanup;
  }

  /** Whether a resync was committed without an error. */
  get isCommittedResync(): boolean {
    if (this.method === EventMethod.Update || this.transaction === undefined) return false;
    return this.eventErrors.length === 0 && !this.waitsForSouthbound;
  }

  /** All errors as one. */
  get error(): Error | undefined {
    const { errors } = this;
    if (errors.length <= 1) return errors[0];
    return new AggregateError(errors, errors.map(errorText).join('; '));
  }
}
