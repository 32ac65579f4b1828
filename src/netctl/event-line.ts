/** A processed event of the event loop of an agent, for people. */
import { type Fields, fieldsOf, numberOf, objectsIn, textOf } from './document-fields.ts';

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
  /** As the agent has sent it. */
  readonly record: Fields;
}

export function shownEvent(node: string, value: unknown): ShownEvent {
  const record = fieldsOf(value);
  const time = Date.parse(textOf(record['ProcessingStart']));
  const handlers = objectsIn(record['Handlers']);
  const failed = handlers.filter((one) => textOf(one['ErrorStr']) !== '');
  const transaction = textOf(record['TxnErrorStr']);
  return {
    node,
    time,
    seqNum: numberOf(record['SeqNum']) ?? 0,
    tookMs: Date.parse(textOf(record['ProcessingEnd'])) - time,
    title: titleOf(record),
    changes: handlers.flatMap((one) => textOf(one['Change']) || []),
    failures: [
      ...failed.map((one) => `${textOf(one['Handler'])}: ${textOf(one['ErrorStr'])}`),
      ...(transaction === '' ? [] : [`transaction: ${transaction}`]),
    ],
    record,
  };
}

/** The description begins with the name, and has the object that changed in one of its lines. */
function titleOf(record: Fields): string {
  const name = textOf(record['Name']);
  const [, key = ''] = /^\* key: (.*)$/m.exec(textOf(record['Description'])) ?? [];
  return key === '' ? name : `${name} ${key}`;
}

export function isWanted({ record, failures }: ShownEvent, filter: EventFilter): boolean {
  const { kind, onlyFailed, key } = filter;
  if (onlyFailed && failures.length === 0) return false;
  if (kind !== undefined && !textOf(record['Name']).toLowerCase().includes(kind.toLowerCase()))
    return false;
  if (key === undefined) return true;
  const origin = textOf(fieldsOf(fieldsOf(record['Trace'])['Origin'])['Key']);
  return textOf(record['Description']).includes(key) || origin.includes(key);
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
