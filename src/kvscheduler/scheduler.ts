/**
 * The key-value scheduler: takes wishes for values, and reports of what the southbound did by
 * itself, one transaction after the other, and makes the southbound what is wished as far as the
 * values' dependencies allow.
 *
 * A transaction goes through: open (sequence number, what to aim at; a resync reads the southbound
 * first), plan, announce (record and text, before the first request is sent), carry out, close
 * (record, history, repetitions, answer).
 */
import type {
  TransactionRequest,
  TransactionResult,
  TransactionSink,
} from '#eventloop/transaction.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import { IndexMap, type NamedMapping } from '#infra/idxmap/idxmap.ts';
import type { Logger } from '#infra/log/log.ts';
import type { AnyDescriptor, NotificationSink, NotifiedValue } from './api.ts';
import {
  assertReadable,
  type DumpedValue,
  type DumpSelector,
  dumpFound,
  dumpKnown,
  selectDescriptor,
  type View,
} from './dump.ts';
import { Graph } from './graph.ts';
import { defaultHistoryLimits, History, type HistoryLimits } from './history.ts';
import {
  aimsOfCommit,
  aimsOfNotification,
  aimsOfRetry,
  assertSensible,
  type Opening,
} from './opening.ts';
import { type Task, TaskQueue } from './queue.ts';
import { type RecordedTxn, timeText } from './record.ts';
import { beginningText, endText } from './recordtext.ts';
import { look } from './refresh.ts';
import { Registry } from './registry.ts';
import { groupRetries, Retries, type RetryGroup } from './retry.ts';
import { type RunAround, TransactionRun } from './run.ts';
import { Slices } from './slices.ts';
import { type BaseValueStatus, statusOf, unknownStatus } from './status.ts';

/** Transactions that may wait for their turn. */
const queueLimit = 200;
const defaultWindow = 100;

export interface SchedulerOptions {
  readonly descriptors: readonly AnyDescriptor[];
  readonly clock: Clock;
  readonly log: Logger;
  /** Operations in flight at once; 1 is the serial reference. Default 100. */
  readonly window?: number;
  readonly history?: Partial<HistoryLimits>;
  /** Gets the text of every transaction: its plan before it runs, its outcome afterwards. */
  readonly writer?: { write(text: string): unknown };
}

export interface Scheduler extends TransactionSink, NotificationSink {
  /**
   * Waits for room in the queue and for the end of the transaction.
   * @throws ErrInvalidTransaction, ErrClosedScheduler
   */
  commit(request: TransactionRequest): Promise<TransactionResult>;
  /** The same, but rejects at once with ErrTxnQueueFull when there is no room. */
  commitIfRoom(request: TransactionRequest): Promise<TransactionResult>;
  record(seqNum: number): RecordedTxn | undefined;
  /** Records of a time window in milliseconds since the epoch, the oldest first. */
  history(since?: number, until?: number): RecordedTxn[];
  /** A key that is not known has the state NONEXISTENT; that of a derived value shows its base. */
  status(key: string): BaseValueStatus;
  /** Status of all base values whose key has the prefix, by key. */
  statuses(prefix?: string): BaseValueStatus[];
  /**
   * @throws ErrUnknownDescriptor, ErrNoRetrieve, ErrClosedScheduler, and for the view SB what the
   * descriptor's `retrieve` throws
   */
  dump(view: View, selector: DumpSelector): Promise<DumpedValue[]>;
  /** In the order in which they are read back. */
  readonly descriptors: readonly AnyDescriptor[];
  /** Run-time data of a descriptor's values by label; undefined: no such descriptor. */
  metadataMap<M = unknown>(descriptor: string): NamedMapping<M> | undefined;
  /** How often a value was looked at so far: what a transaction costs. */
  readonly visits: number;
  /** Ends the running transaction, refuses the others and forgets repetitions. */
  close(): Promise<void>;
}

/** @throws ErrDescriptorExists, ErrTwoDescriptors, ErrRetrieveCycle */
export function createScheduler(options: SchedulerOptions): Scheduler {
  return new KvScheduler(options);
}

class KvScheduler implements Scheduler {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #writer: SchedulerOptions['writer'];
  readonly #around: RunAround;
  readonly #maps = new Map<string, IndexMap<unknown>>();
  readonly #history: History;
  readonly #queue = new TaskQueue(queueLimit);
  readonly #retries: Retries;
  /** What was reported and is not looked at yet; one task stands for all of it. */
  readonly #reported = new Map<string, NotifiedValue>();
  #nextSeqNum = 0;

