/** Requests over one socket, and their answers. */
import { LinuxError } from '../api.ts';
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

  /**
   * @param limit bytes that are read at most, of what processes can make as many as they like
   * @throws Refusal, also if the dump is changed each time while it is read
   * @throws LinuxError if it exceeds the limit; then the rest remains unread, and the socket is of no use
   */
  dump<T>(
    request: Request,
    decode: (message: Message) => T | undefined,
    limit = Number.POSITIVE_INFINITY,
  ): T[] {
    for (let attempt = 0; attempt < MAXIMUM_RESTARTS; attempt++) {
      const found = this.#dumpOnce(request, decode, limit);
      if (found !== undefined) return found;
    }
    throw new Refusal(EAGAIN, 'the dump changed each time while it was read');
  }

  /**
   * Decodes the messages after the kernel has sent all of them: decoding takes longer than reading, and a
   * change in that time would make the dump incomplete.
   * @returns undefined if it is incomplete
   */
  #dumpOnce<T>(
    request: Request,
    decode: (message: Message) => T | undefined,
    limit: number,
  ): T[] | undefined {
    const found: T[] = [];
    const sequence = this.#send(request);
    const datagrams = this.#readDump(sequence, limit);
    if (datagrams === undefined) return undefined;
    for (const datagram of datagrams) {
      for (const message of messagesOf(datagram, sequence)) {
        const decoded = message.end ? undefined : decode(message);
        if (decoded !== undefined) found.push(decoded);
      }
    }
    return found;
  }

  /** @returns its datagrams; undefined if it is incomplete */
  #readDump(sequence: number, limit: number): readonly Buffer[] | undefined {
    const datagrams: Buffer[] = [];
    let length = 0;
    let isComplete = true;
    for (;;) {
      const datagram = this.#receiveDatagram();
      if (datagram === undefined) {
        isComplete = false;
        continue;
      }
      length += datagram.length;
      if (length > limit)
        throw new LinuxError(`the answer exceeds ${limit} bytes`, { errno: 'E2BIG' });
      const messages = messagesOf(datagram, sequence);
      if (messages.some(({ isInterrupted }) => isInterrupted)) isComplete = false;
      // the next datagram overwrites it
      if (isComplete) datagrams.push(Buffer.from(datagram));
      const end = messages.find((message) => message.end)?.end;
      if (end === undefined) continue;
      if (end.errno !== 0) throw new Refusal(end.errno, end.text);
      return isComplete ? datagrams : undefined;
    }
  }

  #send(request: Request): number {
    const sequence = ++this.#sequence;
    this.#datagrams.send(encodeRequest(request, sequence));
    return sequence;
  }

  /** @returns undefined if it was truncated; the next one will fit */
  #receive(sequence: number): readonly Message[] | undefined {
    const datagram = this.#receiveDatagram();
    return datagram && messagesOf(datagram, sequence);
  }

  /** @returns bytes that the next one overwrites; undefined if it was truncated: the next one will fit */
  #receiveDatagram(): Buffer | undefined {
    const length = this.#datagrams.receive(this.#buffer);
    if (length > this.#buffer.length) {
      this.#buffer = Buffer.alloc(aligned(length) * 2);
      return undefined;
    }
    if (length === 0) throw malformed('empty datagram');
    return this.#buffer.subarray(0, length);
  }
}

/** The messages that answer the request of this number. */
function messagesOf(datagram: Buffer, sequence: number): readonly Message[] {
  return decodeMessages(datagram).filter((message) => message.sequence === sequence);
}
