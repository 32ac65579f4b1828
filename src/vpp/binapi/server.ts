/**
 * Server side of the binary API, for a simulated VPP. A table of handlers defines its messages:
 *
 *     const handlers: ServerHandlers = {
 *       requests: {
 *         create_loopback: (fields) => ({ sw_if_index: create(fields.mac_address) }),
 *         delete_loopback: (fields) => (remove(fields.sw_if_index) ? 0 : -2), // retval
 *         want_interface_events: (fields, peer) => { subscribe(peer); return 0; },
 *       },
 *       dumps: { sw_interface_dump: () => interfaces.map(detailsOf) },
 *     };
 *     const peers = new Set<Peer>();
 *     memoryConnect((transport) => serveClient(transport, handlers, { log }));
 *
 * The message table lists only messages with a handler. Like VPP, the server processes the messages
 * of a client one at a time; a handler that returns a promise delays the later ones. control_ping
 * needs no handler.
 */
import { Buffer } from 'node:buffer';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Transport } from './api.ts';
import { bundledCatalog, type Catalog, type Service } from './catalog.ts';
import type { MessageCodec } from './codec/codec.ts';
import type { Reader } from './codec/runtime.ts';
import { Writer } from './codec/writer.ts';
import { FrameReader, writeFrame } from './frame.ts';
import { HANDSHAKE_ID, HANDSHAKE_REPLY_ID } from './handshake-ids.ts';
import type { Dumps, EventsByName, Requests } from './messages.gen.ts';

/** Fields as received: fields with a default are always present. */
export type ReceivedFields<Fields> = { readonly [Name in keyof Fields]-?: Fields[Name] };

type MaybePromise<T> = T | Promise<T>;

/** A retval (all other fields are zero), or the reply; a reply without a retval has retval 0. */
export type ReplyOf<Reply> = number | (Omit<Reply, 'retval'> & { readonly retval?: number });

export interface ServerHandlers {
  readonly requests: {
    readonly [N in keyof Requests]?: (
      fields: ReceivedFields<Requests[N]['request']>,
      peer: Peer,
    ) => MaybePromise<ReplyOf<Requests[N]['reply']>>;
  };
  /** Also cursor streams: the server splits them into pages. */
  readonly dumps: {
    readonly [N in keyof Dumps]?: (
      fields: ReceivedFields<Dumps[N]['request']>,
      peer: Peer,
    ) => MaybePromise<readonly Dumps[N]['details'][]>;
  };
}

export interface ServerOptions {
  readonly log: Logger;
  readonly catalog?: Catalog;
  /** Index that the client sends in its messages; default: 1. */
  readonly clientIndex?: number;
  /** Called when the client has disconnected. */
  readonly onClose?: (peer: Peer) => void;
}

/** A connected client. */
export interface Peer {
  sendEvent<N extends keyof EventsByName>(name: N, event: EventsByName[N]): void;
  /** Closes the connection, as when VPP exits. */
  close(): void;
}

type AnyHandler = (fields: object, peer: Peer) => MaybePromise<unknown>;

interface HandledService {
  readonly service: Service;
  readonly handler: AnyHandler;
}

/** Details per page of a cursor stream. */
const PAGE_SIZE = 64;
const AGAIN = -165;
const FROM_START = 0xffffffff;
const UNSPECIFIED = -1;
const FIRST_ID = 17;

/** Serves one client until either side closes the connection. */
export function serveClient(
  transport: Transport,
  handlers: ServerHandlers,
  options: ServerOptions,
): Peer {
  return new ServerSession(transport, handlers, options);
}

class ServerSession implements Peer {
  readonly #transport: Transport;
  readonly #log: Logger;
  readonly #catalog: Catalog;
  readonly #frames = new FrameReader();
  readonly #clientIndex: number;
  readonly #ids = new Map<MessageCodec, number>();
  readonly #services = new Map<number, HandledService>();
  readonly #writer = new Writer(4096);
  /** Requests that wait until an earlier one is answered. */
  readonly #queue: (() => MaybePromise<void>)[] = [];
  #isBusy = false;
  #isOpen = true;

  constructor(transport: Transport, handlers: ServerHandlers, options: ServerOptions) {
    this.#transport = transport;
    this.#log = options.log;
    this.#clientIndex = options.clientIndex ?? 1;
    this.#catalog = options.catalog ?? bundledCatalog();
    const requests: ServerHandlers['requests'] = {
      control_ping: () => ({ vpe_pid: 0 }),
      ...handlers.requests,
    };
    for (const table of [requests, handlers.dumps])
      for (const [name, handler] of Object.entries(table)) this.#serve(name, handler as AnyHandler);
    for (const codec of this.#catalog.events.values()) this.#idOf(codec);
    transport.onData = (bytes) => this.#receive(bytes);
    transport.onClose = () => {
      this.#isOpen = false;
      options.onClose?.(this);
    };
  }

  sendEvent<N extends keyof EventsByName>(name: N, event: EventsByName[N]): void {
    this.#send(this.#catalog.codec(name), event, 0);
  }

  close(): void {
    this.#isOpen = false;
    this.#transport.close();
  }

  #serve(name: string, handler: AnyHandler): void {
    const service = this.#catalog.services.get(name);
    if (!service) throw new Error(`no definition of service ${name}`);
    this.#services.set(this.#idOf(service.request), { service, handler });
    if (service.kind !== 'dump') this.#idOf(service.reply);
    if (service.kind !== 'request') this.#idOf(service.details);
  }

