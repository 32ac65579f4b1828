import { Fifo } from '#infra/collections/fifo.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import {
  UnsupportedMessageError,
  VppCommandTimeoutError,
  VppDisconnectedError,
  VppTimeoutError,
} from '../api.ts';
import type { Catalog, Service } from '../catalog.ts';
import type { MessageCodec } from '../codec/codec.ts';
import type { Reader } from '../codec/runtime.ts';
import { viewOf, Writer } from '../codec/writer.ts';
import { FRAME_HEADER, writeFrame } from '../frame.ts';
import { requestPages } from './cursor-pages.ts';
import type { EventListeners } from './event-listeners.ts';
import type { HandshakeResult } from './handshake.ts';
import { IncomingDetails, type Take } from './incoming-details.ts';
import type { MessageIds } from './message-ids.ts';
import type { MessageStream } from './message-stream.ts';
import type { ClientOptions } from './options.ts';
import { type Page, PendingDump, PendingPage, PendingReply } from './pending-kinds.ts';
import { type PendingRequest, PendingRequests } from './pending-requests.ts';
import { ReplyTimeout } from './reply-timeout.ts';

/** A queued request, already encoded; only its context is missing. */
interface Queued {
  readonly frames: Uint8Array;
  /** Offsets of the context in the frames. */
  readonly contextsAt: readonly number[];
  readonly pending: PendingRequest;
}

/** Runs a command of VPP's CLI, which may walk tables of any size. */
const CLI_COMMAND = 'cli_inband';

type ServiceOf<Kind> = Service & { readonly kind: Kind };

/**
 * One connection to one VPP, from the end of the handshake until it is closed. Requests beyond the
 * window wait in a queue. When the connection ends, all sent and queued requests reject with
 * VppDisconnectedError: the outcome of sent requests is unknown.
 */
export class Connection {
  readonly messageIds: MessageIds;
  /** Called once with the reason, before the pending requests reject. */
  onEnd: (reason: Error) => void = () => undefined;
  readonly #stream: MessageStream;
  readonly #clientIndex: number;
  readonly #catalog: Catalog;
  readonly #events: EventListeners;
  readonly #log: Logger;
  readonly #window: number;
  readonly #pending = new PendingRequests();
  readonly #queue = new Fifo<Queued>();
  readonly #queueWriter = new Writer(1024);
  readonly #replyTimeout: ReplyTimeout;
  /** Unexpected messages are logged once per name. */
  readonly #warned = new Set<string>();
  #isOpen = true;

