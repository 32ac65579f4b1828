/** Requests over one socket, and their answers. */
import { aligned, malformed } from './attributes.ts';
import { decodeMessages, encodeRequest, type Message, type Request } from './messages.ts';
import { Refusal } from './refusal.ts';

/** A socket in one network namespace. */
export interface Datagrams {
  send(bytes: Buffer): void;
  /**
   * One datagram. Never waits: the kernel answers a request while it is sent, and a dump while it is read.
   * @returns its length, which may exceed that of the buffer; then the rest is lost
   */
  receive(into: Buffer): number;
}

const EAGAIN = 11;

/** More than the kernel puts into one datagram, except for a link with many virtual functions. */
const INITIAL_BUFFER = 64 * 1024;
/** Of a dump: each time it was changed while it was read, or its answer was larger than the buffer. */
const MAXIMUM_RESTARTS = 20;

export class NetlinkSocket {
  readonly #datagrams: Datagrams;
  #buffer = Buffer.alloc(INITIAL_BUFFER);
  #sequence = 0;

  constructor(datagrams: Datagrams) {
    this.#datagrams = datagrams;
  }

  /** @throws Refusal */
  change(request: Request): void {
    const sequence = this.#send(request);
    for (;;) {
      for (const { end } of this.#receive(sequence) ?? []) {
        if (end === undefined) continue;
        if (end.errno !== 0) throw new Refusal(end.errno, end.text);
        return;
      }
    }
  }

  /** The one message that answers. @throws Refusal */
  get(request: Request): Message {
    for (let attempt = 0; attempt < MAXIMUM_RESTARTS; attempt++) {
      const sequence = this.#send(request);
      const [answer] = this.#receive(sequence) ?? [];
      if (answer?.end) throw new Refusal(answer.end.errno, answer.end.text);
      if (answer) return answer;
    }
    throw new Refusal(EAGAIN, 'no answer');
  }

  /** @throws Refusal, also if the dump is changed each time while it is read */
  dump<T>(request: Request, decode: (message: Message) => T | undefined): T[] {
    for (let attempt = 0; attempt < MAXIMUM_RESTARTS; attempt++) {
      const found = this.#dumpOnce(request, decode);
      if (found !== undefined) return found;
    }
    throw new Refusal(EAGAIN, 'the dump changed each time while it was read');
  }

  /** @returns undefined if it is incomplete */
  #dumpOnce<T>(request: Request, decode: (message: Message) => T | undefined): T[] | undefined {
    const sequence = this.#send(request);
    const found: T[] = [];
    let isComplete = true;
    for (;;) {
      const messages = this.#receive(sequence);
      if (messages === undefined) isComplete = false;
      for (const message of messages ?? []) {
        if (message.isInterrupted) isComplete = false;
        if (message.end && message.end.errno !== 0)
          throw new Refusal(message.end.errno, message.end.text);
        if (message.end) return isComplete ? found : undefined;
        const decoded = decode(message);
        if (decoded !== undefined) found.push(decoded);
      }
    }
  }

  #send(request: Request): number {
    const sequence = ++this.#sequence;
    this.#datagrams.send(encodeRequest(request, sequence));
    return sequence;
  }

  /** @returns undefined if it was truncated; the next one will fit */
  #receive(sequence: number): readonly Message[] | undefined {
    const length = this.#datagrams.receive(this.#buffer);
    if (length > this.#buffer.length) {
      this.#buffer = Buffer.alloc(aligned(length) * 2);
      return undefined;
    }
    if (length === 0) throw malformed('empty datagram');
    return decodeMessages(this.#buffer.subarray(0, length)).filter(
      (message) => message.sequence === sequence,
    );
  }
}
