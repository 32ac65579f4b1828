/**
 * The log of events: one line for each when it has been processed, at level error if it failed and not only waits for pods,
 * and at level debug if it has changed nothing, which in a large cluster is most of them. At level debug of the logger also
 * the boxes of banner.ts, before the handlers and at the end.
 */
import { errorText, isGone } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import { FailedValuesError } from './api/errors.ts';
import { EventMethod } from './api/event.ts';
import { arrivalBanner, outcomeBanner, printable } from './banner.ts';
import type { ProcessingState } from './processing-state.ts';

/** Fields of each line about an event, of the loop and of its handlers: one search finds all of them. */
export function eventFields({ seqNum, description }: ProcessingState) {
  return { seqNum, event: shortened(description) };
}

/** Longest text of a field: a resync of a large cluster describes each of its objects. */
const MAX_TEXT = 200;
const MAX_ERRORS = 10;

export class EventLog {
  readonly #log: Logger;
  readonly #print: (text: string) => void;

  constructor(log: Logger, print: (text: string) => void) {
    this.#log = log;
    this.#print = print;
  }

  /** @param handlers names of the handlers that will be called */
  arrived({ entry, seqNum, description }: ProcessingState, handlers: readonly string[]): void {
    if (!this.#log.isLevelEnabled('debug')) return;
    const { followUpTo } = entry;
    this.#print(arrivalBanner({ seqNum, followUpTo, description, handlers }));
  }

  /** @param tookMs from the arrival to the outcome */
  ended(processing: ProcessingState, tookMs: number): void {
    const { entry, records, errors, transaction, trace } = processing;
    const hasChanged = transaction !== undefined || records.some(({ change }) => change !== '');
    const level = hasChanged || processing.isResync ? 'info' : 'debug';
    if (errors.length === 0 && !this.#log.isLevelEnabled(level)) return;
    const fields = {
      ...eventFields(processing),
      ...(entry.followUpTo !== undefined && { followUpTo: entry.followUpTo }),
      changes: records
        .filter(({ change }) => change !== '')
        .map(({ handler, change }) => shortened(`${handler}: ${change}`)),
      ...(transaction !== undefined && { transaction, operations: trace?.operations }),
      tookMs: Math.round(tookMs),
    };
    if (errors.length === 0) this.#log[level](fields, 'event processed');
    else {
      const texts = errors.slice(0, MAX_ERRORS).map((error) => errorText(error));
      if (isWaiting(processing)) this.#log.info({ ...fields, waiting: texts }, 'event processed');
      else {
        const failure = {
          failures: errors.length,
          errors: texts,
          revertedBy: reverted(processing),
        };
        this.#log.error({ ...fields, ...failure }, 'event failed');
      }
    }
    if (this.#log.isLevelEnabled('debug')) this.#print(outcomeText(processing, tookMs));
  }
}

/**
 * Whether a resync only has values of pods that have ended: after a reboot, or while no agent ran. kubelet
 * deletes the pods, or adds them again.
 */
function isWaiting({ method, errors }: ProcessingState): boolean {
  return (
    method !== EventMethod.Update &&
    errors.every(
      (error) =>
        error instanceof FailedValuesError && error.failures.every((each) => isGone(each.error)),
    )
  );
}

function outcomeText(processing: ProcessingState, tookMs: number): string {
  const { seqNum, description, records, transaction, transactionError } = processing;
  return outcomeBanner({
    seqNum,
    description,
    handledBy: records.filter((record) => !record.revert).map((record) => record.handler),
    revertedBy: reverted(processing),
    errors: records
      .filter((record) => record.error !== undefined)
      .map((record) => `${record.handler}${record.revert ? ' (REVERT)' : ''}: ${record.error}`),
    transactionError: transactionError && errorText(transactionError),
    hasTransaction: transaction !== undefined,
    tookMs,
  });
}

const reverted = ({ records }: ProcessingState): readonly string[] =>
  records.filter(({ revert }) => revert).map(({ handler }) => handler);

/** The first line of a text. */
function shortened(text: string): string {
  const [first = ''] = text.split('\n', 1);
  return printable(first.length > MAX_TEXT ? `${first.slice(0, MAX_TEXT)}…` : first);
}
