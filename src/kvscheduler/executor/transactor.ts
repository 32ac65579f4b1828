/**
 * One transaction from its start to its result: prepare (sequence number and targets; a resync reads
 * the southbound first), plan, announce (record and text, before the first request is sent), execute,
 * finish (verification if enabled, retries, timeline, record, history, result).
 */

import type { Clock } from '#infra/clock/clock.ts';
import { isGone } from '#infra/errors/errors.ts';
import type { KeyFailure, TransactionResult } from '../api/transaction.ts';
import type { Node } from '../graph/node.ts';
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

/**
 * @param changed the keys of base values whose own state, or the state of one of their derived values, may
 *   have changed, also twice; to be read once, which may be later. undefined: any may have changed. What a
 *   pending value waits for can change without its key among them.
 */
export type TransactionListener = (changed: Iterable<string> | undefined) => void;

export interface TransactorOptions {
  readonly context: SchedulerContext;
  readonly clock: Clock;
  readonly observer: Observer;
  readonly retries: Retries;
  readonly timeline: Timeline;
  readonly history: History;
  readonly verifies: boolean;
  readonly writer: Writer | undefined;
  /** Called after each transaction. */
  readonly onTransaction: TransactionListener;
  /** Whether the text of the current transaction is written. */
  readonly writesTransactions: () => boolean;
}

export class Transactor {
  readonly #options: TransactorOptions;
  #nextSeqNum = 0;

  constructor(options: TransactorOptions) {
    this.#options = options;
  }

  /**
   * To be called when the previous transaction has ended.
   * @param queuedMs for how long it has waited for that
   * @param retried the values of a retry
   */
  async run(
    prepare: () => Promise<PreparedTransaction>,
    queuedMs: number,
    retried?: RetryGroup,
  ): Promise<TransactionResult> {
    let changed: Iterable<string> | undefined;
    try {
      const { result, touched } = await this.#run(prepare, queuedMs, retried);
      changed = baseKeys(touched);
      return result;
    } finally {
      this.#options.onTransaction(changed);
    }
  }

  async #run(
    prepare: () => Promise<PreparedTransaction>,
    queuedMs: number,
    retried: RetryGroup | undefined,
  ): Promise<{ readonly result: TransactionResult; readonly touched: readonly Node[] }> {
    const { context, clock, observer, retries, history, verifies } = this.#options;
    const watch = new Stopwatch(clock, observer);
    const seqNum = this.#nextSeqNum++;
    const start = wholeMicros(clock.now());
    const prepared = await prepare();
    const readingMs = watch.lap('preProcessTransaction');
    const execution = new TransactionExecution(context, {
      seqNum,
      fromNorth: prepared.type === 'NBTransaction',
      retry: prepared.retry,
      revert: prepared.revert,
      optional: prepared.optional,
      mayRetry: (base) => retries.mayRetry(base),
      isRetry: retried !== undefined,
    });
    if (!retried) retries.startEpoch();
    await execution.prepare(prepared);
    const planningMs = watch.lap('simulateTransaction');
    observer.worked('Plan', planningMs);
    const record = announcement(seqNum, start, prepared, retried, execution);
    await this.#writeTransaction(beginningText(record));
    const writingMs = watch.lap('preRecordTransaction');
    await execution.execute();
    const executionMs = watch.lap('executeTransaction');
    const mismatches = verifies ? await this.#verify(record, execution) : [];
    const { touched, failed } = execution;
    const givenUp = await retries.settle(seqNum, touched, failed, context);
    watch.lap('postProcessTransaction');
    const stop = wholeMicros(clock.now());
    delete record.PreRecord;
    record.Stop = timeText(stop);
    if (execution.executed.length > 0) record.Executed = execution.executed;
    await this.recordGraph(touched.concat(givenUp), stop);
    await this.#writeTransaction(endText(record));
    await history.add(record, start, stop, context.slices);
    watch.lap('recordTransaction');
    watch.stop(prepared.type, execution.executed);
    const failures = [...prepared.failures, ...execution.failures, ...mismatches];
    const operations = execution.executed.filter(({ NOOP }) => !NOOP).length;
    // those of the northbound are logged with their event
    if (prepared.type !== 'NBTransaction' && operations > 0)
      context.log.info({ seqNum, type: prepared.type, operations }, 'transaction executed');
    if (failures.length > 0) this.#logFailures(prepared, seqNum, failures);
    const trace = { queuedMs, readingMs, planningMs, writingMs, executionMs, operations };
    return { result: { seqNum, failures, trace }, touched };
  }

  /**
   * Adds nodes that were touched, or whose metadata changed, to the timeline.
   * @param ms the time, in milliseconds since the epoch
   */
  async recordGraph(touched: readonly Node[], ms: number): Promise<void> {
    const { context, clock, observer, timeline } = this.#options;
    const { graph, slices } = context;
    const start = clock.monotonic();
    const changed = touched.concat(graph.takeNodesWithNewMetadata());
    await timeline.record(graph, changed, Math.round(ms * 1000), slices);
    observer.worked('Record', clock.monotonic() - start);
  }

  /** Writes a text. */
  async write(pieces: Iterable<string>): Promise<void> {
    const { context, writer } = this.#options;
    if (!writer) return;
    for (const piece of pieces) {
      if (context.slices.due()) await context.slices.turn();
      writer.write(piece);
    }
  }

  async #writeTransaction(pieces: Iterable<string>): Promise<void> {
    if (this.#options.writesTransactions()) await this.write(pieces);
  }

  /** Compares the touched values with the southbound. @returns a failure for each difference */
  async #verify(record: RecordedTxn, execution: TransactionExecution): Promise<KeyFailure[]> {
    const { mismatches, unread } = await verify(this.#options.context, execution.touched);
    if (mismatches.length > 0)
      record.VerificationErrors = mismatches.map(({ error }) => error.message);
    if (unread.length > 0)
      record.RetrieveErrors = [
        ...(record.RetrieveErrors ?? []),
        ...unread.map(({ descriptor, error }) => `${descriptor.name}: ${error.message}`),
      ];
    return mismatches.map(({ key, error }) => ({ key, operation: 'UNDEFINED', error }));
  }

  /** A resync meets what has ended before it, such as pods: that is no fault. */
  #logFailures(
    { resync }: PreparedTransaction,
    seqNum: number,
    failures: TransactionResult['failures'],
  ): void {
    const texts = failures
      .slice(0, 20)
      .map(({ key, operation, error }) => `${key} (${operation}): ${error.message}`);
    const { log } = this.#options.context;
    const isExpected = resync !== undefined && failures.every(({ error }) => isGone(error));
    const level = isExpected ? 'info' : 'warn';
    log[level]({ seqNum, failures: texts, count: failures.length }, 'values failed');
  }
}

function* baseKeys(nodes: Iterable<Node>): Iterable<string> {
  for (const { root } of nodes) yield root.key;
}

/** The record before the first operation. */
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
