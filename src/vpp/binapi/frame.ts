/**
 * Frames of the API socket, the same in both directions: 16 bytes, of which only the payload length
 * at 8 matters, then the payload, which is one message.
 */
import { Buffer } from 'node:buffer';
import { InvalidMessageError } from './api.ts';
import type { MessageCodec } from './codec/codec.ts';
import type { Reader } from './codec/runtime.ts';
import { viewOf, type Writer } from './codec/writer.ts';

export const FRAME_HEADER = 16;
const LENGTH_OFFSET = 8;

/** No message of the API comes near this; a longer one is a stream out of step. */
export const MAX_FRAME = 16 * 1024 * 1024;

/**
 * Appends one message with its header; the writer stays as it was when a field is refused.
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
 * Cuts a stream of bytes into messages. Holds at most one unfinished frame: what has arrived of it,
 * never what its header promises.
 */
export class FrameReader {
  readonly #limit: number;
  /** The unfinished frame, grown as bytes arrive. */
  #unfinished = Buffer.alloc(0);
  #bufferedBytes = 0;

  /** @param limit longest payload that is taken for one, in bytes */
  constructor(limit = MAX_FRAME) {
    this.#limit = limit;
  }

  /** Bytes reserved for an unfinished frame. */
  get reserved(): number {
    return this.#unfinished.length;
  }

  /**
   * Calls back once per complete message. The reader is good during the call only.
   * @throws InvalidMessageError when the stream is no sequence of frames; it cannot be read further
   */
  push(chunk: Uint8Array, onMessage: (reader: Reader) => void): void {
    let at = 0;
    while (this.#bufferedBytes > 0) {
      const wanted =
        this.#bufferedBytes < FRAME_HEADER
          ? FRAME_HEADER
          : this.#frameLength(viewOf(this.#unfinished), 0);
      if (this.#bufferedBytes < wanted) {
        const taken = Math.min(wanted - this.#bufferedBytes, chunk.length - at);
        this.#buffer(chunk.subarray(at, at + taken), wanted);
        at += taken;
        if (this.#bufferedBytes < wanted) return;
      } else {
        const frame = this.#unfinished.subarray(0, wanted);
        this.#unfinished = Buffer.alloc(0);
        this.#bufferedBytes = 0;
        onMessage(readerOf(frame, FRAME_HEADER, wanted));
      }
    }
    if (at < chunk.length) this.#split(chunk.subarray(at), onMessage);
  }

  #frameLength(view: DataView, start: number): number {
    const length = view.getUint32(start + LENGTH_OFFSET);
    if (length < 2 || length > this.#limit)
      throw new InvalidMessageError(`a frame says that it holds ${length} bytes`);
    return FRAME_HEADER + length;
  }

  /** Doubles the room, up to the length of the frame: copying stays linear however small the parts. */
  #buffer(part: Uint8Array, wanted: number): void {
    const needed = this.#bufferedBytes + part.length;
    if (needed > this.#unfinished.length) {
      const room = Buffer.allocUnsafeSlow(
        Math.min(wanted, Math.max(needed, 2 * this.#bufferedBytes)),
      );
      room.set(this.#unfinished.subarray(0, this.#bufferedBytes));
      this.#unfinished = room;
    }
    this.#unfinished.set(part, this.#bufferedBytes);
    this.#bufferedBytes = needed;
  }

  #split(chunk: Uint8Array, onMessage: (reader: Reader) => void): void {
    const reader = readerOf(chunk, 0, 0);
    let start = 0;
    while (chunk.length - start >= FRAME_HEADER) {
      const next = start + this.#frameLength(reader.view, start);
      if (next > chunk.length) break;
      reader.position = start + FRAME_HEADER;
      reader.end = next;
      start = next;
      onMessage(reader);
    }
    if (start < chunk.length) this.#buffer(chunk.subarray(start), chunk.length - start);
  }
}

function readerOf(chunk: Uint8Array, position: number, end: number): Reader {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
  return { bytes, view: viewOf(bytes), position, end };
}
