/**
 * One transaction from its opening to its answer: open (sequence number, what to aim at; a resync
 * reads the southbound first), plan, announce (record and text, before the first request is sent),
 * carry out, close (verification if asked for, repetitions, timeline, record, history, answer).
 */

import type { Clock } from '#infra/clock/clock.ts';
import type { KeyFailure, TransactionResult } from '../api/transaction.ts';
import type { Node } from '../graph/graph.ts';
import type { History } from '../history/history.ts';
import type { Observer } from '../history/observer.ts';
import type { RecordedTxn } from '../history/record.ts';
import { beginningText, endText } from '../history/record-text.ts';
import { Stopwatch } from '../history/stopwatch.ts';
import { timeText, wholeMicros } from '../history/time.ts';
import type { Timeline } from '../history/timeline/timeline.ts';
import type { PreparedTransaction } from './prepare.ts';
import type { Retries, RetryGroup } from './retry.ts';
import type { SchedulerContext } from './scheduler-context.ts';
import { TransactionExecution } from './transaction-execution.ts';
import { verify } from './verification.ts';

export interface Writer {
  write(text: string): unknown;
}

export interface TransactorParts {
  readonly around: SchedulerContext;
  readonly clock: Clock;
  readonly observer: Observer;
  readonly retries: Retries;
  readonly timeline: Timeline;
  readonly history: History;
  readonly verifies: boolean;
  readonly writer: Writer | undefined;
}

export class Transactor {
  readonly #parts: TransactorParts;
  #nextSeqNum = 0;

  constructor(parts: TransactorParts) {
    this.#parts = parts;
  }

  /**
   * To be called when the one before has ended.
   * @param retried what is repeated, if it is a repetition
   */
  async run(
    open: () => Promise<PreparedTransaction>,
    retried?: RetryGroup,
  ): Promise<TransactionResult> {
    const { around, clock, observer, retries, history, verifies } = this.#parts;
    const watch = new Stopwatch(clock, observer);
    const seqNum = this.#nextSeqNum++;
    const start = wholeMicros(clock.now());
    const opening = await open();
    const readingMs = watch.lap('preProcessTransaction');
    const run = new TransactionExecution(around, {
      seqNum,
      fromNorth: opening.type === 'NBTransaction',
      retry: opening.retry,
      revert: opening.revert,
      mayRetry: (base) => retries.mayRetry(base),
      isRetry: retried !== undefined,
    });
    if (!retried) retries.startEpoch();
    await run.prepare(opening);
    const planningMs = watch.lap('simulateTransaction');
    observer.worked('Plan', planningMs);
    const record = announcement(seqNum, start, opening, retried, run);
    await this.write(beginningText(record));
    watch.lap('preRecordTransaction');
    await run.execute();
    const executionMs = watch.lap('executeTransaction');
    const mismatches = verifies ? await this.#verify(record, run) : [];
    const { touched, failed } = run;
    const givenUp = await retries.settle(seqNum, failed, around);
    watch.lap('postProcessTransaction');
    const stop = wholeMicros(clock.now());
    delete record.PreRecord;
    record.Stop = timeText(stop);
    if (run.executed.length > 0) record.Executed = run.executed;
    for (const node of givenUp) touched.add(node);
    await this.recordGraph(touched, stop);
    await this.write(endText(record));
    await history.add(record, start, stop, around.slices);
    watch.lap('recordTransaction');
    watch.stop(opening.type, run.executed);
    const failures = [...opening.failures, ...run.failures, ...mismatches];
    if (failures.length > 0) this.#warn(seqNum, failures);
    const trace = {
      readingMs,
      planningMs,
      executionMs,
      operations: run.executed.filter(({ NOOP }) => !NOOP).length,
    };
    return { seqNum, failures, trace };
  }

  /**
   * Takes what was touched, and whose metadata changed, into the timeline.
   * @param ms when that was, in milliseconds since the epoch
   */
  async recordGraph(touched: ReadonlySet<Node>, ms: number): Promise<void> {
    const { around, clock, observer, timeline } = this.#parts;
    const { graph, slices } = around;
    const start = clock.monotonic();
    const micros = Math.round(ms * 1000);
    await timeline.record(graph, touched, graph.takeNodesWithNewMetadata(), micros, slices);
    observer.worked('Record', clock.monotonic() - start);
  }

  /** To where the texts of transactions go. */
  async write(pieces: Iterable<string>): Promise<void> {
    const { around, writer } = this.#parts;
    if (!writer) return;
    for (const piece of pieces) {
      if (around.slices.due()) await around.slices.turn();
      writer.write(piece);
    }
  }

  /** Holds what was touched against the southbound. @returns a failure for each difference */
  async #verify(record: RecordedTxn, run: TransactionExecution): Promise<KeyFailure[]> {
    const { mismatches, unread } = await verify(this.#parts.around, run.touched);
    if (mismatches.length > 0)
      record.VerificationErrors = mismatches.map(({ error }) => error.message);
    if (unread.length > 0)
      record.RetrieveErrors = [
        ...(record.RetrieveErrors ?? []),
        ...unread.map(({ descriptor, error }) => `${descriptor.name}: ${error.message}`),
      ];
    return mismatches.map(({ key, error }) => ({ key, operation: 'UNDEFINED', error }));
  }

  #warn(seqNum: number, failures: TransactionResult['failures']): void {
    const texts = failures
      .slice(0, 20)
      .map(({ key, operation, error }) => `${key} (${operation}): ${error.message}`);
    const { log } = this.#parts.around;
    log.warn({ seqNum, failures: texts, count: failures.length }, 'Values failed');
  }
}

/** The record as far as it is known before anything is done. */
function announcement(
  seqNum: number,
  start: number,
  { type, resync, description, values, failures }: PreparedTransaction,
  retried: RetryGroup | undefined,
  { planned }: TransactionExecution,
): RecordedTxn {
  return {
    PreRecord: true,
    WithSimulation: true,
    Start: timeText(start),
    Stop: '',
    SeqNum: seqNum,
    TxnType: type,
    ...(resync && { ResyncType: resync }),
    ...(description !== '' && { Description: description }),
    ...(retried && { RetryForTxn: retried.forTxn, RetryAttempt: retried.attempt }),
    ...(values.length > 0 && { Values: values }),
    ...(planned.length > 0 && { Planned: planned }),
    ...(failures.length > 0 && {
      RetrieveErrors: failures.map(({ key, error }) => `${key}: ${error.message}`),
    }),
  };
}
