/**
 * Filter for the bytes of an HTTP/2 client: replaces the slashes in `:authority` (see
 * `header-blocks.ts`). Only HEADERS and CONTINUATION frames are read; they are held back until their
 * header block is complete, which delays nothing: the server needs the complete block, too. Everything
 * else passes as it is, without a copy. After malformed bytes everything does, for the server to reject.
 */
import { HeaderBlocks } from './header-blocks.ts';

const PREFACE_BYTES = 24;
const FRAME_HEADER_BYTES = 9;

const HEADERS = 0x1;
const CONTINUATION = 0x9;
const END_HEADERS = 0x4;
const PADDED = 0x8;
const PRIORITY = 0x20;
const PRIORITY_BYTES = 5;

/** Default of SETTINGS_MAX_FRAME_SIZE, which the gRPC server leaves as it is. */
const MAX_FRAME_BYTES = 16_384;

/** Limits of the HTTP/2 of Node.js: it closes a connection that exceeds them. */
const MAX_BLOCK_BYTES = 65_536;
const MAX_CONTINUATIONS = 8;

export class AuthorityFilter {
  readonly #blocks = new HeaderBlocks();
  /** Bytes that pass as they are: the rest of a frame, or the preface. Infinity: all further ones. */
  #passing = PREFACE_BYTES;
  /** Frames of an incomplete header block. */
  #frames: Buffer[] = [];
  /** Pieces of the frame that is read, and the bytes it needs: its header, then its whole length. */
  #pieces: Buffer[] = [];
  #missing = FRAME_HEADER_BYTES;

  /** @returns what follows for the server, in order; parts of header blocks may be held back */
  filter(bytes: Buffer): readonly Buffer[] {
    const out: Buffer[] = [];
    let rest = bytes;
    const take = (length: number): Buffer => {
      const taken = rest.subarray(0, length);
      rest = rest.subarray(taken.length);
      return taken;
    };
    while (rest.length > 0) {
      if (this.#passing > 0) {
        const passed = take(this.#passing);
        this.#passing -= passed.length;
        out.push(passed);
        continue;
      }
      const piece = take(this.#missing);
      this.#pieces.push(piece);
      this.#missing -= piece.length;
      if (this.#missing === 0) out.push(...this.#read(Buffer.concat(this.#pieces)));
    }
    return out;
  }

  /** @returns the bytes that are held back, at the end of the connection */
  end(): readonly Buffer[] {
    return this.#pass(Number.POSITIVE_INFINITY);
  }

  /** @param bytes a frame, or its header */
  #read(bytes: Buffer): readonly Buffer[] {
    const length = bytes.readUIntBE(0, 3);
    const type = bytes[3]!;
    const isExpected = this.#frames.length === 0 ? type === HEADERS : type === CONTINUATION;
    this.#pieces = [bytes];
    // Another frame inside a header block is an error of the client.
    if (!isExpected)
      return this.#pass(this.#frames.length === 0 ? length : Number.POSITIVE_INFINITY);
    if (length > MAX_FRAME_BYTES) return this.#pass(Number.POSITIVE_INFINITY);
    this.#missing = FRAME_HEADER_BYTES + length - bytes.length;
    if (this.#missing > 0) return [];
    this.#frames.push(bytes);
    this.#pieces = [];
    this.#missing = FRAME_HEADER_BYTES;
    if (this.#frames.length > MAX_CONTINUATIONS + 1) return this.#pass(Number.POSITIVE_INFINITY);
    if ((bytes[4]! & END_HEADERS) === 0) return [];
    return this.#pass(this.#rewrite() ? 0 : Number.POSITIVE_INFINITY);
  }

  /** Releases what is held back, and lets this many further bytes pass. */
  #pass(length: number): readonly Buffer[] {
    const released = [...this.#frames, ...this.#pieces];
    this.#frames = [];
    this.#pieces = [];
    this.#missing = FRAME_HEADER_BYTES;
    this.#passing = length;
    return released;
  }

  /** @returns false if the frames are malformed; then they are unchanged */
  #rewrite(): boolean {
    const fragments = this.#frames.map(fragmentOf);
    const block = Buffer.concat(fragments);
    if (block.length > MAX_BLOCK_BYTES || !this.#blocks.rewrite(block)) return false;
    let at = 0;
    for (const fragment of fragments) at += block.copy(fragment, 0, at);
    return true;
  }
}

/** The part of the header block in a frame. */
function fragmentOf(frame: Buffer): Buffer {
  const isHeaders = frame[3] === HEADERS;
  const flags = isHeaders ? frame[4]! : 0;
  const isPadded = (flags & PADDED) !== 0;
  const start =
    FRAME_HEADER_BYTES + (isPadded ? 1 : 0) + ((flags & PRIORITY) !== 0 ? PRIORITY_BYTES : 0);
  const padding = isPadded ? (frame[FRAME_HEADER_BYTES] ?? 0) : 0;
  // More padding than bytes is an error that the server recognizes; the empty block changes nothing.
  return frame.subarray(start, Math.max(start, frame.length - padding));
}
