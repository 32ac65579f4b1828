import { errorText } from '#infra/errors/errors.ts';
import { AbortEventError, NotConfiguredError } from './errors.ts';

/**
 * The state of a handler. The event loop keeps it: a resync creates it, an update gets it, and when a resync is
 * aborted, that of before stays. Before the first successful resync there is none, and no update is handled.
 */
export class HandlerState<S> {
  readonly #handler: string;
  #first = firstResync();
  #hasAborted = false;
  #state: { readonly value: S } | undefined;

  /** @param handler its name */
  constructor(handler: string) {
    this.#handler = handler;
  }

  /**
   * Resolves after the first successful resync. It rejects when one before it is aborted, with a NotConfiguredError, and
   * until the next one begins: a request must not wait for it, because it may be minutes later.
   */
  get established(): Promise<void> {
    return this.#first.promise;
  }

  /** Undefined before the first successful resync. */
  get known(): S | undefined {
    return this.#state?.value;
  }

  /** @throws AbortEventError before the first successful resync */
  get current(): S {
    if (!this.#state)
      throw new AbortEventError('nothing is known before the first resync', {
        where: this.#handler,
      });
    return this.#state.value;
  }

  get isKnown(): boolean {
    return this.#state !== undefined;
  }

  /** Called by the event loop with the result of a resync. */
  set(value: S): void {
    this.#state = { value };
  }

  /**
   * Called by the event loop before a resync.
   * @returns called after it: an aborted resync, which has an error, restores the state
   */
  save(): (aborted: Error | undefined) => void {
    const saved = this.#state;
    if (this.#hasAborted) this.#first = firstResync();
    this.#hasAborted = false;
    return (aborted) => {
      if (aborted) {
        this.#state = saved;
        if (!saved) this.#abort(aborted);
      } else if (this.#state) this.#first.resolve();
    };
  }

  #abort(cause: Error): void {
    this.#hasAborted = true;
    const reason = `VPP is not configured, because the last resync failed: ${errorText(cause)}`;
    this.#first.reject(new NotConfiguredError(reason, { cause }));
  }
}

function firstResync(): PromiseWithResolvers<void> {
  const first = Promise.withResolvers<void>();
  // maybe no caller waits
  first.promise.catch(() => undefined);
  return first;
}
