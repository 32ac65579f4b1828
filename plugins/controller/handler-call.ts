/** One call of one handler: its context, its time limits, its outcome. */
import { inspect } from 'node:util';
import type { Clock, Random, Timer } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
import type { ReentryGuard } from '#infra/process/reentry-guard.ts';
import { allSettled } from '#infra/rollback/rollback.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import { AbortEventError, FatalError } from './api/errors.ts';
import type { Event, NonBlockingEvent } from './api/event.ts';
import type {
  EventHandler,
  KubeState,
  ResyncContext,
  Tell,
  Undo,
  UpdateContext,
  UpdateResult,
} from './api/event-handler.ts';
import type { Journal } from './api/journal.ts';
import type { KeyValue } from './api/key-value.ts';
import type { ReplaceOptions } from './api/transaction.ts';
import type { EventTransaction } from './event-transaction.ts';

/** A handler that runs longer is logged, and again after each further interval. */
const SLOW_MS = 5_000;
/** A handler that runs longer hangs: its context is revoked and the event ends as fatal. */
const HARD_LIMIT_MS = 60_000;

/** Event and clock of a call, and the log of the loop. */
interface CallEnvironment {
  readonly event: Event;
  readonly clock: Clock;
  readonly log: Logger;
}

interface HandlerCall extends CallEnvironment {
  readonly kubeState: KubeState;
  readonly resyncCount: number;
  readonly isStateLocal: boolean;
  readonly isStateNew: boolean;
  readonly txn: EventTransaction;
  readonly replies: readonly unknown[];
  readonly random: Random;
  /** Of the handler, for this event. */
  readonly handlerLog: Logger;
  /** Recognizes a handler that would wait for the event loop. */
  readonly guard: ReentryGuard;
  readonly journal: Journal;
  followUp(event: NonBlockingEvent): void;
  onRevert(undo: Undo): void;
  onSuccess(tell: Tell): void;
}

/** A call of `resync`, `update`, or an undo. */
export type HandlerCallBody = (
  ctx: ResyncContext & UpdateContext,
) => ReturnType<EventHandler['update']>;

export interface HandlerOutcome extends UpdateResult {
  readonly error?: Error | undefined;
  /** Work that must end before the transaction: resolves to its error. Undefined: there is none. */
  readonly pending?: Promise<Error | undefined>;
}

/**
 * Calls a handler; never rejects: an error that it throws is part of the outcome.
 * @param name of the handler
 */
export async function callHandler(
  name: string,
  body: HandlerCallBody,
  call: HandlerCall,
): Promise<HandlerOutcome> {
  const { context, state, pending, revoke } = contextOf(name, call);
  let outcome: HandlerOutcome;
  try {
    const calling = call.guard.run(state, () => body(context));
    outcome = (await withTimeLimit(name, calling, call)) ?? {};
  } catch (thrown) {
    outcome = { error: asError(name, thrown) };
  }
  if (pending.length === 0) {
    revoke();
    return outcome;
  }
  // after a failure, too: nothing may be under way when the event is reverted
  const ended = withTimeLimit(name, allSettled(pending), call)
    .then(
      () => undefined,
      (thrown) => asError(name, thrown),
    )
    .finally(revoke);
  return { ...outcome, pending: ended };
}

/**
 * The context of one call, valid until the call ends: a handler that continues later must not write.
 * All properties are own properties, so that a copy with some of them replaced works too.
 */
