/**
 * The key-value scheduler: takes wishes for values, and reports of what the southbound did by
 * itself, one transaction after the other, and makes the southbound what is wished as far as the
 * values' dependencies allow.
 */

import type { Clock } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import { errorText } from '#infra/errors/errors.ts';
import { IndexMap, type NamedMapping } from '#infra/idxmap/idxmap.ts';
import type { Logger } from '#infra/log/log.ts';
import type { AnyDescriptor, NotificationSink, NotifiedValue } from './api/descriptor.ts';
import { TransactionQueueFullError } from './api/errors.ts';
import type {
  RetryPolicy,
  TransactionRequest,
  TransactionResult,
  TransactionSink,
} from './api/transaction.ts';
import { DescriptorCalls } from './executor/descriptor-calls.ts';
import { GraphWriter } from './executor/graph-writer.ts';
import {
  assertValid,
  type PreparedTransaction,
  prepareCommit,
  prepareNotification,
  prepareRetry,
} from './executor/prepare.ts';
import { readSouthbound } from './executor/refresh.ts';
import { Retries, type RetryGroup } from './executor/retry.ts';
import { safeDescriptor } from './executor/safe-descriptor.ts';
import type { SchedulerContext } from './executor/scheduler-context.ts';
import { Transactor, type Writer } from './executor/transactor.ts';
import { type Task, TaskQueue } from './executor/work-queue.ts';
import { Registry } from './graph/descriptor-registry.ts';
import {
  assertReadable,
  type DumpedValue,
  type DumpSelector,
  dumpFound,
  dumpKnown,
  selectDescriptor,
  type View,
} from './graph/dump.ts';
import { nodesStepwise, WritableGraph } from './graph/graph.ts';
import { graphText } from './graph/graph-text.ts';
import { type BaseValueStatus, statusOf, unknownStatus } from './graph/value-status.ts';
import { History } from './history/history.ts';
import { combineObservers, type Observer } from './history/observer.ts';
import type { RecordedTxn, TxnType } from './history/record.ts';
import { defaultRetention, type RetentionLimits } from './history/retention.ts';
import { Stats, type StatsDocument } from './history/stats.ts';
import { Timeline } from './history/timeline/timeline.ts';
import { assertPlannable, type Preview, type PreviewRequest, preview } from './planner/preview.ts';

/** Transactions that may wait for their turn. */
const QUEUE_LIMIT = 200;
const DEFAULT_WINDOW = 100;

export interface SchedulerOptions {
  readonly descriptors: readonly AnyDescriptor[];
  readonly clock: Clock;
  readonly log: Logger;
  /** Operations in flight at once; 1 is the serial reference. Default 100. */
  readonly window?: number;
  /** How long records, and what the graph was like, are kept; the bytes count for each of them. */
  readonly history?: Partial<RetentionLimits>;
  /**
   * After every transaction, read back what it touched; each difference is a failure of the
   * transaction. Default: no.
   */
  readonly verify?: boolean;
  readonly observer?: Observer;
  /** Gets the text of every transaction: its plan before it runs, its outcome afterwards. */
  readonly writer?: Writer;
}

export interface DownstreamResync {
  /** For what fails; absent: nothing is repeated. */
  readonly retry?: RetryPolicy;
  /** Write the graph as it was found, before anything is done about it. */
  readonly verbose: boolean;
}

/** How busy the scheduler is. */
export interface Load {
  readonly queueLength: number;
  readonly queueCapacity: number;
  /** Operations that the southbound has not answered yet. */
  readonly inFlight: number;
  /** Milliseconds of the longest stretch so far for which it held the main thread. */
  readonly longestStretch: number;
  /** Rough size in memory of the records and of the past of the graph. */
  readonly historyBytes: number;
}

