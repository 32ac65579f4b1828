import { AbortEventError } from './errors.ts';

/**
 * The state of a handler. The event loop keeps it: a resync creates it, an update gets it, and when a resync is
 * aborted, that of before stays. Before the first successful resync there is none, and no update is handled.
 */
export class HandlerState<S> {
  /** Resolves after the first successful resync. */
  readonly established: Promise<void>;
  readonly #handler: string;
  readonly #establish: () => void;
  #state: { readonly value: S } | undefined;

  /** @param handler its name */
  constructor(handler: string) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#handler = handler;
    this.established = promise;
    this.#establish = resolve;
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

  /** Called by the event loop before a resync. @returns called after it: an aborted resync restores the state */
  save(): (isAborted: boolean) => void {
    const saved = this.#state;
    return (isAborted) => {
      if (isAborted) this.#state = saved;
      else if (this.#state) this.#establish();
    };
  }
}
