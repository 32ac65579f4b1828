/** Server-sent events of something that grows. */
import { Readable } from 'node:stream';
import type { Clock, Timer } from '../clock/clock.ts';
import { BusyError, type RouteRequest, type RouteResponse } from './route.ts';

/** Each has a listener, and keeps what it has not sent. */
const MAX_STREAMS = 16;
/** Others must be able to follow, too. A page, a terminal and a dashboard of one machine can. */
const MAX_OF_ADDRESS = 4;
/** The server closes a connection that makes no progress for 30 s, and proxies do the same. */
const HEARTBEAT_MS = 10_000;
/** Before the server closes the connection of a long reply; clients connect again. */
const LIFETIME_MS = 9 * 60_000;

/** The messages for one client. */
export interface StreamedMessages {
  /** The first message, before there is anything to tell: the client is connected. */
  readonly hello: string;
  /** Whether there is a next message. */
  readonly hasNext: () => boolean;
  /** @returns undefined: there is none any more */
  readonly next: () => string | undefined;
  /** Calls back when there may be more. @returns ends that */
  readonly watch: (listener: () => void) => () => void;
}

/** The streams of one route. */
export class EventStreams {
  readonly #clock: Clock;
  /** In messages of errors: `the events`. */
  readonly #what: string;
  /** With the addresses of their clients. */
  readonly #open = new Map<EventStream, string>();
  readonly #turns: StreamTurns;

  constructor(clock: Clock, what: string) {
    this.#clock = clock;
    this.#what = what;
    this.#turns = new StreamTurns(clock);
  }

  /** @throws BusyError */
  open({ address = '' }: RouteRequest, messages: StreamedMessages): RouteResponse {
    if (this.#open.size >= MAX_STREAMS)
      throw new BusyError(`${MAX_STREAMS} clients follow ${this.#what} already: try it later`);
    const ofAddress = [...this.#open.values()].filter((other) => other === address).length;
    if (address !== '' && ofAddress >= MAX_OF_ADDRESS)
      throw new BusyError(`${address} follows ${this.#what} ${MAX_OF_ADDRESS} times already`);
    const body = new EventStream(messages, this.#clock, this.#turns);
    this.#open.set(body, address);
    body.once('close', () => void this.#open.delete(body));
    const headers = { 'Cache-Control': 'no-store' };
    return { status: 200, body, contentType: 'text/event-stream; charset=utf-8', headers };
  }
}

/**
 * The streams that can send: in each turn of the event loop one message each. So neither a client that reads
 * the whole history nor many clients hold the main thread, and what is streamed does not wait until it was sent.
 */
class StreamTurns {
  readonly #clock: Clock;
  #ready = new Set<EventStream>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(stream: EventStream): void {
    if (this.#ready.size === 0) void this.#clock.turn().then(() => this.#send());
    this.#ready.add(stream);
  }

  #send(): void {
    const streams = this.#ready;
    this.#ready = new Set();
    for (const stream of streams) stream.send();
  }
}

/** Messages are made when the client has taken those before: a slow one costs no memory. */
class EventStream extends Readable {
  readonly #messages: StreamedMessages;
  readonly #clock: Clock;
  readonly #turns: StreamTurns;
  readonly #unwatch: () => void;
  readonly #end: Timer;
  #heartbeat: Timer;
  #isAsked = false;

  constructor(messages: StreamedMessages, clock: Clock, turns: StreamTurns) {
    super({ encoding: 'utf8' });
    this.#messages = messages;
    this.#clock = clock;
    this.#turns = turns;
    this.#unwatch = messages.watch(() => this.#sendInTurn());
    this.#end = clock.timer(LIFETIME_MS, () => {
      this.#isAsked = false;
      this.#unwatch();
      this.#heartbeat.cancel();
      this.push(null);
    });
    this.#heartbeat = clock.timer(HEARTBEAT_MS, () => this.#beat());
    this.push(messages.hello);
  }

  override _read(): void {
    this.#isAsked = true;
    this.#sendInTurn();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#unwatch();
    this.#end.cancel();
    this.#heartbeat.cancel();
    done(error);
  }

  #sendInTurn(): void {
    if (this.#isAsked && this.#messages.hasNext()) this.#turns.add(this);
  }

  /** Sends the next message if the client takes it. */
  send(): void {
    if (!this.#isAsked || this.destroyed) return;
    const message = this.#messages.next();
    if (message === undefined) return;
    this.#isAsked = false;
    this.push(message);
  }

  #beat(): void {
    this.#heartbeat = this.#clock.timer(HEARTBEAT_MS, () => this.#beat());
    if (!this.#isAsked) return;
    this.#isAsked = false;
    this.push(':\n\n');
  }
}
