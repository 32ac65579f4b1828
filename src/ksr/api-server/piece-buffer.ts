import { ApiResponseError } from './api-errors.ts';

/** etcd takes 1.5 MB by default; more comes from a server that sends something else. */
const MAX_OBJECT_BYTES = 32 << 20;

/** Collects the bytes of one object that arrive in several pieces. */
export class PieceBuffer {
  #pieces: Buffer[] = [];
  #length = 0;

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** @throws ApiResponseError */
  add(piece: Uint8Array, begin: number): void {
    if (begin >= piece.length) return;
    this.#pieces.push(asBuffer(piece).subarray(begin));
    this.#length += piece.length - begin;
    if (this.#length > MAX_OBJECT_BYTES)
      throw new ApiResponseError(`an object is larger than ${MAX_OBJECT_BYTES} bytes`);
  }

  /** The text of the object that ends in this piece; the buffer is empty afterwards. */
  take(piece: Uint8Array, begin: number, end: number): string {
    const last = asBuffer(piece);
    if (this.isEmpty) return last.toString('utf8', begin, end);
    const text = Buffer.concat([...this.#pieces, last.subarray(0, end)]).toString();
    this.#pieces = [];
    this.#length = 0;
    return text;
  }
}

function asBuffer(piece: Uint8Array): Buffer {
  return Buffer.isBuffer(piece)
    ? piece
    : Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
}
