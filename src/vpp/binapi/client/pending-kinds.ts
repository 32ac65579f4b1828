/** The three kinds of pending requests: for one reply, for a dump, for a page of a cursor stream. */
import type { MessageCodec } from '../codec/codec.ts';
import type { Reader } from '../codec/runtime.ts';
import { VppRefusedError } from '../retval-error.ts';
import type { PendingRequest } from './pending-requests.ts';

interface Settlers<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

interface Retval {
  readonly retval?: number;
}

/** Waits for one reply. A retval other than 0 rejects. */
export class PendingReply implements PendingRequest {
  readonly name: string;
  readonly isProbe: boolean;
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
    isProbe = false,
  ) {
    this.name = name;
    this.isProbe = isProbe;
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
  readonly #details: MessageCodec;
  readonly #end: MessageCodec;
  readonly #settle: Settlers<object[]>;
  readonly #list: object[] = [];

  constructor(name: string, details: MessageCodec, end: MessageCodec, settle: Settlers<object[]>) {
    this.name = name;
    this.#details = details;
    this.#end = end;
    this.#settle = settle;
  }

  accept(codec: MessageCodec, reader: Reader): 'done' | 'more' | 'unexpected' {
    if (codec === this.#end) return 'done';
    if (codec !== this.#details) return 'unexpected';
    this.#list.push(codec.decode(reader));
    return 'more';
  }

  get receivedMessages(): number {
    return this.#list.length;
  }

  resolve(): void {
    this.#settle.resolve(this.#list);
  }

  reject(error: unknown): void {
    this.#settle.reject(error);
  }
}

/** Result of one request of a cursor stream. */
export interface Page {
  readonly details: readonly object[];
  /** 0, or -165 when there are more details after the cursor. */
  readonly retval: number;
  readonly cursor: number;
}

/** Waits for details, then for the reply that indicates whether there are more. */
export class PendingPage implements PendingRequest {
  readonly name: string;
  readonly isProbe = false;
  readonly #details: MessageCodec;
  readonly #reply: MessageCodec;
  readonly #settle: Settlers<Page>;
  readonly #list: object[] = [];
  #end = { retval: 0, cursor: 0 };

  constructor(name: string, details: MessageCodec, reply: MessageCodec, settle: Settlers<Page>) {
    this.name = name;
    this.#details = details;
    this.#reply = reply;
    this.#settle = settle;
  }

  accept(codec: MessageCodec, reader: Reader): 'done' | 'more' | 'unexpected' {
    if (codec === this.#details) {
      this.#list.push(codec.decode(reader));
      return 'more';
    }
    if (codec !== this.#reply) return 'unexpected';
    this.#end = codec.decode(reader) as { retval: number; cursor: number };
    return 'done';
  }

  get receivedMessages(): number {
    return this.#list.length;
  }

  resolve(): void {
    this.#settle.resolve({ details: this.#list, ...this.#end });
  }

  reject(error: unknown): void {
    this.#settle.reject(error);
  }
}
