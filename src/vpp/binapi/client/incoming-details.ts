import type { MessageCodec } from '../codec/codec.ts';
import type { Reader } from '../codec/runtime.ts';

/** Receives the fields of one message of a dump. */
export type Take = (details: object) => void;

/**
 * The details of one dump: each is decoded and taken when it arrives. After the first error the others
 * are skipped, because VPP sends the dump to its end.
 */
export class IncomingDetails {
  readonly codec: MessageCodec;
  readonly #take: Take;
  #failure: { readonly error: unknown } | undefined;
  #received = 0;

  constructor(codec: MessageCodec, take: Take) {
    this.codec = codec;
    this.#take = take;
  }

  get received(): number {
    return this.#received;
  }

  accept(reader: Reader): void {
    this.#received++;
    if (this.#failure !== undefined) return;
    try {
      this.#take(this.codec.decode(reader));
    } catch (error) {
      this.#failure = { error };
    }
  }

  /** @throws the first error of decoding or taking */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
