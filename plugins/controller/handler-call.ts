/** One call of one handler: its context, its time limits, its outcome. */
import { inspect } from 'node:util';
import type { Clock, Random, Timer } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import { AbortEventError, FatalError } from './api/errors.ts';
import { type Event, EventMethod, type NonBlockingEvent } from './api/event.ts';
import type { EventHandler, KubeState, ResyncContext, UpdateContext } from './api/event-handler.ts';
import type { EventTransaction } from './event-transaction.ts';

/** A handler that runs longer is named in the log, again and again. */
const SLOW_MS = 5_000;
/** A handler that runs longer hangs: its context is revoked and the event ends as fatal. */
const HARD_LIMIT_MS = 60_000;

/** What a call takes its time limit and its log from. */
interface CallEnvironment {
  readonly event: Event;
  readonly clock: Clock;
  readonly log: Logger;
}

interface HandlerCall extends CallEnvironment {
  readonly kubeState: KubeState;
  readonly resyncCount: number;
  readonly txn: EventTransaction;
  readonly replies: readonly unknown[];
  readonly random: Random;
  followUp(event: NonBlockingEvent): void;
}

export interface HandlerOutcome {
  readonly change?: string | undefined;
  readonly reply?: unknown;
  readonly error?: Error;
}

/** Never rejects: whatever a handler throws is part of its outcome. */
export async function callHandler(
  handler: EventHandler,
  what: EventMethod | 'revert',
  call: HandlerCall,
): Promise<HandlerOutcome> {
  const { context, revoke } = contextOf(handler.name, call);
  try {
    if (what === 'revert') await withTimeLimit(handler.name, handler.revert(context), call);
    else if (what === EventMethod.Update)
      return (await withTimeLimit(handler.name, handler.update(context), call)) ?? {};
    else await withTimeLimit(handler.name, handler.resync(context), call);
    return {};
  } catch (thrown) {
    return { error: asError(handler.name, thrown) };
  } finally {
    revoke();
  }
}

/**
 * The context of one call. It is valid until the call has ended: who wakes up later must not write.
 * All of it stands in the object itself, so that a copy with something else in between works too.
 */
function contextOf(name: string, call: HandlerCall) {
  let isOver = false;
  /** Made when somebody wants its signal: few do. */
  let abort: AbortController | undefined;
  const reason = (): Error => new AbortEventError('the event is over', { where: name });
  const ensureValid = (): void => {
    if (isOver) throw reason();
  };
  const { txn } = call;
  const context = {
    event: call.event,
    kubeState: call.kubeState,
    resyncCount: call.resyncCount,
    replies: call.replies,
    clock: call.clock,
    random: call.random,
    log: call.log,
    txn: {
      put: (key: string, value: Value) => {
        ensureValid();
        txn.put(key, value);
      },
      get: <V extends Value>(key: string) => txn.get<V>(key),
      delete: (key: string) => {
        ensureValid();
        txn.delete(key);
      },
    },
    get signal(): AbortSignal {
      abort ??= new AbortController();
      if (isOver) abort.abort(reason());
      return abort.signal;
    },
    followUp: (event: NonBlockingEvent) => {
      ensureValid();
      call.followUp(event);
    },
    callPort: async <T>(_question: string, port: () => Promise<T> | T): Promise<T> => {
      ensureValid();
      const answer = await port();
      ensureValid();
      return answer;
    },
  } satisfies ResyncContext & UpdateContext;
  const revoke = (): void => {
    isOver = true;
    abort?.abort(reason());
  };
  return { context, revoke };
}

/** What is no error at all, or one that cannot tell what is wrong, is named with its handler. */
function asError(handler: string, thrown: unknown): Error {
  try {
    if (thrown instanceof Error && typeof thrown.message === 'string') return thrown;
  } catch {
    // A message that cannot even be read.
  }
  const text = typeof thrown === 'string' ? thrown : inspect(thrown, { depth: 1 });
  return new Error(`${handler} threw ${typeof thrown} ${text}`, { cause: thrown });
}

/**
 * Waits for a call, as long as a handler may take. What has ended already needs no limit: a timer
 * for each call would cost more than most calls.
 * @throws what the call throws; FatalError when it hangs
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
 * Counts in steps: a process that was stopped and goes on has used up one of them, not all, so that
 * the handler gets to see what has arrived meanwhile.
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