  #idOf(codec: MessageCodec): number {
    const id = this.#ids.get(codec) ?? FIRST_ID + this.#ids.size;
    this.#ids.set(codec, id);
    return id;
  }

  #receive(bytes: Uint8Array): void {
    try {
      this.#frames.push(bytes, (reader) => this.#dispatch(reader));
    } catch (error) {
      this.#log.error(
        { error: errorText(error) },
        'closing connection: client sent an invalid frame',
      );
      this.close();
    }
  }

  /** Unknown or malformed messages are dropped without an answer, as VPP does. */
  #dispatch(reader: Reader): void {
    const id = reader.view.getUint16(reader.position);
    try {
      if (id === HANDSHAKE_ID) this.#handshake(reader);
      else this.#accept(id, reader);
    } catch (error) {
      this.#log.warn({ error: errorText(error) }, 'dropping invalid message of a client');
    }
  }

  #accept(id: number, reader: Reader): void {
    const served = this.#services.get(id);
    if (!served) throw new Error(`unknown message ID ${id}`);
    const { request } = served.service;
    const { position } = reader;
    const fields = request.decode(reader);
    const context = reader.view.getUint32(position + (request.contextOffset ?? 0));
    this.#enqueue(() => this.#handle(served, fields, context));
  }

  #handshake(reader: Reader): void {
    const create = this.#catalog.codec('sockclnt_create');
    const context = reader.view.getUint32(reader.position + (create.contextOffset ?? 0));
    create.decode(reader);
    const table = [...this.#ids].map(([codec, index]) => ({ index, name: codec.tableName }));
    const reply = this.#catalog.codec('sockclnt_create_reply');
    const fields = { response: 0, index: this.#clientIndex, message_table: table };
    this.#send(reply, fields, context, HANDSHAKE_REPLY_ID);
  }

  #enqueue(work: () => MaybePromise<void>): void {
    this.#queue.push(work);
    if (!this.#isBusy) this.#processQueue();
  }

  #processQueue(): void {
    this.#isBusy = true;
    for (let next = this.#queue.shift(); next && this.#isOpen; next = this.#queue.shift()) {
      const done = next();
      if (done instanceof Promise) {
        void done.then(() => this.#processQueue());
        return;
      }
    }
    this.#isBusy = false;
  }

  /** A handler that throws is a bug of the simulation: the client gets retval -1. */
  #handle(
    { service, handler }: HandledService,
    fields: object,
    context: number,
  ): MaybePromise<void> {
    const failed = (error: unknown) => {
      this.#log.error({ message: service.request.name, error: errorText(error) }, 'handler failed');
      if (service.kind !== 'dump') this.#reply(service, UNSPECIFIED, context);
    };
    try {
      const answer = handler(fields, this);
      if (answer instanceof Promise)
        return answer
          .then((value) => this.#sendAnswer(service, value, fields, context))
          .catch(failed);
      this.#sendAnswer(service, answer, fields, context);
    } catch (error) {
      failed(error);
    }
  }

  #sendAnswer(service: Service, answer: unknown, fields: object, context: number): void {
    if (service.kind === 'request') this.#reply(service, answer, context);
    else if (service.kind === 'dump')
      for (const details of answer as object[]) this.#send(service.details, details, context);
    else this.#sendPage(service, answer as object[], fields as { cursor: number }, context);
  }

  #sendPage(
    service: Service & { kind: 'cursor' },
    all: readonly object[],
    { cursor }: { cursor: number },
    context: number,
  ): void {
    const start = cursor === FROM_START ? 0 : cursor;
    const end = Math.min(all.length, start + PAGE_SIZE);
    for (const details of all.slice(start, end)) this.#send(service.details, details, context);
    this.#reply(service, { retval: end < all.length ? AGAIN : 0, cursor: end }, context);
  }

  #reply(service: Service & { reply: MessageCodec }, answer: unknown, context: number): void {
    const zero = service.reply.zero();
    // a few replies have no retval
    const fields =
      typeof answer === 'number'
        ? { ...zero, retval: answer }
        : { ...('retval' in zero && { retval: 0 }), ...(answer as object) };
    this.#send(service.reply, fields, context);
  }

  #send(codec: MessageCodec, fields: object, context: number, id = this.#idOf(codec)): void {
    if (!this.#isOpen) return;
    const isFirst = this.#writer.length === 0;
    writeFrame(this.#writer, codec, fields, id, this.#clientIndex, context);
    if (isFirst) queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    const bytes = Buffer.from(this.#writer.bytes.subarray(0, this.#writer.length));
    this.#writer.length = 0;
    if (this.#isOpen) this.#transport.write(bytes);
  }
}
