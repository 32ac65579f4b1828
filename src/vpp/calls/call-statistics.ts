/** Counts the requests to VPP, by message. */

import { CodedError } from '#infra/errors/errors.ts';
import type { CallObserver } from '../binapi/api.ts';
import { VppRefusedError } from '../binapi/retval-error.ts';

/** Number and durations (seconds) of calls. */
export interface CallTally {
  count: number;
  total: number;
  min: number;
  max: number;
}

export interface CallTotals {
  readonly sent: number;
  readonly done: number;
  readonly failed: number;
  readonly replies: number;
}

type Observed = (message: string, seconds: number) => void;

export class CallStatistics implements CallObserver {
  readonly sentByMessage = new Map<string, number>();
  readonly doneByMessage = new Map<string, CallTally>();
  /** Error by message of the request. */
  readonly failedByMessage = new Map<string, Map<string, number>>();
  readonly repliesByMessage = new Map<string, number>();
  /** Of all messages together. */
  readonly all: CallTally = newTally();
  readonly #totals = { sent: 0, done: 0, failed: 0, replies: 0 };
  readonly #observed: Observed;

  /** @param observed called for each request that VPP has carried out */
  constructor(observed: Observed) {
    this.#observed = observed;
  }

  get totals(): CallTotals {
    return this.#totals;
  }

  sent(message: string): void {
    this.#totals.sent++;
    add(this.sentByMessage, message, 1);
  }

  done(message: string, seconds: number): void {
    this.#totals.done++;
    let tally = this.doneByMessage.get(message);
    if (!tally) {
      tally = newTally();
      this.doneByMessage.set(message, tally);
    }
    increment(tally, seconds);
    increment(this.all, seconds);
    this.#observed(message, seconds);
  }

  failed(message: string, error: unknown): void {
    this.#totals.failed++;
    let errors = this.failedByMessage.get(message);
    if (!errors) {
      errors = new Map();
      this.failedByMessage.set(message, errors);
    }
    add(errors, errorName(error), 1);
  }

  replied(message: string, count: number): void {
    if (count === 0) return;
    this.#totals.replies += count;
    add(this.repliesByMessage, message, count);
  }
}

/** Few different texts: they are the values of a label. */
function errorName(error: unknown): string {
  if (error instanceof VppRefusedError) return `${error.code} ${error.retval}`;
  return error instanceof CodedError ? error.code : 'Error';
}

function newTally(): CallTally {
  return { count: 0, total: 0, min: 0, max: 0 };
}

function increment(tally: CallTally, seconds: number): void {
  tally.min = tally.count === 0 ? seconds : Math.min(tally.min, seconds);
  tally.max = Math.max(tally.max, seconds);
  tally.count++;
  tally.total += seconds;
}

function add(counts: Map<string, number>, name: string, count: number): void {
  counts.set(name, (counts.get(name) ?? 0) + count);
}
