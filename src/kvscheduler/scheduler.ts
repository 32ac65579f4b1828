/** The key-value scheduler as the rest of the agent sees it. */

import type { Drift } from '#documents/scheduler/drift.ts';
import type { SchedulerStats } from '#documents/scheduler/stats.ts';
import type { Clock } from '#infra/clock/clock.ts';
import type { NamedMapping } from '#infra/idxmap/idxmap.ts';
import type { Logger } from '#infra/log/log.ts';
import type { AnyDescriptor, NotificationSink } from './api/descriptor.ts';
import type {
  FailedValue,
  RetryPolicy,
  TransactionRequest,
  TransactionResult,
  TransactionSink,
  Value,
} from './api/transaction.ts';
import type { RetryStatus } from './executor/retry.ts';
import type { TransactionListener, Writer } from './executor/transactor.ts';
import type { DumpedValue, DumpSelector, View } from './graph/dump.ts';
import type { Graph } from './graph/graph.ts';
import type { Node } from './graph/node.ts';
import type { BaseValueStatus } from './graph/value-status.ts';
import type { Observer } from './history/observer.ts';
import type { RecordedTxn } from './history/record.ts';
import type { RetentionLimits } from './history/retention.ts';
import type { Timeline } from './history/timeline/timeline.ts';
import type { Preview, PreviewRequest } from './planner/preview.ts';

export interface SchedulerOptions {
  readonly descriptors: readonly AnyDescriptor[];
  readonly clock: Clock;
  readonly log: Logger;
  /** Operations in flight at once; 1 is the serial reference. Default 100. */
  readonly window?: number;
  /** How long records and the history of the graph are kept; the bytes apply to each of the two. */
  readonly history?: Partial<RetentionLimits>;
  /**
   * After each transaction, read back the values that it touched; each difference is a failure of the
   * transaction. Default: no.
   */
  readonly verify?: boolean;
  readonly observer?: Observer;
  /** Called after each transaction: the states of values may have changed. */
  readonly onTransaction?: TransactionListener;
  /** Receives the text of each transaction: the plan before, the outcome after its execution; and graphs on demand. */
  readonly writer?: Writer;
  /** Asked before each text of a transaction; default: they are always written. */
  readonly writesTransactions?: () => boolean;
}

export interface DownstreamResync {
  /** Retry policy for failures; absent: no retries. */
  readonly retry?: RetryPolicy;
  /** Write the graph as it was found, before the first operation. */
  readonly verbose: boolean;
}

/** Load of the scheduler. */
export interface Load {
  readonly queueLength: number;
  readonly queueCapacity: number;
  /** No transaction runs or waits. */
  readonly isIdle: boolean;
  /** Number of transactions, and of reads of the southbound for documents, that have ended since the start. */
  readonly ended: number;
  /** Operations without an answer of the southbound. */
  readonly inFlight: number;
  /** Longest time, in milliseconds, for which the scheduler has occupied the main thread. */
  readonly longestStretch: number;
  /** Rough size in memory of the records and of the history of the graph. */
  readonly historyBytes: number;
}

export interface Scheduler extends TransactionSink, NotificationSink {
  /**
   * Waits until the queue has capacity, and for the end of the transaction.
   * @throws InvalidTransactionError, ClosedSchedulerError, SchedulerDeadlockError as everything that
   * waits for its turn
   */
  commit(request: TransactionRequest): Promise<TransactionResult>;
  /** `commit`, but rejects with TransactionQueueFullError if the queue is full. */
  commitIfRoom(request: TransactionRequest): Promise<TransactionResult>;
  /**
   * Reconciles the southbound with the desired state.
   * @throws NoDesiredStateError, ClosedSchedulerError
   */
  resyncDownstream(options: DownstreamResync): Promise<TransactionResult>;
  /**
   * The plan of a change on the current graph; nothing is executed.
   * @throws InvalidTransactionError, TransactionQueueFullError, ClosedSchedulerError
   */
  plan(request: PreviewRequest): Promise<Preview>;
  /**
   * Changes that a downstream resync would make; nothing is executed.
   * @param only keys of base values that are read and compared; absent: all, and what no value desires
   * @throws NoDesiredStateError, TransactionQueueFullError, ClosedSchedulerError
   */
  drift(only?: ReadonlySet<string>): Promise<Drift>;
  record(seqNum: number): RecordedTxn | undefined;
  /** Records of a time window in milliseconds since the epoch, the oldest first. */
  history(since?: number, until?: number): RecordedTxn[];
  /** An unknown key has the state NONEXISTENT. The key of a derived value returns its base. */
  status(key: string): BaseValueStatus;
  /** Status of all base values whose key has the prefix, in the order of the keys. */
  statuses(prefix?: string): BaseValueStatus[];
  /** `statuses` one by one, for readers that yield to the event loop in between. */
  eachStatus(prefix?: string): Iterable<BaseValueStatus>;
  eachStatusOf(descriptor: AnyDescriptor): Iterable<BaseValueStatus>;
  /** Values, base and derived, that are not configured because of an error. */
  failedValues(): Iterable<FailedValue>;
  /**
   * @throws UnknownDescriptorError, and for the view SB NoRetrieveError, TransactionQueueFullError,
   * ClosedSchedulerError, and what the descriptor's `retrieve` throws
   */
  dump(view: View, selector: DumpSelector): Promise<DumpedValue[]>;
  /** The graph now, also while a transaction runs: for readers that yield to the event loop in between. */
  readonly graph: Graph;
  /** Retries of a node of the graph. */
  retriesOf(node: Node): RetryStatus | undefined;
  /** The history of the graph. */
  readonly timeline: Timeline;
  readonly stats: SchedulerStats;
  readonly load: Load;
  /** In the order in which they retrieve. */
  readonly descriptors: readonly AnyDescriptor[];
  /** Has the descriptor of the key, if there is one, check the value. @throws what its `validate` throws */
  validate(key: string, value: Value): void;
  /** Metadata of a descriptor's values by label; undefined: unknown descriptor. */
  metadataMap<M = unknown>(descriptor: string): NamedMapping<M> | undefined;
  /** Numbers of node and index lookups: the cost of transactions. */
  readonly visits: number;
  readonly lookUps: number;
  /** Completes the running transaction, rejects the others and cancels retries. */
  close(): Promise<void>;
}
