import { errorText } from '../errors/errors.ts';
import type { Logger } from '../log/log.ts';

type UndoStep = () => Promise<unknown>;

/** The undo steps of the actions so far. */
export interface RollbackList {
  add(undo: UndoStep): void;
}

/**
 * Runs several actions all or nothing: when one fails, the undo steps run in reverse order. Rejects
 * with the error of the failed action; errors of undo steps are only logged, because a resync
 * corrects their effects.
 */
export async function allOrNothing<T>(
  log: Logger,
  work: (undo: RollbackList) => Promise<T>,
): Promise<T> {
  const steps: UndoStep[] = [];
  try {
    return await work({ add: (undo) => steps.push(undo) });
  } catch (failure) {
    for (const undo of steps.reverse()) {
      try {
        await undo();
      } catch (thrown) {
        log.warn({ failure: errorText(failure) }, `rollback step failed: ${errorText(thrown)}`);
      }
    }
    throw failure;
  }
}

/**
 * Waits for all promises, then rejects with the first error in the order of the list, so that no
 * action is in flight when the caller rolls back.
 */
export async function allSettled<const T extends readonly Promise<unknown>[]>(
  started: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  type Results = { -readonly [K in keyof T]: Awaited<T[K]> };
  if (started.length === 1) return [await started[0]] as Results;
  const results = await Promise.allSettled(started);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return results.map((result) => (result as PromiseFulfilledResult<unknown>).value) as Results;
}
