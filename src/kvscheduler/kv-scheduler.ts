/**
 * The key-value scheduler. It takes desired values, and reports of changes in the southbound, one
 * transaction after the other, and reconciles the southbound with the desired state as far as the
 * dependencies of the values permit.
 */

import type { Drift } from '#documents/scheduler/drift.ts';
import type { SchedulerStats } from '#documents/scheduler/stats.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import { errorText } from '#infra/errors/errors.ts';
import { IndexMap, type NamedMapping } from '#infra/idxmap/idxmap.ts';
import type { Logger } from '#infra/log/log.ts';
import type { AnyDescriptor, NotifiedValue } from './api/descriptor.ts';
import {
  NoDesiredStateError,
  SchedulerDeadlockError,
  TransactionQueueFullError,
  UnimplementedValueError,
} from './api/errors.ts';
import type {
  FailedValue,
  TransactionRequest,
  TransactionResult,
  Value,
} from './api/transaction.ts';
import { DescriptorCalls } from './executor/descriptor-calls.ts';
import { readDrift } from './executor/drift.ts';
import { GraphWriter } from './executor/graph-writer.ts';
import {
  assertValid,
  type PreparedTransaction,
  prepareCommit,
  prepareNotification,
  prepareRetry,
} from './executor/prepare.ts';
import { readSouthbound } from './executor/refresh.ts';
import { Retries, type RetryGroup, type RetryStatus } from './executor/retry.ts';
import { safeDescriptor } from './executor/safe-descriptor.ts';
import type { SchedulerContext } from './executor/scheduler-context.ts';
import { type Task, TaskQueue } from './executor/task-queue.ts';
import { type TransactionListener, Transactor } from './executor/transactor.ts';
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
import { type Graph, nodesStepwise, WritableGraph } from './graph/graph.ts';
import { graphText } from './graph/graph-text.ts';
import type { Node } from './graph/node.ts';
import {
  type BaseValueStatus,
  statusOf,
  UnavailablePrefixes,
  unknownStatus,
} from './graph/value-status.ts';
import { History } from './history/history.ts';
import { combineObservers, type Observer } from './history/observer.ts';
import type { RecordedTxn, TxnType } from './history/record.ts';
import { defaultRetention } from './history/retention.ts';
import { Stats } from './history/stats.ts';
import { Timeline } from './history/timeline/timeline.ts';
import { assertPlannable, type Preview, type PreviewRequest, preview } from './planner/preview.ts';
import type { DownstreamResync, Load, Scheduler, SchedulerOptions } from './scheduler.ts';

