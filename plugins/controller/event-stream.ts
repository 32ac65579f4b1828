/** `GET /controller/events`: processed events as server-sent events, while they are recorded. */
import { Readable } from 'node:stream';
import type { Clock, Timer } from '#infra/clock/clock.ts';
import { rfc3339 } from '#infra/clock/rfc3339.ts';
import {
  argument,
  BadRequestError,
  BusyError,
  integerArgument,
  NotFoundError,
  type Route,
  type RouteRequest,
  type RouteResponse,
} from '#infra/http/route.ts';
import { eventDocument } from './event-document.ts';
import type { EventHistory } from './event-history.ts';
import { RECORDING_IS_OFF } from './event-history-text.ts';
import type { EventRecord } from './event-record.ts';

export interface EventStreamDeps {
  readonly clock: Clock;
  readonly history: EventHistory;
}

/** Each has a listener, and keeps what it has not sent. */
const MAX_STREAMS = 16;
/** Others must be able to follow, too. A page, a terminal and a dashboard of one machine can. */
const MAX_OF_ADDRESS = 4;
/** The server closes a connection that makes no progress for 30 s, and proxies do the same. */
const HEARTBEAT_MS = 10_000;
/** Before the server closes the connection of a long reply; clients connect again. */
const LIFETIME_MS = 9 * 60_000;

export function eventStreamRoute({ clock, history }: EventStreamDeps): Route {
  /** With the addresses of their clients. */
  const open = new Map<EventStream, string>();
  const turns = new StreamTurns(clock);
  return {
    method: 'GET',
    path: '/controller/events',
    mutating: false,
    isStream: true,
    summary: 'processed events as server-sent events, while they are recorded: after | last',
    query: {
      after: {
        description:
          'ID or number of the last event that is known: those after it are sent first; none: only new ones',
      },
      last: { description: 'number of the newest records that are sent first, instead of after' },
    },
    replyTypes: ['text/event-stream'],
    handle: (request) => stream(request),
  };

  function stream(request: RouteRequest): RouteResponse {
    if (history.isOff) throw new NotFoundError(RECORDING_IS_OFF);
    const after = argument(request, 'after');
    const last = integerArgument(request, 'last') ?? 0;
    const newest = Math.max(0, history.nextSeqNum - last);
    const next = after === undefined ? newest : nextAfter(after, history);
    if (open.size >= MAX_STREAMS)
      throw new BusyError(`${MAX_STREAMS} clients follow the events already: try it later`);
    const { address = '' } = request;
    const ofAddress = [...open.values()].filter((other) => other === address).length;
    if (address !== '' && ofAddress >= MAX_OF_ADDRESS)
      throw new BusyError(`${address} follows the events ${MAX_OF_ADDRESS} times already`);
    const body = new EventStream(history, next, clock, turns);
    open.set(body, address);
    body.once('close', () => void open.delete(body));
    const headers = { 'Cache-Control': 'no-store' };
    return { status: 200, body, contentType: 'text/event-stream; charset=utf-8', headers };
  }
}

/**
 * An ID is `<start of the history>-<sequence number>`: the numbers of an agent that was restarted begin again,
 * and of another history everything is new. A number alone is of this history.
 * @throws BadRequestError
 */
function nextAfter(id: string, { started }: EventHistory): number {
  const [, start, seqNum] = /^(?:(\d{1,15})-)?(\d{1,15})$/.exec(id) ?? [];
  if (seqNum === undefined)
    throw new BadRequestError(`argument after="${id}" must be the id or number of an event`);
  return start === undefined || Number(start) === started ? Number(seqNum) + 1 : 0;
}

/**
 * The streams that can send: in each turn of the event loop one message each. So neither a client that reads
 * the whole history nor many clients hold the main thread, and an event does not wait until it was sent.
 * Streams at the same place in the history send the same text.
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

/** Records are read from the history when the client has taken those before: a slow one costs no memory. */
class EventStream extends Readable {
  readonly #history: EventHistory;
  readonly #clock: Clock;
  readonly #turns: StreamTurns;
  readonly #unwatch: () => void;
  readonly #end: Timer;
  #heartbeat: Timer;
  #next: number;
  #isAsked = false;

  constructor(history: EventHistory, next: number, clock: Clock, turns: StreamTurns) {
    super({ encoding: 'utf8' });
    this.#history = history;
    this.#clock = clock;
    this.#turns = turns;
    this.#next = next;
    this.#unwatch = history.watch(() => this.#sendInTurn());
    this.#end = clock.timer(LIFETIME_MS, () => {
      this.#isAsked = false;
      this.#unwatch();
      this.#heartbeat.cancel();
      this.push(null);
    });
    this.#heartbeat = clock.timer(HEARTBEAT_MS, () => this.#beat());
    // The client is connected, and knows from where to continue before there is an event.
    const id = next > 0 ? `id: ${history.started}-${next - 1}\n` : '';
    const time = JSON.stringify({ Time: rfc3339(clock.now()) });
    this.push(`${id}event: connected\ndata: ${time}\n\n`);
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
    if (this.#isAsked && this.#history.nextSeqNum > this.#next) this.#turns.add(this);
  }

  /** Sends the next message if the client takes it. */
  send(): void {
    if (!this.#isAsked || this.destroyed) return;
    const record = this.#history.firstFrom(this.#next);
    if (record === undefined) return;
    this.#isAsked = false;
    this.#next = record.seqNum + 1;
    this.push(message(record, this.#history.started));
  }

  #beat(): void {
    this.#heartbeat = this.#clock.timer(HEARTBEAT_MS, () => this.#beat());
    if (!this.#isAsked) return;
    this.#isAsked = false;
    this.push(':\n\n');
  }
}

/** Every client gets the same text: it is made once for all that read it at this time. */
let lastMessage: { readonly record: EventRecord; readonly text: string } | undefined;

/** Without the record of its transaction, which may be large. */
function message(record: EventRecord, started: number): string {
  if (lastMessage?.record === record) return lastMessage.text;
  const document = JSON.stringify(eventDocument(record, () => undefined));
  const text = `id: ${started}-${record.seqNum}\nevent: processed\ndata: ${document}\n\n`;
  lastMessage = { record, text };
  return text;
}
