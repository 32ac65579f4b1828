import { Fifo } from '#infra/collections/fifo.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import { UnsupportedMessageError, VppDisconnectedError, VppTimeoutError } from '../api.ts';
import type { Catalog, Service } from '../catalog.ts';
import type { MessageCodec } from '../codec/codec.ts';
import type { Reader } from '../codec/runtime.ts';
import { Writer } from '../codec/writer.ts';
import { writeFrame } from '../frame.ts';
import { DumpAnswer, type Page, PageAnswer, ReplyAnswer } from './answers.ts';
import { collectPages } from './dumps.ts';
import type { EventListeners } from './events.ts';
import type { Greeting } from './handshake.ts';
import { TimeLimit } from './limit.ts';
import type { ClientOptions } from './options.ts';
import { type Pending, PendingRequests } from './pending.ts';
import type { MessageTable } from './table.ts';
import type { Wire } from './wire.ts';

/** A request that waits for its turn, packed already. */
interface Queued {
  readonly frames: Uint8Array;
  readonly context: number;
  readonly pending: Pending;
}

type ServiceOf<Kind> = Service & { readonly kind: Kind };

/**
 * One connection to one VPP, from after the greeting until it ends. Requests beyond the window wait
 * in a queue. When the connection ends, whatever was sent or queued rejects with VppDisconnectedError: of
 * what was sent the outcome is unknown.
 */
export class Connection {
  readonly table: MessageTable;
  /** Called once with the reason, before the callers of what is in flight hear of it. */
  onEnd: (reason: Error) => void = () => undefined;
  readonly #wire: Wire;
  readonly #clientIndex: number;
  readonly #catalog: Catalog;
  readonly #events: EventListeners;
  readonly #log: Logger;
  readonly #window: number;
  readonly #pending = new PendingRequests();
  readonly #queue = new Fifo<Queued>();
  readonly #packer = new Writer(1024);
  readonly #limit: TimeLimit;
  /** What was logged of messages that nobody asked for: once per name. */
  readonly #reported = new Set<string>();
  #context = 0;
  #isOpen = true;

