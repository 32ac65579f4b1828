/** A processed event of the event loop of an agent, for people. */
import type { ProcessedEvent } from '#documents/events.ts';

export interface EventFilter {
  /** Part of the name, without regard to case. */
  readonly kind: string | undefined;
  readonly onlyFailed: boolean;
  /** Part of the description or of the key that caused the event. */
  readonly key: string | undefined;
}

export interface ShownEvent {
  readonly node: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly seqNum: number;
  readonly tookMs: number;
  readonly title: string;
  readonly changes: readonly string[];
  readonly failures: readonly string[];
  readonly record: ProcessedEvent;
}

export function shownEvent(node: string, record: ProcessedEvent): ShownEvent {
  const { SeqNum, ProcessingStart, ProcessingEnd, Handlers, TxnErrorStr } = record;
  const time = Date.parse(ProcessingStart);
  const failed = Handlers.filter(({ ErrorStr }) => ErrorStr !== '');
  return {
    node,
    time,
    seqNum: SeqNum,
    tookMs: Date.parse(ProcessingEnd) - time,
    title: titleOf(record),
    changes: Handlers.flatMap(({ Change }) => Change || []),
    failures: [
      ...failed.map(({ Handler, ErrorStr }) => `${Handler}: ${ErrorStr}`),
      ...(TxnErrorStr === '' ? [] : [`transaction: ${TxnErrorStr}`]),
    ],
    record,
  };
}

/** The description begins with the name, and has the object that changed in one of its lines. */
function titleOf({ Name, Description }: ProcessedEvent): string {
  const [, key = ''] = /^\* key: (.*)$/m.exec(Description) ?? [];
  return key === '' ? Name : `${Name} ${key}`;
}

export function isWanted({ record, failures }: ShownEvent, filter: EventFilter): boolean {
  const { kind, onlyFailed, key } = filter;
  if (onlyFailed && failures.length === 0) return false;
  if (kind !== undefined && !record.Name.toLowerCase().includes(kind.toLowerCase())) return false;
  if (key === undefined) return true;
  const origin = record.Trace.Origin?.Key ?? '';
  return record.Description.includes(key) || origin.includes(key);
}

/** Time of the day in UTC, as in the log. */
export function timeText(time: number): string {
  return Number.isFinite(time) ? new Date(time).toISOString().slice(11, 23) : '';
}

export function durationText(ms: number): string {
  if (!Number.isFinite(ms)) return '';
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  return ms < 60_000 ? `${(ms / 1_000).toFixed(1)}s` : `${(ms / 60_000).toFixed(1)}min`;
}

export function eventText({ title, changes, failures }: ShownEvent, isWide: boolean): string {
  const failed = failures.map((text) => `FAILED ${text}`);
  return [title, ...failed, ...(isWide ? changes : [])].join('; ');
}
