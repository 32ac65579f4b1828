/**
 * Which errors are healed, when, and which are fatal. A healing resync follows an error of a resync or
 * of a best-effort update. Two kinds of errors are exceptions, known by a trait of the error:
 * - VPP is not connected: the resync that follows the reconnect heals it.
 * - The environment of a value, such as a network namespace, is deleted: no resync helps, and the
 *   agent works as it should.
 *
 * A healing resync that fails, too, is fatal only if the error shows a defect of the agent: then its
 * state cannot be trusted, and a restart rebuilds it. A value that VPP or Linux refuses, and a
 * precondition of a handler that is missing, have their cause outside: the restarted agent would fail
 * in the same way, and would attach no pods meanwhile. They are reported, and the healing resync is
 * repeated more and more slowly.
 */

import { type CodedError, errorText, isDefect, traitsOf } from '#infra/errors/errors.ts';
import { AbortEventError, FatalError } from './api/errors.ts';
import { type Event, EventMethod, TransactionType } from './api/event.ts';
import { HealingResync } from './api/events.ts';
import type { ProcessingState } from './processing-state.ts';

export type Healing = 'by-resync' | 'by-reconnect' | 'none';

/** A healing resync after an error, not a periodic one. */
export function isHealing(
  event: Event,
): event is Event<{ readonly type: 'after-error'; readonly error: string }> {
  return HealingResync.is(event) && event.payload.type === 'after-error';
}

/** Decides how an error of a handler or of a transaction is healed. */
export function healingOf(processing: ProcessingState, error: Error): Healing {
  return healingByTraits(error) ?? (isHealedByResync(processing, error) ? 'by-resync' : 'none');
}

/** Decides how an error is healed that left changes of a reverted event in place. */
export function healingOfRevert(error: Error): Healing {
  return healingByTraits(error) ?? 'by-resync';
}

/** Notes in the state of the event what an error needs. */
export function applyHealing(processing: ProcessingState, healing: Healing): void {
  if (healing === 'by-reconnect') processing.waitsForSouthbound = true;
  if (healing === 'by-resync') processing.needsHealing = true;
}

/**
 * After a disconnect during the event, errors of any kind may be its consequence: the resync after
 * the reconnect heals all of them.
 */
export function leaveHealingToReconnect(processing: ProcessingState): void {
  processing.waitsForSouthbound = true;
  processing.needsHealing = false;
}

/** Notes an error of a handler or of the whole transaction, which is not the failure of a value. */
export function addEventError(processing: ProcessingState, error: Error): void {
  processing.eventErrors.push(error);
  if (isDefect(rootCause(error))) processing.defect ??= error;
  applyHealing(processing, healingOf(processing, error));
}

/** A healing resync that fails by a defect: the agent cannot recover and must be restarted. */
export function fatalAfterHealing(processing: ProcessingState): CodedError | undefined {
  const { event, needsHealing, fatal, error, defect } = processing;
  if (!needsHealing || fatal || !isHealing(event) || !defect) return undefined;
  return new FatalError(
    `healing has not been successful (prev error: ${event.payload.error}, ` +
      `healing error: ${errorText(error)})`,
    { cause: error },
  );
}

/** The cause for which a handler has aborted the event. */
function rootCause(error: Error): unknown {
  let root: unknown = error;
  while (root instanceof AbortEventError && root.cause !== undefined) root = root.cause;
  return root;
}

function healingByTraits(error: Error): Healing | undefined {
  switch (traitsOf(error).unavailable) {
    case 'southbound':
      return 'by-reconnect';
    case 'environment':
      return 'none';
    default:
      return undefined;
  }
}

/** Errors of resyncs and of best-effort updates; the other transaction types exclude it. */
function isHealedByResync({ method, event }: ProcessingState, error: Error): boolean {
  if (error instanceof AbortEventError || method !== EventMethod.Update) return true;
  return event.kind.transactionType(event.payload) === TransactionType.BestEffort;
}