  constructor(
    wire: Wire,
    greeting: Greeting,
    catalog: Catalog,
    events: EventListeners,
    options: ClientOptions,
  ) {
    this.table = greeting.table;
    this.#clientIndex = greeting.clientIndex;
    this.#wire = wire;
    this.#catalog = catalog;
    this.#events = events;
    this.#log = options.log;
    this.#window = options.maxInFlight;
    this.#limit = new TimeLimit({
      clock: options.clock,
      limitMs: options.replyTimeoutMs,
      drained: () => wire.drained(),
      head: () => this.#pending.head,
      onExceeded: (head) => this.#timedOut(head, options.replyTimeoutMs),
    });
    wire.onMessage = (reader) => this.#take(reader);
    wire.onChunk = () => this.#afterChunk();
    wire.onRoom = () => this.#pump();
    wire.onLost = (cause) =>
      this.drop(new VppDisconnectedError('the connection to VPP broke', { cause }));
  }

  /** Messages received: a number that moves while VPP is alive. */
  get messages(): number {
    return this.#wire.messages;
  }

  drained(): Promise<void> {
    return this.#wire.drained();
  }

  /** Rejects as VppClient.request says. */
  request(name: string, fields: object): Promise<object> {
    return new Promise((resolve, reject) => {
      const service = this.#service(name, 'request');
      this.#send(service, fields, new ReplyAnswer(name, service.reply, { resolve, reject }));
    });
  }

  /** A control_ping that neither waits in the queue nor counts for the time limit. */
  probe(): Promise<object> {
    return new Promise((resolve, reject) => {
      const { request, reply } = this.#service('control_ping', 'request');
      const context = this.#nextContext();
      this.#append(request, {}, context);
      const pending = new ReplyAnswer(request.name, reply, { resolve, reject }, true);
      this.#pending.add(context, pending);
    });
  }

  /** Rejects as VppClient.dump says. */
  dump(name: string, fields: object): Promise<readonly object[]> {
    if (this.#catalog.services.get(name)?.kind === 'cursor')
      return collectPages(name, (cursor) => this.#page(name, { ...fields, cursor }));
    return new Promise((resolve, reject) => {
      const service = this.#service(name, 'dump');
      const ping = this.#service('control_ping', 'request');
      const answer = new DumpAnswer(name, service.details, ping.reply, { resolve, reject });
      this.#send(service, fields, answer, ping.request);
    });
  }

  /** Ends the connection; a second reason is ignored. */
  drop(reason: Error): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#limit.stop();
    this.#wire.close();
    this.onEnd(reason);
    this.#pending.rejectAll((pending) => gone(pending, reason));
    for (let next = this.#queue.shift(); next; next = this.#queue.shift())
      next.pending.reject(gone(next.pending, reason));
  }

  #timedOut(head: Pending, limitMs: number): void {
    const text = `VPP did not answer within ${limitMs} ms`;
    const reason = new VppTimeoutError(text, { where: head.name });
    this.#pending.reject(head, reason);
    this.drop(reason);
  }

  #page(name: string, fields: object): Promise<Page> {
    return new Promise((resolve, reject) => {
      const service = this.#service(name, 'cursor');
      const answer = new PageAnswer(name, service.details, service.reply, { resolve, reject });
      this.#send(service, fields, answer);
    });
  }

  #service<Kind extends Service['kind']>(name: string, kind: Kind): ServiceOf<Kind> {
    const service = this.table.service(name);
    if (!service)
      throw new UnsupportedMessageError('the connected VPP does not have it', { where: name });
    if (service.kind !== kind) throw new UnsupportedMessageError(`is no ${kind}`, { where: name });
    return service as ServiceOf<Kind>;
  }

  /** Sends the request, and `last` behind it under the same context, now or when it has its turn. */
  #send(service: Service, fields: object, pending: Pending, last?: MessageCodec): void {
    if (!this.#isOpen) throw new VppDisconnectedError('VPP is gone', { where: pending.name });
    const context = this.#nextContext();
    if (this.#queue.size === 0 && this.#mayStart()) {
      this.#append(service.request, fields, context);
      if (last) this.#append(last, {}, context);
      this.#start(context, pending);
      return;
    }
    this.#packer.length = 0;
    this.#pack(service.request, fields, context);
    if (last) this.#pack(last, {}, context);
    const frames = new Uint8Array(this.#packer.bytes.subarray(0, this.#packer.length));
    this.#queue.push({ frames, context, pending });
  }

  #append(codec: MessageCodec, fields: object, context: number): void {
    this.#wire.append(codec, fields, this.table.id(codec), this.#clientIndex, context);
  }

  #pack(codec: MessageCodec, fields: object, context: number): void {
    writeFrame(this.#packer, codec, fields, this.table.id(codec), this.#clientIndex, context);
  }

  #mayStart(): boolean {
    return this.#pending.size < this.#window && this.#wire.hasRoom;
  }

  #start(context: number, pending: Pending): void {
    this.#pending.add(context, pending);
    this.#limit.sent();
  }

  #pump(): void {
    while (this.#queue.size > 0 && this.#mayStart()) {
      const { frames, context, pending } = this.#queue.shift()!;
      this.#wire.appendFrames(frames);
      this.#start(context, pending);
    }
  }

  #nextContext(): number {
    do this.#context = (this.#context + 1) >>> 0;
    while (this.#pending.has(this.#context));
    return this.#context;
  }

  #take(reader: Reader): void {
    const id = reader.view.getUint16(reader.position);
    const codec = this.table.codec(id);
    if (!codec) this.#report(`message ${id}`);
    else if (codec.contextOffset === undefined) this.#events.deliver(codec, reader);
    else {
      const at = reader.position + codec.contextOffset;
      const context = at + 4 <= reader.end ? reader.view.getUint32(at) : undefined;
      if (context === undefined || !this.#pending.accept(context, codec, reader))
        this.#report(codec.name);
    }
  }

  #report(name: string): void {
    if (this.#reported.has(name)) return;
    this.#reported.add(name);
    this.#log.warn({ message: name }, 'VPP sent what nobody asked for: ignored');
  }

  #afterChunk(): void {
    this.#limit.arrived();
    this.#pump();
  }
}

function gone(pending: Pending, cause: Error): Error {
  const text = `VPP went away before it answered (${errorText(cause)})`;
  return new VppDisconnectedError(text, { where: pending.name, cause });
}