/** Maximum number of transactions in the queue. */
const QUEUE_LIMIT = 200;
const DEFAULT_WINDOW = 100;

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
  readonly #context: SchedulerContext;
  readonly #maps = new Map<string, IndexMap<unknown>>();
  readonly timeline: Timeline;
  readonly #history: History;
  readonly #queue = new TaskQueue(QUEUE_LIMIT);
  readonly #retries: Retries;
  /** Reports that are not processed yet; one task processes them all. */
  readonly #reported = new Map<string, NotifiedValue>();
  readonly #transactor: Transactor;
  readonly #onTransaction: TransactionListener;
  /** The first transaction has set it; before that, everything in the southbound seems stale. */
  #hasDesiredState = false;

  constructor(options: SchedulerOptions) {
    const { descriptors, clock, log, observer } = options;
    this.#clock = clock;
    this.#log = log;
    this.#observer = observer ? combineObservers([this.#stats, observer]) : this.#stats;
    this.#calls = new DescriptorCalls(clock, this.#observer);
    const registry = new Registry(
      descriptors.map((one) => this.#calls.timed(safeDescriptor(one, log))),
    );
    for (const { name, metadataFields } of registry.descriptors)
      this.#maps.set(name, new IndexMap(name, log, metadataFields));
    const graph = new WritableGraph(this.#maps);
    const slices = new Slices(clock);
    this.#context = {
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
    this.#onTransaction = options.onTransaction ?? (() => undefined);
    this.#transactor = new Transactor({
      context: this.#context,
      clock,
      observer: this.#observer,
      retries: this.#retries,
      timeline: this.timeline,
      history: this.#history,
      verifies: options.verify ?? false,
      writer: options.writer,
      onTransaction: this.#onTransaction,
      writesTransactions: options.writesTransactions ?? (() => true),
    });
  }

  get descriptors(): readonly AnyDescriptor[] {
    return this.#context.registry.descriptors;
  }

  get graph(): Graph {
    return this.#context.graph;
  }

  get visits(): number {
    return this.#context.graph.visits;
  }

  get lookUps(): number {
    return this.#context.graph.lookUps;
  }

  commit(request: TransactionRequest): Promise<TransactionResult> {
    return this.#commit(request, (task) => this.#queue.addWhenPossible(task));
  }

  commitIfRoom(request: TransactionRequest): Promise<TransactionResult> {
    return this.#commit(request, (task) => this.#addIfPossible(task));
  }

  async resyncDownstream({ retry, verbose }: DownstreamResync): Promise<TransactionResult> {
    this.#ensureDesiredState();
    const request: TransactionRequest = {
      description: 'on demand',
      mode: 'downstream-resync',
      values: new Map(),
      onFailure: 'best-effort',
      ...(retry && { retry }),
    };
    const prepare = async (): Promise<PreparedTransaction> => {
      const prepared = await prepareCommit(this.#context, request);
      if (verbose) await this.#transactor.write(graphText(this.#context.graph));
      return prepared;
    };
    return this.#transactInTurn('NBTransaction', prepare, (task) =>
      this.#queue.addWhenPossible(task),
    );
  }

  async plan(request: PreviewRequest): Promise<Preview> {
    assertPlannable(request);
    return this.#inTurn(
      () => preview(this.#context, request),
      (task) => this.#queue.addIfPossible(task),
    );
  }

  async drift(only?: ReadonlySet<string>): Promise<Drift> {
    this.#ensureDesiredState();
    return this.#inTurn(
      () => readDrift(this.#context, only),
      (task) => this.#queue.addIfPossible(task),
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
    const { graph } = this.#context;
    const node = graph.get(key);
    return node ? statusOf(graph, node.root) : unknownStatus(key);
  }

  statuses(prefix = ''): BaseValueStatus[] {
    return [...this.eachStatus(prefix)];
  }

  *eachStatus(prefix = ''): Generator<BaseValueStatus, void, void> {
    const { graph } = this.#context;
    const unavailable = new UnavailablePrefixes(graph);
    for (const node of graph.stepwise(prefix))
      if (!node.base) yield statusOf(graph, node, unavailable);
  }

  *eachStatusOf(descriptor: AnyDescriptor): Generator<BaseValueStatus, void, void> {
    const { graph } = this.#context;
    const unavailable = new UnavailablePrefixes(graph);
    for (const node of nodesStepwise(graph, descriptor))
      if (!node.base) yield statusOf(graph, node, unavailable);
  }

  *failedValues(): Generator<FailedValue, void, void> {
    const { failed, rejected } = this.#context.graph;
    for (const nodes of [failed, rejected])
      for (const { key, error } of nodes)
        yield { key, error: error ?? new UnimplementedValueError('no descriptor owns the key') };
  }

  retriesOf({ root }: Node): RetryStatus | undefined {
    return this.#retries.statusOf(root);
  }

  get stats(): SchedulerStats {
    return this.#stats.document;
  }

  get load(): Load {
    return {
      queueLength: this.#queue.length,
      queueCapacity: QUEUE_LIMIT,
      isIdle: this.#queue.isIdle,
      ended: this.#queue.ended,
      inFlight: this.#calls.inFlight,
      longestStretch: this.#context.slices.longest,
      historyBytes: this.#history.bytes + this.timeline.bytes,
    };
  }

  async dump(view: View, selector: DumpSelector): Promise<DumpedValue[]> {
    const { graph, registry } = this.#context;
    const descriptor = selectDescriptor(registry, selector);
    if (view !== 'SB') return dumpKnown(graph, descriptor, view, new Slices(this.#clock));
    assertReadable(descriptor);
    return this.#inTurn(
      async () =>
        dumpFound(this.#context, descriptor, await readSouthbound(this.#context, descriptor)),
      (task) => this.#queue.addIfPossible(task),
    );
  }

  validate(key: string, value: Value): void {
    this.#context.registry.tryFind(key)?.validate?.(key, value);
  }

  metadataMap<M>(descriptor: string): NamedMapping<M> | undefined {
    return this.#maps.get(descriptor) as NamedMapping<M> | undefined;
  }

  async close(): Promise<void> {
    this.#ensureOutside();
    this.#retries.cancel();
    await this.#queue.close();
  }

  async #commit(
    request: TransactionRequest,
    enqueue: (task: Task) => void,
  ): Promise<TransactionResult> {
    assertValid(request);
    const prepare = async (): Promise<PreparedTransaction> => {
      const prepared = await prepareCommit(this.#context, request);
      this.#hasDesiredState = true;
      return prepared;
    };
    return this.#transactInTurn('NBTransaction', prepare, enqueue);
  }

  async #transactInTurn(
    type: TxnType,
    prepare: () => Promise<PreparedTransaction>,
    enqueue: (task: Task) => void,
  ): Promise<TransactionResult> {
    const queuedAt = this.#clock.monotonic();
    const work = (): Promise<TransactionResult> => {
      const queuedMs = this.#clock.monotonic() - queuedAt;
      this.#observer.waited(type, queuedMs);
      return this.#transactor.run(prepare, queuedMs);
    };
    const result = await this.#inTurn(work, enqueue);
    this.#observer.committed(this.#clock.monotonic() - queuedAt);
    return result;
  }

  /** Queues the work and returns its result or error. */
  #inTurn<T>(work: () => Promise<T>, enqueue: (task: Task) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#ensureOutside();
      enqueue({ run: () => work().then(resolve, reject), refuse: reject });
    });
  }

  /** Otherwise the configuration that an earlier run has left in place would be deleted. */
  #ensureDesiredState(): void {
    if (!this.#hasDesiredState)
      throw new NoDesiredStateError(
        'the desired state is not known before the first resync; GET /readiness says what it waits for',
      );
  }

  /** The running transaction waits for the descriptor: if that waits for its turn, neither ever ends. */
  #ensureOutside(): void {
    if (this.#calls.isInside)
      throw new SchedulerDeadlockError('a descriptor cannot wait for the scheduler');
  }

  #addIfPossible({ run, refuse }: Task): void {
    this.#queue.addIfPossible({
      run,
      refuse: (error) => {
        if (error instanceof TransactionQueueFullError) this.#observer.dropped();
        refuse(error);
      },
    });
  }

  #retryTask(group: RetryGroup): Task {
    return this.#ownTask('RetryFailedOps', async (queuedMs) => {
      if (await this.#isOfOtherSouthbound(group)) {
        this.#retries.postpone(group);
        return;
      }
      this.#retries.begin(group);
      const prepared = await prepareRetry(this.#context, group);
      if (prepared) await this.#transactor.run(async () => prepared, queuedMs, group);
    });
  }

  /** Metadata of its values belongs to a southbound that was replaced since, of which a resync will read all values. */
  async #isOfOtherSouthbound({ bases }: RetryGroup): Promise<boolean> {
    const { slices, writer } = this.#context;
    for (const { descriptor } of bases) {
      if (slices.due()) await slices.turn();
      if (descriptor && writer.hasOtherIncarnation(descriptor)) return true;
    }
    return false;
  }

  #notificationTask(): Task {
    return this.#ownTask('SBNotification', async (queuedMs) => {
      const pairs = [...this.#reported.values()];
      this.#reported.clear();
      const prepared = await prepareNotification(this.#context, pairs);
      if (prepared) await this.#transactor.run(async () => prepared, queuedMs);
      else await this.#transactor.recordGraph([], this.#clock.now());
    });
  }

  /** A task without a caller that waits for it. */
  #ownTask(type: TxnType, work: (queuedMs: number) => Promise<void>): Task {
    const queuedAt = this.#clock.monotonic();
    return {
      run: () => {
        const queuedMs = this.#clock.monotonic() - queuedAt;
        this.#observer.waited(type, queuedMs);
        return work(queuedMs).catch((thrown: unknown) => {
          // it may have happened before the transaction
          this.#onTransaction(undefined);
          this.#log.error(
            { error: errorText(thrown) },
            'transaction aborted by an unexpected error',
          );
        });
      },
      refuse: () => undefined,
    };
  }
}