export interface Scheduler extends TransactionSink, NotificationSink {
  /**
   * Waits for room in the queue and for the end of the transaction.
   * @throws InvalidTransactionError, ClosedSchedulerError
   */
  commit(request: TransactionRequest): Promise<TransactionResult>;
  /** The same, but rejects at once with TransactionQueueFullError when there is no room. */
  commitIfRoom(request: TransactionRequest): Promise<TransactionResult>;
  /**
   * Holds what is wished against the southbound and repairs it.
   * @throws ClosedSchedulerError
   */
  resyncDownstream(options: DownstreamResync): Promise<TransactionResult>;
  /**
   * What a change would do, if it came now.
   * @throws InvalidTransactionError, TransactionQueueFullError, ClosedSchedulerError
   */
  plan(request: PreviewRequest): Promise<Preview>;
  record(seqNum: number): RecordedTxn | undefined;
  /** Records of a time window in milliseconds since the epoch, the oldest first. */
  history(since?: number, until?: number): RecordedTxn[];
  /** A key that is not known has the state NONEXISTENT; that of a derived value shows its base. */
  status(key: string): BaseValueStatus;
  /** Status of all base values whose key has the prefix, by key. */
  statuses(prefix?: string): BaseValueStatus[];
  /** The same one by one, for readers that give way in between. */
  eachStatus(prefix?: string): Iterable<BaseValueStatus>;
  eachStatusOf(descriptor: AnyDescriptor): Iterable<BaseValueStatus>;
  /**
   * @throws UnknownDescriptorError, and for the view SB NoRetrieveError, TransactionQueueFullError,
   * ClosedSchedulerError, and what the descriptor's `retrieve` throws
   */
  dump(view: View, selector: DumpSelector): Promise<DumpedValue[]>;
  /** What the graph was like at any moment that is kept. */
  readonly timeline: Timeline;
  readonly stats: StatsDocument;
  readonly load: Load;
  /** In the order in which they are read back. */
  readonly descriptors: readonly AnyDescriptor[];
  /** Run-time data of a descriptor's values by label; undefined: no such descriptor. */
  metadataMap<M = unknown>(descriptor: string): NamedMapping<M> | undefined;
  /** How often a value was looked at, and how often an index was asked: what transactions cost. */
  readonly visits: number;
  readonly lookUps: number;
  /** Ends the running transaction, refuses the others and forgets repetitions. */
  close(): Promise<void>;
}

/** @throws DescriptorExistsError, DescriptorOverlapError, RetrieveCycleError */
export function createScheduler(options: SchedulerOptions): Scheduler {
  return new KvScheduler(options);
}

class KvScheduler implements Scheduler {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #stats = new Stats();
  readonly #observer: Observer;
  readonly #calls: DescriptorCalls;
  readonly #around: SchedulerContext;
  readonly #maps = new Map<string, IndexMap<unknown>>();
  readonly timeline: Timeline;
  readonly #history: History;
  readonly #queue = new TaskQueue(QUEUE_LIMIT);
  readonly #retries: Retries;
  /** What was reported and is not looked at yet; one task stands for all of it. */
  readonly #reported = new Map<string, NotifiedValue>();
  readonly #transactor: Transactor;