  constructor(
    wire: MessageStream,
    greeting: HandshakeResult,
    catalog: Catalog,
    events: EventListeners,
    options: ClientOptions,
  ) {
    this.messageIds = greeting.messageIds;
    this.#clientIndex = greeting.clientIndex;
    this.#stream = wire;
    this.#catalog = catalog;
    this.#events = events;
    this.#log = options.log;
    this.#window = options.maxInFlight;
    this.#replyTimeout = new ReplyTimeout({
      clock: options.clock,
      limitOf: (head) => limitMs(head, options),
      drained: () => wire.drained(),
      head: () => this.#pending.head,
      onExceeded: (head) => this.#timedOut(head, limitMs(head, options)),
    });
    wire.onMessage = (reader) => this.#receive(reader);
    wire.onChunk = () => this.#afterChunk();
    wire.onDrain = () => this.#sendQueued();
    wire.onLost = (cause) =>
      this.drop(new VppDisconnectedError('the connection to VPP was lost', { cause }));
  }

  /** Number of received messages: it increases while VPP is alive. */
  get messages(): number {
    return this.#stream.messages;
  }

  get isRunningCommand(): boolean {
    return this.#pending.head?.limit === 'command';
  }

  drained(): Promise<void> {
    return this.#stream.drained();
  }

  /** Rejects as described at VppClient.request. */
  request(name: string, fields: object): Promise<object> {
    return new Promise((resolve, reject) => {
      const service = this.#service(name, 'request');
      const purpose = name === CLI_COMMAND ? 'command' : 'request';
      this.#send(service, fields, new PendingReply(name, service.reply, resolve, reject, purpose));
    });
  }

  /** Sends a control_ping that bypasses the queue and the reply timeout. */
  probe(): Promise<object> {
    return new Promise((resolve, reject) => {
      const { request, reply } = this.#service('control_ping', 'request');
      const context = this.#pending.nextContext();
      this.#append(request, {}, context);
      const pending = new PendingReply(request.name, reply, resolve, reject, 'probe');
      this.#pending.add(context, pending);
    });
  }

  /** Rejects as described at VppClient.dumpEach. */
  dump(name: string, fields: object, take: Take): Promise<void> {
    if (this.#catalog.services.get(name)?.kind === 'cursor')
      return requestPages(name, (cursor) => this.#page(name, { ...fields, cursor }, take));
    return new Promise((resolve, reject) => {
      const service = this.#service(name, 'dump');
      const ping = this.#service('control_ping', 'request');
      const details = new IncomingDetails(service.details, take);
      const answer = new PendingDump(name, details, ping.reply, { resolve, reject });
      this.#send(service, fields, answer, ping.request);
    });
  }

  /** Ends the connection; a second reason is ignored. */
  drop(reason: Error): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#replyTimeout.stop();
    this.#stream.close();
    this.onEnd(reason);
    this.#pending.rejectAll((pending) => connectionLost(pending, reason));
    for (let next = this.#queue.shift(); next; next = this.#queue.shift())
      next.pending.reject(connectionLost(next.pending, reason));
  }

  /** A slow command does not end the connection: only the health probes show that VPP is dead. */
  #timedOut(head: PendingRequest, timeoutMs: number): void {
    if (head.limit === 'command') {
      const late = `VPP did not end the command within ${timeoutMs} ms`;
      this.#pending.giveUp(head, new VppCommandTimeoutError(late, { where: head.name }));
      this.#replyTimeout.arrived();
      return;
    }
    const text = `VPP did not answer within ${timeoutMs} ms`;
    const reason = new VppTimeoutError(text, { where: head.name });
    this.#pending.reject(head, reason);
    this.drop(reason);
  }

  #page(name: string, fields: object, take: Take): Promise<Page> {
    return new Promise((resolve, reject) => {
      const service = this.#service(name, 'cursor');
      const details = new IncomingDetails(service.details, take);
      const answer = new PendingPage(name, details, service.reply, { resolve, reject });
      this.#send(service, fields, answer);
    });
  }

  #service<Kind extends Service['kind']>(name: string, kind: Kind): ServiceOf<Kind> {
    const service = this.messageIds.service(name);
    if (!service)
      throw new UnsupportedMessageError('the connected VPP does not support the message', {
        where: name,
      });
    if (service.kind !== kind)
      throw new UnsupportedMessageError(`the message is not a ${kind}`, { where: name });
    return service as ServiceOf<Kind>;
  }

  /** Sends the request, then `last` with the same context; queues both when the window is full. */
  #send(service: Service, fields: object, pending: PendingRequest, last?: MessageCodec): void {
    if (!this.#isOpen)
      throw new VppDisconnectedError('VPP is not connected', { where: pending.name });
    if (this.#queue.size === 0 && this.#canSend()) {
      const context = this.#pending.nextContext();
      this.#append(service.request, fields, context);
      if (last) this.#append(last, {}, context);
      this.#markSent(context, pending);
      return;
    }
    this.#queueWriter.length = 0;
    const contextsAt = [this.#pack(service.request, fields)];
    if (last) contextsAt.push(this.#pack(last, {}));
    const frames = new Uint8Array(this.#queueWriter.bytes.subarray(0, this.#queueWriter.length));
    this.#queue.push({ frames, contextsAt, pending });
  }

  #append(codec: MessageCodec, fields: object, context: number): void {
    this.#stream.append(codec, fields, this.messageIds.id(codec), this.#clientIndex, context);
  }

  /** @returns the offset of the context */
  #pack(codec: MessageCodec, fields: object): number {
    const start = this.#queueWriter.length;
    writeFrame(this.#queueWriter, codec, fields, this.messageIds.id(codec), this.#clientIndex, 0);
    return start + FRAME_HEADER + (codec.contextOffset ?? 0);
  }

  #canSend(): boolean {
    return this.#pending.size < this.#window && this.#stream.isWritable;
  }

  #markSent(context: number, pending: PendingRequest): void {
    this.#pending.add(context, pending);
    this.#replyTimeout.sent();
  }

  #sendQueued(): void {
    while (this.#queue.size > 0 && this.#canSend()) {
      const { frames, contextsAt, pending } = this.#queue.shift()!;
      const context = this.#pending.nextContext();
      const view = viewOf(frames);
      for (const at of contextsAt) view.setUint32(at, context);
      this.#stream.appendFrames(frames);
      this.#markSent(context, pending);
    }
  }

  #receive(reader: Reader): void {
    const id = reader.view.getUint16(reader.position);
    const codec = this.messageIds.codec(id);
    if (!codec) this.#warnUnexpected(`message ${id}`);
    else if (codec.contextOffset === undefined) this.#events.deliver(codec, reader);
    else {
      const at = reader.position + codec.contextOffset;
      const context = at + 4 <= reader.end ? reader.view.getUint32(at) : undefined;
      if (context === undefined || !this.#pending.accept(context, codec, reader))
        this.#warnUnexpected(codec.name);
    }
  }

  #warnUnexpected(name: string): void {
    if (this.#warned.has(name)) return;
    this.#warned.add(name);
    this.#log.warn({ message: name }, 'ignoring unexpected message from VPP');
  }

  #afterChunk(): void {
    this.#replyTimeout.arrived();
    this.#sendQueued();
  }
}

function limitMs({ limit }: PendingRequest, options: ClientOptions): number {
  if (limit === 'none') return Number.POSITIVE_INFINITY;
  return limit === 'command' ? options.commandTimeoutMs : options.replyTimeoutMs;
}

function connectionLost(pending: PendingRequest, cause: Error): Error {
  const text = `VPP disconnected before it answered (${errorText(cause)})`;
  return new VppDisconnectedError(text, { where: pending.name, cause });
}
