/** Decides what needs the attention of an operator, and in which order. */
import type { ProcessedEvent } from '#documents/events.ts';
import type { ComponentStatus, ProbeDocument } from '#documents/probes.ts';
import type { ValueSummary } from '#documents/scheduler/value-search.ts';

export interface Concern {
  /** Errors come before what is starting or waiting. */
  readonly isError: boolean;
  /** The part that is at fault: a component, a value or an event. */
  readonly subject: string;
  readonly reason: string;
  /** Milliseconds since the epoch; undefined: unknown. */
  readonly since: number | undefined;
  /** The view that shows more, with its arguments. */
  readonly view: string;
  readonly query: Readonly<Record<string, string>>;
}

/** Older failures of events show in the view of events only. */
const FAILED_EVENT_MS = 10 * 60_000;
const MAX_EVENTS = 5;

const STARTING = 0;
const ERROR = 2;

/** The view in which the cause of an error of a component shows. */
const viewsOfComponents: Readonly<Record<string, readonly [string, Record<string, string>]>> = {
  controller: ['events', { failed: 'true' }],
  configuration: ['values', { state: 'problem' }],
  kvscheduler: ['transactions', {}],
  services: ['services', { show: 'problems' }],
  policies: ['policies', { show: 'problems' }],
  nodes: ['nodes', { show: 'problems' }],
};

type ProblemValue = Pick<ValueSummary, 'key' | 'state' | 'error'>;

/** @param now milliseconds since the epoch, by the clock of the agent */
export function concernsOf(
  readiness: Pick<ProbeDocument, 'PluginStatus'> | undefined,
  values: readonly ProblemValue[],
  events: readonly ProcessedEvent[],
  now: number,
): readonly Concern[] {
  const components = Object.entries(readiness?.PluginStatus ?? {}).flatMap(([name, status]) =>
    componentConcern(name, status),
  );
  // A resync that has succeeded has repaired what failed before it.
  const repaired = events.findLastIndex((event) => isResync(event) && failureOf(event) === '');
  const failed = events
    .slice(repaired + 1)
    .filter((event) => failureOf(event) !== '')
    .filter(({ ProcessingEnd }) => Date.parse(ProcessingEnd) > now - FAILED_EVENT_MS)
    .slice(-MAX_EVENTS)
    .reverse();
  // The value is the cause: a component or an event that names it reports the same.
  const keys = new Set(values.map(({ key }) => key));
  const isOther = ({ reason }: Concern) => wordsOf(reason).every((word) => !keys.has(word));
  return [
    ...components.filter(isOther),
    ...values.map(valueConcern),
    ...failed.map(eventConcern).filter(isOther),
  ].sort((a, b) => Number(b.isError) - Number(a.isError));
}

function componentConcern(name: string, status: ComponentStatus): Concern[] {
  const { state = STARTING, error, last_change } = status;
  if (state !== STARTING && state !== ERROR) return [];
  const [view, query] = viewsOfComponents[name] ?? ['', {}];
  return [
    {
      isError: state === ERROR,
      subject: name,
      reason: error ?? (state === ERROR ? 'in error' : 'starting'),
      since: last_change === undefined ? undefined : last_change * 1_000,
      view,
      query,
    },
  ];
}

function valueConcern({ key, state, error }: ProblemValue): Concern {
  const isWaiting = state === 'PENDING';
  return {
    isError: !isWaiting,
    subject: key,
    reason: withoutKey(error, key) ?? (isWaiting ? 'waits for a dependency' : state.toLowerCase()),
    since: undefined,
    view: 'values',
    query: { key },
  };
}

/** A key may have colons, but not at its end. */
function wordsOf(reason: string): string[] {
  return reason.split(/[\s,;()"']+/).map((word) => word.replace(/:$/, ''));
}

/** The key is the subject already. */
function withoutKey(error: string | undefined, key: string): string | undefined {
  return error?.replace(`${key}: `, '');
}

function eventConcern(event: ProcessedEvent): Concern {
  return {
    isError: true,
    subject: `event ${event.SeqNum}: ${event.Name}`,
    reason: failureOf(event),
    since: Date.parse(event.ProcessingEnd),
    view: 'events',
    query: { event: String(event.SeqNum) },
  };
}

/** All methods but Update. */
function isResync({ Method }: ProcessedEvent): boolean {
  return Method < 3;
}

/** The first error of its handlers, else that of its transaction; empty: none. */
function failureOf({ Handlers, TxnErrorStr }: ProcessedEvent): string {
  return Handlers.find(({ ErrorStr }) => ErrorStr !== '')?.ErrorStr ?? TxnErrorStr;
}
