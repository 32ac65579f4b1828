/**
 * The processed events of the agent, live: `GET /controller/events`. The stream ends while the page is
 * hidden, and continues after the last known event when it is shown again.
 */

import { effect, signal } from '@preact/signals';
import type { ProcessedEvent } from '#documents/events.ts';
import { EventRate } from './event-rate.ts';
import { isVisible } from './page-visibility.ts';
import { errorOf, eventsAddress } from './request.ts';

export type StreamState = 'connecting' | 'connected' | 'lost';

export interface StreamProblem {
  /** Of the reply; 0: there was none. */
  readonly status: number;
  /** The error of the agent; empty: there is none. */
  readonly text: string;
  /** Whether the browser asks for a password itself. */
  readonly hasPassword: boolean;
  /** Milliseconds since the epoch, by the clock of the browser. */
  readonly since: number;
}

/** Newest last; of a busy agent about the last minute. */
export const recentEvents = signal<readonly ProcessedEvent[]>([]);
export const streamState = signal<StreamState>('connecting');
/** Why there is no stream; undefined: there is one, or it is not known. */
export const streamProblem = signal<StreamProblem | undefined>(undefined);
/** Grows when the agent was restarted: its numbers begin again, and documents are of another run. */
export const agentRun = signal(0);
/** Time of the agent when the page began, in milliseconds since the epoch. */
export const agentTimeOrigin = signal(performance.timeOrigin);
/** Events by the time of their end. */
export const eventRate = new EventRate();
/** Grows with each batch of events: documents that follow the events are requested again. */
export const eventBatches = signal(0);

const MAX_EVENTS = 1_000;
/** Of the past, when the page is opened. */
const FIRST_EVENTS = 200;
/** Events of this time become one update of the page. */
const BATCH_MS = 250;
const RETRY_MS = 3_000;
/** A clock that advances more than this beyond the time of the page was set, or the computer slept. */
const CLOCK_STEP_MS = 2_000;

let source: EventSource | undefined;
let lastId: string | undefined;
let waiting: ProcessedEvent[] = [];
let batchTimer: number | undefined;
let retryTimer: number | undefined;
let explanation: AbortController | undefined;
/** When the page began by the clock of the browser, as it was when it was last compared. */
let clockOrigin = Date.now() - performance.now();

effect(() => {
  if (isVisible.value) connect();
  else disconnect();
});

function connect(): void {
  if (source) return;
  clearTimeout(retryTimer);
  const from = lastId === undefined ? `last=${FIRST_EVENTS}` : `after=${lastId}`;
  const opened = new EventSource(eventsAddress(from));
  source = opened;
  opened.addEventListener('connected', ({ data, lastEventId }: MessageEvent<string>) => {
    const { Time } = JSON.parse(data) as { readonly Time: string };
    agentTimeOrigin.value = Date.parse(Time) - performance.now();
    // The agent continues after the last known event, and knows none of another run.
    if (lastEventId === '' && lastId !== undefined) beginRun();
    lastId ??= lastEventId || undefined;
    if (streamState.value === 'lost') eventBatches.value++;
    streamState.value = 'connected';
    streamProblem.value = undefined;
  });
  opened.addEventListener('processed', ({ data, lastEventId }: MessageEvent<string>) => {
    lastId = lastEventId;
    add(JSON.parse(data) as ProcessedEvent);
  });
  // The browser's own attempts would use the address of the first one, and end at a reply with an error.
  opened.addEventListener('error', () => {
    if (source !== opened) return;
    disconnect();
    streamState.value = 'lost';
    void explain();
  });
}

/** The time of the page stops while the computer sleeps: a new stream begins with the time of the agent. */
export function reconnectAfterSleep(): void {
  const origin = Date.now() - performance.now();
  const step = origin - clockOrigin;
  clockOrigin = origin;
  if (step < CLOCK_STEP_MS || !source) return;
  disconnect();
  connect();
}

/** An event source does not tell why it failed. */
async function explain(): Promise<void> {
  const probe = new AbortController();
  explanation = probe;
  const since = streamProblem.peek()?.since ?? Date.now();
  let problem: StreamProblem | undefined = { status: 0, text: '', hasPassword: false, since };
  try {
    const response = await fetch(eventsAddress(''), {
      signal: AbortSignal.any([probe.signal, AbortSignal.timeout(RETRY_MS)]),
      cache: 'no-store',
    });
    const { ok, status, headers } = response;
    const hasPassword = /^basic/i.test(headers.get('WWW-Authenticate') ?? '');
    problem = ok ? undefined : { status, text: errorOf(await response.text()), hasPassword, since };
  } catch {
    // There is no reply.
  }
  if (explanation !== probe) return;
  probe.abort();
  streamProblem.value = problem;
  // Without a login it fails again, and the browser may ask for a password each time.
  if (problem?.status === 401) return;
  // The agent ends a stream after some minutes, for no other reason.
  const waitMs = problem ? RETRY_MS : BATCH_MS;
  retryTimer = setTimeout(() => isVisible.value && connect(), waitMs);
}

function beginRun(): void {
  lastId = undefined;
  waiting = [];
  recentEvents.value = [];
  agentRun.value++;
}

function disconnect(): void {
  clearTimeout(retryTimer);
  explanation?.abort();
  explanation = undefined;
  source?.close();
  source = undefined;
}

function add(event: ProcessedEvent): void {
  waiting.push(event);
  if (batchTimer === undefined) batchTimer = setTimeout(publish, BATCH_MS);
}

function publish(): void {
  batchTimer = undefined;
  for (const { ProcessingEnd } of waiting) eventRate.add(Date.parse(ProcessingEnd));
  recentEvents.value = [...recentEvents.value, ...waiting].slice(-MAX_EVENTS);
  waiting = [];
  eventBatches.value++;
}
