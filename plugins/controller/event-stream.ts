/** `GET /controller/events`: processed events as server-sent events, while they are recorded. */
import type { Clock } from '#infra/clock/clock.ts';
import { rfc3339 } from '#infra/clock/rfc3339.ts';
import { EventStreams, type StreamedMessages } from '#infra/http/event-stream.ts';
import {
  argument,
  BadRequestError,
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

export function eventStreamRoute({ clock, history }: EventStreamDeps): Route {
  const streams = new EventStreams(clock, 'the events');
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
    return streams.open(request, messagesFrom(history, next, clock));
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

/** Records are read from the history when the client has taken those before. Streams at the same place send the same text. */
function messagesFrom(history: EventHistory, first: number, clock: Clock): StreamedMessages {
  let next = first;
  // The client is connected, and knows from where to continue before there is an event.
  const id = next > 0 ? `id: ${history.started}-${next - 1}\n` : '';
  const time = JSON.stringify({ Time: rfc3339(clock.now()) });
  return {
    hello: `${id}event: connected\ndata: ${time}\n\n`,
    hasNext: () => history.nextSeqNum > next,
    next: () => {
      const record = history.firstFrom(next);
      if (record === undefined) return undefined;
      next = record.seqNum + 1;
      return message(record, history.started);
    },
    watch: (listener) => history.watch(listener),
  };
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