  constructor(options: SchedulerOptions) {
    const { descriptors, clock, log } = options;
    this.#clock = clock;
    this.#log = log;
    this.#writer = options.writer;
    const registry = new Registry(descriptors);
    for (const { name, metadataFields } of descriptors)
      this.#maps.set(name, new IndexMap(name, log, metadataFields));
    this.#around = {
      registry,
      graph: new Graph(this.#maps),
      window: options.window ?? defaultWindow,
      slices: new Slices(clock),
      log,
    };
    this.#history = new History(clock, { ...defaultHistoryLimits, ...options.history });
    this.#retries = new Retries(clock, (group) => this.#queue.add(this.#retryTask(group)));
  }

  get descriptors(): readonly AnyDescriptor[] {
    return this.#around.registry.descriptors;
  }

  get visits(): number {
    return this.#around.graph.visits;
  }

  commit(request: TransactionRequest): Promise<TransactionResult> {
    return this.#commit(request, (task) => this.#queue.addWhenRoom(task));
  }

  commitIfRoom(request: TransactionRequest): Promise<TransactionResult> {
    return this.#commit(request, (task) => this.#queue.addIfRoom(task));
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
    const { graph } = this.#around;
    const statuses: BaseValueStatus[] = [];
    for (const node of graph.withPrefix(prefix))
      if (!node.base) statuses.push(statusOf(graph, node));
    return statuses;
  }

  async dump(view: View, selector: DumpSelector): Promise<DumpedValue[]> {
    const { graph, registry } = this.#around;
    const descriptor = selectDescriptor(registry, selector);
    if (view !== 'SB') return dumpKnown(graph, descriptor, view);
    assertReadable(descriptor);
    return this.#inTurn(async () =>
      dumpFound(graph, descriptor, await look(this.#around, descriptor)),
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
    assertSensible(request);
    return this.#inTurn(() => this.#transact(() => aimsOfCommit(this.#around, request)), enqueue);
  }

  /** Runs the work when its turn comes and hands its result or error to the caller. */
  #inTurn<T>(
    work: () => Promise<T>,
    enqueue: (task: Task) => void = (task) => this.#queue.add(task),
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      enqueue({ run: () => work().then(resolve, reject), refuse: reject });
    });
  }

  #retryTask(group: RetryGroup): Task {
    return this.#ownTask(async () => {
      const opening = await aimsOfRetry(this.#around, group);
      if (opening) await this.#transact(async () => opening, group);
    });
  }

  #notificationTask(): Task {
    return this.#ownTask(async () => {
      const pairs = [...this.#reported.values()];
      this.#reported.clear();
      const opening = aimsOfNotification(this.#around, pairs);
      if (opening) await this.#transact(async () => opening);
    });
  }

  /** A task that nobody waits for. */
  #ownTask(work: () => Promise<void>): Task {
    return {
      run: () =>
        work().catch((thrown: unknown) =>
          this.#log.error({ error: errorText(thrown) }, 'Transaction broke off'),
        ),
      refuse: () => undefined,
    };
  }

  async #transact(open: () => Promise<Opening>, retried?: RetryGroup): Promise<TransactionResult> {
    const { slices } = this.#around;
    slices.restart();
    const seqNum = this.#nextSeqNum++;
    const start = this.#clock.now();
    const opening = await open();
    const run = new TransactionRun(this.#around, {
      seqNum,
      fromNorth: opening.type === 'NBTransaction',
      retry: opening.retry,
      revert: opening.revert,
      nextAttempt: (retried?.attempt ?? 0) + 1,
      isRetry: retried !== undefined,
    });
    await run.prepare(opening);
    const record = announcement(seqNum, start, opening, retried, run);
    await this.#write(beginningText(record));
    await run.carryOut();
    const stop = this.#clock.now();
    delete record.PreRecord;
    record.Stop = timeText(stop);
    if (run.executed.length > 0) record.Executed = run.executed;
    await this.#write(endText(record));
    await this.#history.add(record, start, stop, slices);
    for (const group of groupRetries(seqNum, run.toRepeat(), retried))
      this.#retries.schedule(group);
    const failures = [...opening.failures, ...run.failures];
    if (failures.length > 0) this.#warn(seqNum, failures);
    return { seqNum, failures };
  }

  #warn(seqNum: number, failures: TransactionResult['failures']): void {
    const texts = failures.map(
      ({ key, operation, error }) => `${key} (${operation}): ${error.message}`,
    );
    this.#log.warn({ seqNum, failures: texts.slice(0, 20), count: texts.length }, 'Values failed');
  }

  async #write(pieces: Iterable<string>): Promise<void> {
    if (!this.#writer) return;
    const { slices } = this.#around;
    for (const piece of pieces) {
      if (slices.due()) await slices.turn();
      this.#writer.write(piece);
    }
  }
}

/** The record as far as it is known before anything is done. */
function announcement(
  seqNum: number,
  start: number,
  { type, resync, description, values, failures }: Opening,
  retried: RetryGroup | undefined,
  { planned }: TransactionRun,
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
