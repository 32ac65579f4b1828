import type { MessageCodec } from '../codec/codec.ts';
import type { Reader } from '../codec/runtime.ts';

/** Takes the messages that answer one request. */
export interface PendingRequest {
  /** Name of the request. */
  readonly name: string;
  /** A health probe: silence is judged by its own count. */
  readonly isProbe: boolean;
  /** Messages taken so far: a long dump is alive as long as this grows. */
  readonly receivedMessages: number;
  /**
   * Takes one message with the context of the request. Throws what is wrong with it.
   * @returns whether the answer is complete, still going on, or does not belong here
   */
  accept(codec: MessageCodec, reader: Reader): 'done' | 'more' | 'foreign';
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * The requests that were sent and not yet answered, by context, oldest first. Each leaves exactly
 * once: answered, rejected by what came, or rejected with all others when the connection ends.
 */
export class PendingRequests {
  readonly #byContext = new Map<number, PendingRequest>();

  get size(): number {
    return this.#byContext.size;
  }

  /** The oldest that a time limit applies to. VPP answers in order, so this one is next. */
  get head(): PendingRequest | undefined {
    for (const pending of this.#byContext.values()) if (!pending.isProbe) return pending;
    return undefined;
  }

  has(context: number): boolean {
    return this.#byContext.has(context);
  }

  add(context: number, pending: PendingRequest): void {
    this.#byContext.set(context, pending);
  }

  /** @returns whether the message belonged to a request */
  accept(context: number, codec: MessageCodec, reader: Reader): boolean {
    const pending = this.#byContext.get(context);
    if (!pending) return false;
    try {
      const outcome = pending.accept(codec, reader);
      if (outcome === 'done') {
        this.#byContext.delete(context);
        pending.resolve();
      }
      return outcome !== 'foreign';
    } catch (error) {
      this.#byContext.delete(context);
      pending.reject(error);
      return true;
    }
  }

  /** Takes one out before the others. */
  reject(pending: PendingRequest, error: unknown): void {
    for (const [context, other] of this.#byContext)
      if (other === pending) this.#byContext.delete(context);
    pending.reject(error);
  }

  rejectAll(errorFor: (pending: PendingRequest) => unknown): void {
    const all = [...this.#byContext.values()];
    this.#byContext.clear();
    for (const pending of all) pending.reject(errorFor(pending));
  }
}
