import type { MessageCodec } from '../codec/codec.ts';
import type { Reader } from '../codec/runtime.ts';

/** A request that waits for its answer. */
export interface PendingRequest {
  /** Name of the request. */
  readonly name: string;
  /** A health probe: the reply timeout does not apply to it. */
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

/**
 * The requests that were sent and not yet answered, by context, oldest first. Each one settles
 * exactly once: by its answer, by an invalid answer, or with all others when the connection ends.
 */
export class PendingRequests {
  readonly #byContext = new Map<number, PendingRequest>();

  get size(): number {
    return this.#byContext.size;
  }

  /** The oldest request to which the reply timeout applies. VPP answers in order: it is next. */
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
      return outcome !== 'unexpected';
    } catch (error) {
      this.#byContext.delete(context);
      pending.reject(error);
      return true;
    }
  }

  /** Rejects one request before the others. */
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
