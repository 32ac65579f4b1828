/**
 * Frames of the API socket, the same in both directions: a header of 16 bytes, of which only the
 * payload length at offset 8 is used, then the payload, which is one message.
 */
import { Buffer } from 'node:buffer';
import { InvalidMessageError } from './api.ts';
import type { MessageCodec } from './codec/codec.ts';
import type { Reader } from './codec/runtime.ts';
import { viewOf, type Writer } from './codec/writer.ts';

export const FRAME_HEADER = 16;
const LENGTH_OFFSET = 8;

/** Far above any message of the API; a longer frame means that the stream is out of sync. */
export const MAX_FRAME = 16 * 1024 * 1024;

/**
 * Appends one message with its header; the writer is unchanged when a field is invalid.
 * @throws InvalidMessageError
 */
export function writeFrame(
  writer: Writer,
  codec: MessageCodec,
  fields: object,
  id: number,
  clientIndex: number,
  context: number,
): void {
  const start = writer.length;
  writer.ensure(start, FRAME_HEADER);
  for (let at = start; at < start + FRAME_HEADER; at += 4) writer.view.setUint32(at, 0);
  writer.length = start + FRAME_HEADER;
  try {
    codec.encode(writer, fields, id, clientIndex, context);
  } catch (error) {
    writer.length = start;
    throw error;
  }
  writer.view.setUint32(start + LENGTH_OFFSET, writer.length - start - FRAME_HEADER);
}

/**
 * Splits a byte stream into messages. Buffers at most one incomplete frame, and only the bytes that
 * have arrived, whatever length its header declares.
 */
export class FrameReader {
  readonly #limit: number;
  /** The unfinished frame, grown as bytes arrive. */
  #unfinished = Buffer.alloc(0);
  #bufferedBytes = 0;
  /** Of the buffer of the last chunk: a socket reads every chunk into the same one. */
  #reader: Reader = readerOf(Buffer.alloc(0));

  /** @param limit longest accepted payload, in bytes */
  constructor(limit = MAX_FRAME) {
    this.#limit = limit;
  }

  /** Bytes reserved for an incomplete frame. */
  get reserved(): number {
    return this.#unfinished.length;
  }

  /**
   * Calls back once per complete message. The reader is valid during the call only.
   * @throws InvalidMessageError when the stream is not a sequence of frames; nothing more can be read
   */
  push(chunk: Uint8Array, onMessage: (reader: Reader) => void): void {
    let at = 0;
    while (this.#bufferedBytes > 0) {
      const expected =
        this.#bufferedBytes < FRAME_HEADER
          ? FRAME_HEADER
          : this.#frameLength(viewOf(this.#unfinished), 0);
      if (this.#bufferedBytes < expected) {
        const taken = Math.min(expected - this.#bufferedBytes, chunk.length - at);
        this.#buffer(chunk.subarray(at, at + taken), expected);
        at += taken;
        if (this.#bufferedBytes < expected) return;
      } else {
        const frame = this.#unfinished.subarray(0, expected);
        this.#unfinished = Buffer.alloc(0);
        this.#bufferedBytes = 0;
        onMessage({ ...readerOf(frame), position: FRAME_HEADER, end: expected });
      }
    }
    if (at < chunk.length) this.#split(chunk, at, onMessage);
  }

  #frameLength(view: DataView, start: number): number {
    const length = view.getUint32(start + LENGTH_OFFSET);
    if (length < 2 || length > this.#limit)
      throw new InvalidMessageError(`invalid frame length: ${length} bytes`);
    return FRAME_HEADER + length;
  }

  /** Doubles the buffer, up to the length of the frame: copying stays linear for small chunks. */
  #buffer(part: Uint8Array, expected: number): void {
    const needed = this.#bufferedBytes + part.length;
    if (needed > this.#unfinished.length) {
      const room = Buffer.allocUnsafeSlow(
        Math.min(expected, Math.max(needed, 2 * this.#bufferedBytes)),
      );
      room.set(this.#unfinished.subarray(0, this.#bufferedBytes));
      this.#unfinished = room;
    }
    this.#unfinished.set(part, this.#bufferedBytes);
    this.#bufferedBytes = needed;
  }

  /** Positions are those in the buffer of the chunk. */
  #split(chunk: Uint8Array, at: number, onMessage: (reader: Reader) => void): void {
    if (chunk.buffer !== this.#reader.bytes.buffer)
      this.#reader = readerOf(new Uint8Array(chunk.buffer));
    const reader = this.#reader;
    const end = chunk.byteOffset + chunk.length;
    let start = chunk.byteOffset + at;
    while (end - start >= FRAME_HEADER) {
      const next = start + this.#frameLength(reader.view, start);
      if (next > end) break;
      reader.position = start + FRAME_HEADER;
      reader.end = next;
      start = next;
      onMessage(reader);
    }
    if (start < end) this.#buffer(chunk.subarray(start - chunk.byteOffset), end - start);
  }
}

/** At the start of the bytes. */
function readerOf(part: Uint8Array): Reader {
  const bytes = Buffer.from(part.buffer, part.byteOffset, part.length);
  return { bytes, view: viewOf(bytes), position: 0, end: 0 };
}