  constructor(options: SchedulerOptions) {
    const { descriptors, clock, log, observer } = options;
    this.#clock = clock;
    this.#log = log;
    this.#observer = observer ? combineObservers([this.#stats, observer]) : this.#stats;
    this.#calls = new DescriptorCalls(clock, this.#observer);
    const registry = new Registry(
      descriptors.map((one) => this.#calls.watch(safeDescriptor(one, log))),
    );
    for (const { name, metadataFields } of registry.descriptors)
      this.#maps.set(name, new IndexMap(name, log, metadataFields));
    const graph = new WritableGraph(this.#maps);
    const slices = new Slices(clock);
    this.#around = {
      registry,
      graph,
      writer: new GraphWriter({ graph, registry, log, slices }),
      window: options.window ?? DEFAULT_WINDOW,
      slices,
      calls: this.#calls,
      log,
    };
    const limits = { ...defaultRetention, ...options.history };
    this.timeline = new Timeline(clock, limits);
    this.#history = new History(clock, limits);
    this.#retries = new Retries(clock, (group) => this.#queue.add(this.#retryTask(group)));
    this.#transactor = new Transactor({
      around: this.#around,
      clock,
      observer: this.#observer,
      retries: this.#retries,
      timeline: this.timeline,
      history: this.#history,
      verifies: options.verify ?? false,
      writer: options.writer,
    });
  }

  get descriptors(): readonly AnyDescriptor[] {
    return this.#around.registry.descriptors;
  }

  get visits(): number {
    return this.#around.graph.visits;
  }

  get lookUps(): number {
    return this.#around.graph.lookUps;
  }

  commit(request: TransactionRequest): Promise<TransactionResult> {
    return this.#commit(request, (task) => this.#queue.addWhenRoom(task));
  }

  commitIfRoom(request: TransactionRequest): Promise<TransactionResult> {
    return this.#commit(request, (task) => this.#addIfRoom(task));
  }

  resyncDownstream({ retry, verbose }: DownstreamResync): Promise<TransactionResult> {
    const request: TransactionRequest = {
      description: 'on demand',
      mode: 'downstream-resync',
      values: new Map(),
      onFailure: 'best-effort',
      ...(retry && { retry }),
    };
    const open = async (): Promise<PreparedTransaction> => {
      const opening = await prepareCommit(this.#around, request);
      if (verbose) await this.#transactor.write(graphText(this.#around.graph));
      return opening;
    };
    return this.#transactInTurn('NBTransaction', open, (task) => this.#queue.addWhenRoom(task));
  }

  async plan(request: PreviewRequest): Promise<Preview> {
    assertPlannable(request);
    return this.#inTurn(
      () => preview(this.#around, request),
      (task) => this.#queue.addIfRoom(task),
    );
  }

  pushNotification(pairs: readonly NotifiedValue[]): void {
    if (pairs.length === 0 || this.#queue.closed) return;
    if (this.#reported.size === 0) this.#queue.add(this.#notificationTask());
    for (const pair of pairs) this.#reported.set(pair.key, pair);
  }

  record(seqNum: number): RecordedTxn | undefined {
    return this.#history.get(seqNum);
  }

  history(since?: number, until?: number): RecordedTxn[] {
    return this.#history.list(since, until);
  }

  status(key: string): BaseValueStatus {
    const { graph } = this.#around;
    const node = graph.get(key);
    return node ? statusOf(graph, node.root) : unknownStatus(key);
  }

  statuses(prefix = ''): BaseValueStatus[] {
    return [...this.eachStatus(prefix)];
  }

  *eachStatus(prefix = ''): Generator<BaseValueStatus, void, void> {
    const { graph } = this.#around;
    for (const node of graph.stepwise(prefix)) if (!node.base) yield statusOf(graph, node);
  }

  *eachStatusOf(descriptor: AnyDescriptor): Generator<BaseValueStatus, void, void> {
    const { graph } = this.#around;
    for (const node of nodesStepwise(graph, descriptor))
      if (!node.base) yield statusOf(graph, node);
  }

  get stats(): StatsDocument {
    return this.#stats.document;
  }

  get load(): Load {
    return {
      queueLength: this.#queue.length,
      queueCapacity: QUEUE_LIMIT,
      inFlight: this.#calls.inFlight,
      longestStretch: this.#around.slices.longest,
      historyBytes: this.#history.bytes + this.timeline.bytes,
    };
  }

  async dump(view: View, selector: DumpSelector): Promise<DumpedValue[]> {
    const { graph, registry } = this.#around;
    const descriptor = selectDescriptor(registry, selector);
    if (view !== 'SB') return dumpKnown(graph, descriptor, view, new Slices(this.#clock));
    assertReadable(descriptor);
    return this.#inTurn(
      async () =>
        dumpFound(this.#around, descriptor, await readSouthbound(this.#around, descriptor)),
      (task) => this.#queue.addIfRoom(task),
    );
  }

  metadataMap<M>(descriptor: string): NamedMapping<M> | undefined {
    return this.#maps.get(descriptor) as NamedMapping<M> | undefined;
  }

  close(): Promise<void> {
    this.#retries.cancel();
    return this.#queue.close();
  }

  async #commit(
    request: TransactionRequest,
    enqueue: (task: Task) => void,
  ): Promise<TransactionResult> {
    assertValid(request);
    return this.#transactInTurn(
      'NBTransaction',
      () => prepareCommit(this.#around, request),
      enqueue,
    );
  }

  async #transactInTurn(
    type: TxnType,
    open: () => Promise<PreparedTransaction>,
    enqueue: (task: Task) => void,
  ): Promise<TransactionResult> {
    const asked = this.#clock.monotonic();
    const work = (): Promise<TransactionResult> => {
      this.#observer.waited(type, this.#clock.monotonic() - asked);
      return this.#transactor.run(open);
    };
    const result = await this.#inTurn(work, enqueue);
    this.#observer.committed(this.#clock.monotonic() - asked);
    return result;
  }

  /** Runs the work when its turn comes and hands its result or error to the caller. */
  #inTurn<T>(work: () => Promise<T>, enqueue: (task: Task) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      enqueue({ run: () => work().then(resolve, reject), refuse: reject });
    });
  }

  #addIfRoom({ run, refuse }: Task): void {
    this.#queue.addIfRoom({
      run,
      refuse: (error) => {
        if (error instanceof TransactionQueueFullError) this.#observer.dropped();
        refuse(error);
      },
    });
  }

  #retryTask(group: RetryGroup): Task {
    return this.#ownTask('RetryFailedOps', async () => {
      this.#retries.begin(group);
      const opening = await prepareRetry(this.#around, group);
      if (opening) await this.#transactor.run(async () => opening, group);
    });
  }

  #notificationTask(): Task {
    return this.#ownTask('SBNotification', async () => {
      const pairs = [...this.#reported.values()];
      this.#reported.clear();
      const opening = await prepareNotification(this.#around, pairs);
      if (opening) await this.#transactor.run(async () => opening);
      else await this.#transactor.recordGraph(new Set(), this.#clock.now());
    });
  }

  /** A task that nobody waits for. */
  #ownTask(type: TxnType, work: () => Promise<void>): Task {
    const asked = this.#clock.monotonic();
    return {
      run: () => {
        this.#observer.waited(type, this.#clock.monotonic() - asked);
        return work().catch((thrown: unknown) =>
          this.#log.error({ error: errorText(thrown) }, 'Transaction broke off'),
        );
      },
      refuse: () => undefined,
    };
  }
}
