import { Readable } from 'node:stream';

/** The reply of another agent, as fast as the client takes it. When the client leaves, the request to the agent ends. */
export class RelayedBody extends Readable {
  readonly #pieces: AsyncIterator<Uint8Array, void, void>;
  readonly #end: () => void;

  /** @param end ends the request; also called when the reply is complete */
  constructor(pieces: AsyncIterator<Uint8Array, void, void>, end: () => void) {
    super();
    this.#pieces = pieces;
    this.#end = end;
  }

  /** Resolves when the other agent has begun to answer. Rejects when it has not. */
  async begin(): Promise<void> {
    try {
      this.#take(await this.#pieces.next());
    } catch (thrown) {
      this.#end();
      throw thrown;
    }
  }

  override _read(): void {
    this.#pieces.next().then(
      (result) => this.#take(result),
      (thrown: Error) => this.destroy(thrown),
    );
  }

  // Not the iterator's `return`: it would wait for the next piece.
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#end();
    done(error);
  }

  #take(result: IteratorResult<Uint8Array, void>): void {
    if (!this.destroyed) this.push(result.done ? null : result.value);
  }
}
