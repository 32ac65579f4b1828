/** The three kinds of pending requests: for one reply, for a dump, for a page of a cursor stream. */
import type { MessageCodec } from '../codec/codec.ts';
import type { Reader } from '../codec/runtime.ts';
import { VppRefusedError } from '../retval-error.ts';
import type { IncomingDetails } from './incoming-details.ts';
import type { PendingRequest, ReplyLimit } from './pending-requests.ts';

interface Settlers<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

interface Retval {
  readonly retval?: number;
}

const limits = { request: 'reply', command: 'command', probe: 'none' } as const;

/** Waits for one reply. A retval other than 0 rejects. */
export class PendingReply implements PendingRequest {
  readonly name: string;
  readonly isProbe: boolean;
  readonly limit: ReplyLimit;
  readonly receivedMessages = 0;
  readonly #reply: MessageCodec;
  readonly #resolve: (fields: object) => void;
  readonly #reject: (error: unknown) => void;
  #fields: object | undefined;

  constructor(
    name: string,
    reply: MessageCodec,
    resolve: (fields: object) => void,
    reject: (error: unknown) => void,
    purpose: 'request' | 'command' | 'probe',
  ) {
    this.name = name;
    this.isProbe = purpose === 'probe';
    this.limit = limits[purpose];
    this.#reply = reply;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  accept(codec: MessageCodec, reader: Reader): 'done' | 'unexpected' {
    if (codec !== this.#reply) return 'unexpected';
    const fields = codec.decode(reader);
    const { retval = 0 } = fields as Retval;
    if (retval !== 0) throw new VppRefusedError(this.name, retval);
    this.#fields = fields;
    return 'done';
  }

  resolve(): void {
    this.#resolve(this.#fields!);
  }

  reject(error: unknown): void {
    this.#reject(error);
  }
}

/** Waits for details, then for the reply to the control_ping that was sent after the dump. */
export class PendingDump implements PendingRequest {
  readonly name: string;
  readonly isProbe = false;
  readonly limit = 'reply';
  readonly #details: IncomingDetails;
  readonly #end: MessageCodec;
  readonly #settle: Settlers<void>;

  constructor(name: string, details: IncomingDetails, end: MessageCodec, settle: Settlers<void>) {
    this.name = name;
    this.#details = details;
    this.#end = end;
    this.#settle = settle;
  }

  accept(codec: MessageCodec, reader: Reader): 'done' | 'more' | 'unexpected' {
    if (codec === this.#details.codec) {
      this.#details.accept(reader);
      return 'more';
    }
    if (codec !== this.#end) return 'unexpected';
    this.#details.check();
    return 'done';
  }

  get receivedMessages(): number {
    return this.#details.received;
  }

  resolve(): void {
    this.#settle.resolve();
  }

  reject(error: unknown): void {
    this.#settle.reject(error);
  }
}

/** Result of one request of a cursor stream. */
export interface Page {
  /** Number of details that were taken. */
  readonly details: number;
  /** 0, or -165 when there are more details after the cursor. */
  readonly retval: number;
  readonly cursor: number;
}

/** Waits for details, then for the reply that indicates whether there are more. */
export class PendingPage implements PendingRequest {
  readonly name: string;
  readonly isProbe = false;
  readonly limit = 'reply';
  readonly #details: IncomingDetails;
  readonly #reply: MessageCodec;
  readonly #settle: Settlers<Page>;
  #end = { retval: 0, cursor: 0 };

  constructor(name: string, details: IncomingDetails, reply: MessageCodec, settle: Settlers<Page>) {
    this.name = name;
    this.#details = details;
    this.#reply = reply;
    this.#settle = settle;
  }

  accept(codec: MessageCodec, reader: Reader): 'done' | 'more' | 'unexpected' {
    if (codec === this.#details.codec) {
      this.#details.accept(reader);
      return 'more';
    }
    if (codec !== this.#reply) return 'unexpected';
    this.#details.check();
    this.#end = codec.decode(reader) as { retval: number; cursor: number };
    return 'done';
  }

  get receivedMessages(): number {
    return this.#details.received;
  }

  resolve(): void {
    this.#settle.resolve({ ...this.#end, details: this.#details.received });
  }

  reject(error: unknown): void {
    this.#settle.reject(error);
  }
}
