import { AsyncLocalStorage } from 'node:async_hooks';

/** A call that others can be made from; what continues after its end does not belong to it. */
export interface GuardedCall {
  readonly isOver: boolean;
}

/**
 * Recognizes whether code runs as part of a call, over awaits and callbacks: to refuse what would wait
 * for the end of that very call.
 */
export class ReentryGuard {
  readonly #calls = new AsyncLocalStorage<GuardedCall>();

  run<A extends unknown[], T>(call: GuardedCall, body: (...args: A) => T, ...args: A): T {
    return this.#calls.run(call, body, ...args);
  }

  /** Whether the code that reads it belongs to a call that has not ended. */
  get isInside(): boolean {
    return this.#calls.getStore()?.isOver === false;
  }
}
