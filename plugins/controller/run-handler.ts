/** One call of one handler: its context, its time limits, its outcome. */
import { AbortEventError, FatalError } from '#eventloop/errors.ts';
import { type Event, EventMethod, type NonBlockingEvent } from '#eventloop/event.ts';
import type { EventHandler, KubeState, UpdateResult } from '#eventloop/handler.ts';
import type { Clock, Random } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { PortAnswer } from './history.ts';
import type { EventTransaction } from './transaction.ts';

/** A handler that runs longer is named in the log, again and again. */
const SLOW_MS = 5_000;
/** A handler that runs longer hangs: its context is revoked and the agent ends as fatal. */
const HARD_LIMIT_MS = 60_000;

interface HandlerCall {
  readonly event: Event;
  readonly kubeState: KubeState;
  readonly resyncCount: number;
  readonly txn: EventTransaction;
  readonly replies: readonly unknown[];
  readonly answers: PortAnswer[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  followUp(event: NonBlockingEvent): void;
}

export interface HandlerOutcome {
  readonly change?: string | undefined;
  readonly reply?: unknown;
  readonly error?: Error;
}

/** Never rejects: whatever a handler throws is part of its outcome. */
export async function runHandler(
  handler: EventHandler,
  what: EventMethod | 'revert',
  call: HandlerCall,
): Promise<HandlerOutcome> {
  const revoked = new AbortController();
  const ensureValid = (): void => {
    if (revoked.signal.aborted) throw revoked.signal.reason;
  };
  const context = {
    ...call,
    txn: guarded(call.txn, ensureValid),
    signal: revoked.signal,
    followUp: (event: NonBlockingEvent) => {
      ensureValid();
      call.followUp(event);
    },
    async ask<T>(question: string, port: () => Promise<T> | T): Promise<T> {
      ensureValid();
      try {
        const answer = await port();
        ensureValid();
        call.answers.push({ handler: handler.name, question, answer });
        return answer;
      } catch (error) {
        const text = errorText(error);
        call.answers.push({ handler: handler.name, question, answer: undefined, error: text });
        throw error;
      }
    },
  };
  const run = async (): Promise<UpdateResult> => {
    if (what === 'revert') await handler.revert(context);
    else if (what === EventMethod.Update) return (await handler.update(context)) ?? {};
    else await handler.resync(context);
    return {};
  };
  const limit = new Limit(handler.name, call);
  try {
    return await Promise.race([run(), limit.reached]);
  } catch (thrown) {
    return { error: asError(handler.name, thrown) };
  } finally {
    limit.cancel();
    revoked.abort(new AbortEventError('the event is over', { where: handler.name }));
  }
}

/** The transaction as one handler may use it, until its turn is over. */
function guarded(txn: EventTransaction, ensureValid: () => void) {
  return {
    put: (key: string, value: object) => {
      ensureValid();
      txn.put(key, value);
    },
    get: <V extends object>(key: string) => txn.get<V>(key),
    delete: (key: string) => {
      ensureValid();
      txn.delete(key);
    },
  };
}

/** Something that is no error at all is named with the handler that threw it. */
function asError(handler: string, thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  return new Error(`${handler} threw ${typeof thrown} ${String(thrown)}`);
}

/**
 * Counts in steps: a process that was stopped and goes on has used up one of them, not all, so that
 * the handler gets to see what has arrived meanwhile.
 */
class Limit {
  /** Rejects with a FatalError past the hard limit. */
  readonly reached: Promise<never>;
  readonly #call: HandlerCall;
  readonly #handler: string;
  #ageMs = 0;
  #fail: (error: Error) => void = () => undefined;
  #timer: { cancel(): void };

  constructor(handler: string, call: HandlerCall) {
    this.#handler = handler;
    this.#call = call;
    this.reached = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.#timer = this.#next();
  }

  cancel(): void {
    this.#timer.cancel();
  }

  #next(): { cancel(): void } {
    return this.#call.clock.timer(SLOW_MS, () => {
      this.#ageMs += SLOW_MS;
      const ageMs = this.#ageMs;
      const what = { handler: this.#handler, event: this.#call.event.kind.id, ageMs };
      if (ageMs >= HARD_LIMIT_MS) {
        this.#fail(new FatalError(`handler hangs for ${ageMs} ms`, { where: this.#handler }));
        return;
      }
      this.#call.log.warn(what, 'event handler is slow');
      this.#timer = this.#next();
    });
  }
}
