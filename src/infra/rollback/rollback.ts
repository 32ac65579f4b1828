import { errorText } from '../errors/errors.ts';
import type { Logger } from '../log/log.ts';

type UndoStep = () => Promise<unknown>;

/** What has been done so far and how to take it back. */
export interface RollbackList {
  add(takeBack: UndoStep): void;
}

/**
 * Runs work of several steps that is either all done or leaves nothing: when it fails, the steps
 * that were noted are taken back in reverse. The error is the one that the work failed with; what
 * fails while taking back is only logged, because a resync repairs it.
 */
export async function allOrNothing<T>(
  log: Logger,
  work: (undo: RollbackList) => Promise<T>,
): Promise<T> {
  const done: UndoStep[] = [];
  try {
    return await work({ add: (takeBack) => done.push(takeBack) });
  } catch (failure) {
    for (const takeBack of done.reverse()) {
      try {
        await takeBack();
      } catch (thrown) {
        log.warn({ failure: errorText(failure) }, `could not take back: ${errorText(thrown)}`);
      }
    }
    throw failure;
  }
}

/**
 * Waits for all of what was started together and fails with the first failure in the order of the
 * list, so that nothing is still in flight when the caller takes back.
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