function contextOf(name: string, call: HandlerCall) {
  const state = { isOver: false };
  const pending: Promise<unknown>[] = [];
  /** Created on first use of the signal, because few handlers use it. */
  let abort: AbortController | undefined;
  const reason = (): Error => new AbortEventError('the event is over', { where: name });
  const ensureValid = (): void => {
    if (state.isOver) throw reason();
  };
  const { txn } = call;
  const context = {
    event: call.event,
    kubeState: call.kubeState,
    resyncCount: call.resyncCount,
    isStateLocal: call.isStateLocal,
    isStateNew: call.isStateNew,
    journal: call.journal,
    replies: Object.freeze([...call.replies]),
    clock: call.clock,
    random: call.random,
    get log(): Logger {
      return call.handlerLog;
    },
    txn: {
      replace: (group: string, values: Iterable<KeyValue>, options?: ReplaceOptions) => {
        ensureValid();
        txn.replace(name, group, values, options);
      },
      get: <V extends Value>(key: string) => txn.get<V>(key),
    },
    get signal(): AbortSignal {
      abort ??= new AbortController();
      if (state.isOver) abort.abort(reason());
      return abort.signal;
    },
    followUp: (event: NonBlockingEvent) => {
      ensureValid();
      call.followUp(event);
    },
    onRevert: (undo: Undo) => {
      ensureValid();
      call.onRevert(undo);
    },
    onSuccess: (tell: Tell) => {
      ensureValid();
      call.onSuccess(tell);
    },
    beforeCommit: (work: Promise<unknown>) => {
      ensureValid();
      pending.push(work);
      // it may fail before anything waits for it
      work.catch(() => undefined);
    },
    callPort: async <T>(_name: string, call: () => Promise<T> | T): Promise<T> => {
      ensureValid();
      const result = await call();
      ensureValid();
      return result;
    },
  } satisfies ResyncContext & UpdateContext;
  const revoke = (): void => {
    state.isOver = true;
    abort?.abort(reason());
  };
  return { context, state, pending, revoke };
}

/** A thrown value that is not an Error, or has no readable message, is wrapped and names the handler. */
function asError(handler: string, thrown: unknown): Error {
  try {
    if (thrown instanceof Error && typeof thrown.message === 'string') return thrown;
  } catch {
    // The message cannot be read.
  }
  const text = typeof thrown === 'string' ? thrown : inspect(thrown, { depth: 1 });
  return new Error(`${handler} threw ${typeof thrown} ${text}`, { cause: thrown });
}

/**
 * Waits for a call up to the hard limit. A call that has already ended needs no timer: a timer per
 * call would cost more than most calls.
 * @throws the error of the call; FatalError when the call exceeds the limit
 */
export async function withTimeLimit<T>(
  name: string,
  call: Promise<T> | T,
  around: CallEnvironment,
): Promise<T> {
  if (!isPromise(call)) return call;
  const limit = new TimeLimit(name, around);
  try {
    return await Promise.race([call, limit.reached]);
  } finally {
    limit.cancel();
  }
}

function isPromise<T>(value: Promise<T> | T): value is Promise<T> {
  return typeof (value as Partial<Promise<T>> | null | undefined)?.then === 'function';
}

/**
 * Counts in intervals: a process that was stopped and continued has used up only one interval, so
 * that the handler can still receive what has arrived meanwhile.
 */
class TimeLimit {
  /** Rejects with a FatalError past the hard limit. */
  readonly reached: Promise<never>;
  readonly #environment: CallEnvironment;
  readonly #name: string;
  #ageMs = 0;
  #fail: (error: Error) => void = () => undefined;
  #timer: Timer;

  constructor(name: string, around: CallEnvironment) {
    this.#name = name;
    this.#environment = around;
    this.reached = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.#timer = this.#next();
  }

  cancel(): void {
    this.#timer.cancel();
  }

  #next(): Timer {
    return this.#environment.clock.timer(SLOW_MS, () => {
      this.#ageMs += SLOW_MS;
      const ageMs = this.#ageMs;
      const what = { handler: this.#name, event: this.#environment.event.kind.id, ageMs };
      if (ageMs >= HARD_LIMIT_MS) {
        this.#fail(new FatalError(`handler hangs for ${ageMs} ms`, { where: this.#name }));
        return;
      }
      this.#environment.log.warn(what, 'event handler is slow');
      this.#timer = this.#next();
    });
  }
}
