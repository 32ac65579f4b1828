/** Decides what needs the attention of an operator, and in which order. */

import type { NodeStatus } from '#documents/cluster.ts';
import type { EnforcementDocument } from '#documents/enforcement.ts';
import type { ProcessedEvent } from '#documents/events.ts';
import type { ValueSummary } from '#documents/scheduler/value-search.ts';

export interface Concern {
  /** In this order. */
  readonly severity: (typeof severities)[number];
  /** The part that is at fault: a component, a value or an event. */
  readonly subject: string;
  readonly reason: string;
  /** Milliseconds since the epoch; undefined: unknown. */
  readonly since: number | undefined;
  /** The view that shows more, with its arguments. */
  readonly view: string;
  readonly query: Readonly<Record<string, string>>;
  /** Of a component the same as of `netctl status`; of a value that of its state. */
  readonly help?: {
    readonly remedy: string;
    readonly component: string;
    readonly code: string | null;
  };
}

const severities = ['error', 'warning', 'waiting'] as const;

/** Of one cause there may be many; the view of events has all. */
const MAX_EVENTS = 5;

/** The view in which the cause of a problem of a component shows. */
const viewsOfComponents: Readonly<Record<string, readonly [string, Record<string, string>]>> = {
  controller: ['events', { failed: 'true' }],
  configuration: ['values', { state: 'problem' }],
  kvscheduler: ['transactions', {}],
  services: ['services', { show: 'problems' }],
  policies: ['policies', { show: 'problems' }],
  nodes: ['nodes', { show: 'problems' }],
  link: ['nodes', { show: 'problems' }],
};

/** By state; docs/troubleshooting.md has each with what to look at. */
const remediesOfValues: Readonly<Record<string, string>> = {
  PENDING: 'Look at what it waits for: why is that not configured?',
  RETRYING: 'Wait: it is repeated. Its error names the cause.',
  FAILED: 'Remove the cause that its error names. The next resync tries again.',
  INVALID: 'Correct it at its source: Kubernetes, or the configuration of the node in etcd.',
};

type ProblemValue = Pick<ValueSummary, 'key' | 'state' | 'error'>;

export function concernsOf(
  status: Pick<NodeStatus, 'problems'> | undefined,
  unenforced: EnforcementDocument['policies'],
  values: readonly ProblemValue[],
  events: readonly ProcessedEvent[],
): readonly Concern[] {
  const components = (status?.problems ?? []).map(componentConcern);
  const failed = unsolved(events).slice(-MAX_EVENTS).reverse();
  // The value is the cause: a component or an event that names it reports the same.
  const keys = new Set(values.map(({ key }) => key));
  const isOther = ({ reason }: Concern) => wordsOf(reason).every((word) => !keys.has(word));
  const rank = ({ severity }: Concern) => severities.indexOf(severity);
  return [
    ...components.filter(isOther),
    ...unenforced.map(policyConcern),
    ...values.map(valueConcern),
    ...failed.map(eventConcern).filter(isOther),
  ].sort((a, b) => rank(a) - rank(b));
}

/**
 * Events that failed and whose failure lasts: a resync that has succeeded has repaired what failed before it, and a
 * later event of the same object has replaced it.
 */
function unsolved(events: readonly ProcessedEvent[]): readonly ProcessedEvent[] {
  const repaired = events.findLastIndex((event) => isResync(event) && failureOf(event) === '');
  const found: ProcessedEvent[] = [];
  const replaced = new Set<string>();
  for (const event of events.slice(repaired + 1).reverse()) {
    const object = objectOf(event);
    if (failureOf(event) !== '' && !replaced.has(object)) found.push(event);
    replaced.add(object);
  }
  return found.reverse();
}

/** The pod of an event that names one, else a text that no other event has. */
function objectOf({ Name, SeqNum }: ProcessedEvent): string {
  const last = Name.split(' ').at(-1) ?? '';
  return last.includes('/') ? last : String(SeqNum);
}

function componentConcern(problem: NodeStatus['problems'][number]): Concern {
  const { component, severity, text, since, remedy, code } = problem;
  const [view, query] = viewsOfComponents[component] ?? ['', {}];
  return {
    severity,
    subject: component,
    reason: text,
    since: since === null ? undefined : Date.parse(since),
    view,
    query,
    help: { remedy, component, code },
  };
}

function policyConcern({ policy, code, reason }: EnforcementDocument['policies'][number]): Concern {
  return {
    // all others deny more, not less
    severity: code === 'NotConfigured' ? 'error' : 'warning',
    subject: `policy ${policy}`,
    reason: `not enforced as defined: ${reason}`,
    since: undefined,
    view: 'policies',
    query: {},
  };
}

function valueConcern({ key, state, error }: ProblemValue): Concern {
  const isWaiting = state === 'PENDING';
  const remedy = remediesOfValues[state];
  return {
    severity: isWaiting ? 'waiting' : 'error',
    subject: key,
    reason: withoutKey(error, key) ?? (isWaiting ? 'waits for a dependency' : state.toLowerCase()),
    since: undefined,
    view: 'values',
    query: { key },
    ...(remedy !== undefined && { help: { remedy, component: state, code: null } }),
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
    severity: 'error',
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
