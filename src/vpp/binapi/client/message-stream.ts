import type { Clock } from '#infra/clock/clock.ts';
import type { Transport } from '../api.ts';
import type { MessageCodec } from '../codec/codec.ts';
import type { Reader } from '../codec/runtime.ts';
import { Writer } from '../codec/writer.ts';
import { FrameReader, writeFrame } from '../frame.ts';

/** Bytes of one write; the rest of a burst follows when the transport has accepted them. */
const WRITE_SIZE = 64 * 1024;

const WRITER_SIZE = 4096;

/** Event-loop turns after which a peer that keeps sending is treated as drained. */
const DRAIN_TURNS = 64;

/** Messages over a transport: splits incoming data into messages, and writes bursts at once. */
export class MessageStream {
  onMessage: (reader: Reader) => void = () => undefined;
  /** Called after the last message of a chunk. */
  onChunk: () => void = () => undefined;
  /** Called when messages can be appended again. */
  onDrain: () => void = () => undefined;
  /** Called once, unless this side closed first. */
  onLost: (error: Error) => void = () => undefined;
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #frames: FrameReader;
  #writer = new Writer(WRITER_SIZE);
  #chunks = 0;
  #messages = 0;
  #isBlocked = false;
  #isScheduled = false;
  #isOpen = true;

  constructor(transport: Transport, clock: Clock) {
    this.#transport = transport;
    this.#clock = clock;
    this.#frames = new FrameReader();
    transport.onData = (bytes) => this.#receive(bytes);
    transport.onDrain = () => {
      this.#isBlocked = false;
      this.onDrain();
    };
    transport.onClose = (error) => this.#lose(error ?? new Error('the connection was closed'));
  }

  /** Number of received messages: it increases while the peer is alive. */
  get messages(): number {
    return this.#messages;
  }

  /** Whether a message may be appended now; otherwise wait for `onDrain`. */
  get isWritable(): boolean {
    return !this.#isBlocked && this.#writer.length < WRITE_SIZE;
  }

  /**
   * Appends a message to the burst, which is written at the end of the running task.
   * @throws InvalidMessageError when a field is invalid; nothing is appended then
   */
  append(
    codec: MessageCodec,
    fields: object,
    id: number,
    clientIndex: number,
    context: number,
  ): void {
    writeFrame(this.#writer, codec, fields, id, clientIndex, context);
    this.#schedule();
  }

  /** Appends frames that are already encoded. */
  appendFrames(frames: Uint8Array): void {
    const { length } = this.#writer;
    this.#writer.ensure(length, frames.length);
    this.#writer.bytes.set(frames, length);
    this.#writer.length = length + frames.length;
    this.#schedule();
  }

  /**
   * Resolves when all arrived data is read: after a stall of this process, answers may still be in
   * the socket when the timers fire.
   */
  async drained(): Promise<void> {
    for (let turn = 0, seen = -1; seen !== this.#chunks && turn < DRAIN_TURNS; turn++) {
      seen = this.#chunks;
      await this.#clock.turn();
    }
  }

  close(): void {
    this.#isOpen = false;
    this.#transport.close();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    this.#isScheduled = false;
    if (!this.#isOpen || this.#writer.length === 0) return;
    const { bytes, length } = this.#writer;
    const isWritable = this.#transport.write(bytes.subarray(0, length));
    // a socket mostly accepts all at once: then nothing is copied or allocated for a burst
    if (this.#transport.isWriting) this.#writer = new Writer(WRITER_SIZE);
    else this.#writer.length = 0;
    if (isWritable) this.onDrain();
    else this.#isBlocked = true;
  }

  #receive(bytes: Uint8Array): void {
    if (!this.#isOpen) return;
    this.#chunks++;
    try {
      this.#frames.push(bytes, (reader) => {
        this.#messages++;
        if (this.#isOpen) this.onMessage(reader);
      });
    } catch (error) {
      this.#transport.close();
      this.#lose(error as Error);
    }
    if (this.#isOpen) this.onChunk();
  }

  #lose(error: Error): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.onLost(error);
  }
}
