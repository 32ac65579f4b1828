/** The first error of an event: of a handler, or else of its transaction; empty: it succeeded. */
import type { ProcessedEvent } from '#documents/events.ts';
export function failureOf({ Handlers, TxnErrorStr }: ProcessedEvent): string {
  const failed = Handlers.find(({ ErrorStr }) => ErrorStr !== '');
  return failed ? `${failed.Handler}: ${failed.ErrorStr}` : TxnErrorStr;
}

/** Whether handlers took back what they had done. */
export function isReverted({ Handlers }: ProcessedEvent): boolean {
  return Handlers.some(({ Revert }) => Revert);
}
