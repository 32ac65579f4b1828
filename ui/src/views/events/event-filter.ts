/** The filter of the events, which the address contains. */
import type { ProcessedEvent } from '#documents/events.ts';
import { failureOf } from './event-failure.ts';
import { kindOf } from './event-kind.ts';

export interface EventFilter {
  /** Empty: all kinds. */
  readonly kind: string;
  /** Name of a handler that has handled it; empty: any. */
  readonly handler: string;
  readonly isFailed: boolean;
  /** Of name, description, changes, errors or origin, in any case. */
  readonly text: string;
}

export function filterOf(query: URLSearchParams): EventFilter {
  return {
    kind: query.get('kind') ?? '',
    handler: query.get('handler') ?? '',
    isFailed: query.get('failed') === 'true',
    text: query.get('text') ?? '',
  };
}

export function isSelected(event: ProcessedEvent, filter: EventFilter): boolean {
  const { kind, handler, isFailed, text } = filter;
  if (kind !== '' && kindOf(event.Name) !== kind) return false;
  if (handler !== '' && !event.Handlers.some(({ Handler }) => Handler === handler)) return false;
  if (isFailed && failureOf(event) === '') return false;
  if (text === '') return true;
  const searched = text.toLowerCase();
  return [...textsOf(event)].some((one) => one.toLowerCase().includes(searched));
}

function* textsOf({ Name, Description, Handlers, TxnErrorStr, Trace }: ProcessedEvent) {
  yield Name;
  yield Description;
  for (const { Change, ErrorStr } of Handlers) {
    yield Change;
    yield ErrorStr;
  }
  yield TxnErrorStr;
  yield Trace.Origin?.Key ?? '';
  yield Trace.Origin?.Container ?? '';
}
