import type { MessageCodec } from '../codec/codec.ts';
import type { Reader } from '../codec/runtime.ts';

/** CLI commands may last: they have a limit of their own, and it ends the request, not the connection. */
export type ReplyLimit = 'reply' | 'command' | 'none';

/** A request that waits for its answer. */
export interface PendingRequest {
  /** Name of the request. */
  readonly name: string;
  /** Limit of the wait for its answer; none for a health probe, and for a request that was given up. */
  readonly limit: ReplyLimit;
  /** A health probe is not waited for: other messages prove that VPP is alive, too. */
  readonly isProbe: boolean;
  /** Number of messages received so far: a long dump makes progress as long as this grows. */
  readonly receivedMessages: number;
  /**
   * Handles one message with the context of the request. Throws if the message is invalid.
   * @returns whether the answer is complete or incomplete, or the message is unexpected
   */
  accept(codec: MessageCodec, reader: Reader): 'done' | 'more' | 'unexpected';
  resolve(): void;
  reject(error: unknown): void;
}

/** A power of two, far above the number of requests in flight. */
const SLOTS = 1024;

/**
 * The requests that were sent and not yet answered. Each one settles exactly once: by its answer, by
 * an invalid answer, or with all others when the connection ends.
 *
 * Contexts are consecutive numbers, so that their low bits are the slot of the request: nothing is
 * allocated for a request, and the oldest one follows the last one that was answered.
 */
export class PendingRequests {
  readonly #slots: (PendingRequest | undefined)[] = new Array(SLOTS).fill(undefined);
  /** Context of the request in each slot. */
  readonly #contexts = new Uint32Array(SLOTS);
  #size = 0;
  #nextContext = 1;
  /** No request that is not yet answered was sent before the one with this context. */
  #oldest = 1;

  get size(): number {
    return this.#size;
  }

  /** The oldest request but for health probes. VPP answers in order: it is next. */
  get head(): PendingRequest | undefined {
    if (this.#size === 0) this.#oldest = this.#nextContext;
    else while (this.#slots[this.#oldest % SLOTS] === undefined) this.#oldest = after(this.#oldest);
    let left = this.#size;
    for (let context = this.#oldest; left > 0; context = after(context)) {
      const pending = this.#slots[context % SLOTS];
      if (pending?.isProbe === false) return pending;
      if (pending) left--;
    }
    return undefined;
  }

  /** The context for the next request. */
  nextContext(): number {
    while (this.#slots[this.#nextContext % SLOTS] !== undefined)
      this.#nextContext = after(this.#nextContext);
    return this.#nextContext;
  }

  /** @param context from `nextContext` */
  add(context: number, pending: PendingRequest): void {
    this.#slots[context % SLOTS] = pending;
    this.#contexts[context % SLOTS] = context;
    this.#size++;
    this.#nextContext = after(context);
  }

  /** @returns whether the message belonged to a request */
  accept(context: number, codec: MessageCodec, reader: Reader): boolean {
    const slot = context % SLOTS;
    const pending = this.#slots[slot];
    if (!pending || this.#contexts[slot] !== context) return false;
    try {
      const outcome = pending.accept(codec, reader);
      if (outcome === 'done') {
        this.#delete(slot);
        pending.resolve();
      }
      return outcome !== 'unexpected';
    } catch (error) {
      this.#delete(slot);
      pending.reject(error);
      return true;
    }
  }

  /** Rejects a request whose answer may still arrive: it keeps its place, and its answer is ignored. */
  giveUp(pending: PendingRequest, error: unknown): void {
    const slot = this.#slots.indexOf(pending);
    if (slot >= 0) this.#slots[slot] = new GivenUpRequest(pending);
    pending.reject(error);
  }

  /** Rejects one request before the others. */
  reject(pending: PendingRequest, error: unknown): void {
    const slot = this.#slots.indexOf(pending);
    if (slot >= 0) this.#delete(slot);
    pending.reject(error);
  }

  /** Rejects all, the oldest first. */
  rejectAll(errorFor: (pending: PendingRequest) => unknown): void {
    const all: PendingRequest[] = [];
    for (let i = 0; i < SLOTS; i++) {
      const slot = (this.#oldest + i) % SLOTS;
      const pending = this.#slots[slot];
      if (!pending) continue;
      all.push(pending);
      this.#delete(slot);
    }
    for (const pending of all) pending.reject(errorFor(pending));
  }

  #delete(slot: number): void {
    this.#slots[slot] = undefined;
    this.#size--;
  }
}

/** Takes the answer to a request that was rejected. */
class GivenUpRequest implements PendingRequest {
  readonly name: string;
  readonly isProbe = false;
  readonly limit = 'none';
  readonly receivedMessages = 0;
  readonly #request: PendingRequest;

  constructor(request: PendingRequest) {
    this.name = request.name;
    this.#request = request;
  }

  accept(codec: MessageCodec, reader: Reader): 'done' | 'more' | 'unexpected' {
    return this.#request.accept(codec, reader);
  }

  resolve(): void {}

  reject(): void {}
}

function after(context: number): number {
  return (context + 1) >>> 0;
}
