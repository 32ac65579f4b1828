/**
 * The phases of an event, from when the agent received its cause to the end of processing. All starts are
 * measured: the time between the phases is that of the event loop itself.
 */
import type { EventTrace, ProcessedEvent } from '#documents/events.ts';

export type PhaseKind = 'waiting' | 'queue' | 'handlers' | 'planning' | 'execution' | 'other';

export interface Interval {
  /** From the start of the chart. */
  readonly startMs: number;
  readonly tookMs: number;
}

export interface Phase extends Interval {
  readonly name: string;
  readonly kind: PhaseKind;
}

export interface EventTiming {
  readonly totalMs: number;
  /** Start of processing, from the start of the chart. */
  readonly processingMs: number;
  /** In the order of their starts. */
  readonly phases: readonly Phase[];
  /** Processing time outside of the phases. */
  readonly others: readonly Interval[];
  readonly otherMs: number;
  /** The last reply of VPP and Linux; undefined: nothing was sent to them. */
  readonly acknowledgedMs: number | undefined;
}

/** Shorter phases are the cost of measuring: half of what the page shows as 0.01 ms. */
const NOTHING_MS = 0.005;

export function timingOf(event: ProcessedEvent): EventTiming {
  const { Trace, Handlers, IsFollowUp } = event;
  const tookMs = processedMs(event);
  // Differs from 0 only if the time of the cause is known.
  const beforeMs = Math.max(0, Trace.TotalMs - Trace.QueuedMs - tookMs);
  const processingMs = beforeMs + Trace.QueuedMs;
  const phases: Phase[] = [];
  const add = (name: string, kind: PhaseKind, startMs: number, took: number): void => {
    if (took >= NOTHING_MS || kind === 'handlers')
      phases.push({ name, kind, startMs, tookMs: took });
  };
  const before = IsFollowUp ? 'the event that caused it' : 'receiving the change';
  add(before, 'waiting', 0, beforeMs);
  add('queue of events', 'queue', beforeMs, Trace.QueuedMs);
  for (const { Handler, Revert, StartMs, TookMs } of Handlers)
    add(Revert ? `${Handler} (revert)` : Handler, 'handlers', processingMs + StartMs, TookMs);
  let acknowledgedMs: number | undefined;
  for (const { isExecution, ...phase } of transactionPhases(Trace, processingMs)) {
    add(phase.name, phase.kind, phase.startMs, phase.tookMs);
    if (isExecution && (Trace.Transaction?.Operations ?? 0) > 0)
      acknowledgedMs = phase.startMs + phase.tookMs;
  }
  phases.sort((a, b) => a.startMs - b.startMs);
  const totalMs = processingMs + tookMs;
  const others = gaps(phases, processingMs, totalMs);
  const otherMs = others.reduce((sum, gap) => sum + gap.tookMs, 0);
  return { totalMs, processingMs, phases, others, otherMs, acknowledgedMs };
}

/** Duration of the processing, with microseconds. */
export function processedMs({ ProcessingStart, ProcessingEnd }: ProcessedEvent): number {
  return Math.max(0, msOf(ProcessingEnd) - msOf(ProcessingStart));
}

interface TransactionPhase extends Phase {
  readonly isExecution?: boolean;
}

/** The times of the scheduler follow one another from the commit on. */
function* transactionPhases(
  { CommitStartMs, CommitMs, Transaction }: EventTrace,
  processingMs: number,
): Generator<TransactionPhase> {
  if (CommitStartMs === null || CommitMs === null) return;
  const commitMs = processingMs + CommitStartMs;
  if (!Transaction) {
    yield { name: 'transaction', kind: 'execution', startMs: commitMs, tookMs: CommitMs };
    return;
  }
  const { QueuedMs, ReadingMs, PlanningMs, WritingMs, ExecutionMs } = Transaction;
  let startMs = commitMs;
  const next = (name: string, kind: PhaseKind, tookMs: number): TransactionPhase => {
    const phase = { name: `transaction: ${name}`, kind, startMs, tookMs };
    startMs += tookMs;
    return phase;
  };
  yield next('queue', 'queue', QueuedMs);
  yield next('reading VPP and Linux', 'planning', ReadingMs);
  yield next('planning', 'planning', PlanningMs);
  yield next('writing to the log', 'other', WritingMs);
  yield { ...next('execution', 'execution', ExecutionMs), isExecution: true };
  yield next('recording', 'other', commitMs + CommitMs - startMs);
}

/** Intervals that no phase covers. @param phases in the order of their starts */
function gaps(phases: readonly Interval[], from: number, to: number): Interval[] {
  const found: Interval[] = [];
  let covered = from;
  const add = (until: number): void => {
    if (until - covered >= NOTHING_MS) found.push({ startMs: covered, tookMs: until - covered });
  };
  for (const { startMs, tookMs } of phases) {
    add(Math.min(startMs, to));
    covered = Math.max(covered, startMs + tookMs);
  }
  add(to);
  return found;
}

/** Milliseconds since 1970 with the fraction that `Date` cuts off. */
function msOf(rfc3339: string): number {
  const [, rest = ''] = /\.\d{3}(\d{1,6})/.exec(rfc3339) ?? [];
  return Date.parse(rfc3339) + Number(`0.${rest || 0}`);
}
