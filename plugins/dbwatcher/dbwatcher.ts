import type { KvStore } from '#datastore/api.ts';
import type { Clock, Random, Timer } from '#infra/clock/clock.ts';
import { type DurationValue, durationMs } from '#infra/config/duration.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { ReportState } from '#infra/status/status.ts';
import type { EventLoop } from '#plugins/controller/api/event-handler.ts';
import {
  ClosedWatcherError,
  DatabaseUnavailableError,
  type DbStatus,
  type DbWatcher,
  type ExternalConfigListener,
  LostKubeStateError,
  type ResyncRequest,
} from './api.ts';
import { KeySpace } from './key-space.ts';
import type { ExternalValues } from './last-known-state.ts';
import { Mirror } from './mirror.ts';
import { PublishedState } from './published-state.ts';
import { type ReadResync, ResyncReader } from './resync-reader.ts';
import { ResyncRequests } from './resync-requests.ts';
import { RetainedRecords } from './retained-records.ts';
import { RetryTimer } from './retry-timer.ts';
import { decodeEntries, type ResyncContent, type Snapshots } from './snapshot.ts';
import { type ComparedPart, SnapshotComparison } from './snapshot-comparison.ts';
import { StoreProbe } from './store-probe.ts';
import { WatchSession } from './watch-session.ts';

/** Delay before a resync from the mirror is retried: the mirror cannot be read, or the event loop rejected it. */
const MIRROR_RETRY_MS = 1_000;

/** Keys in a log line. */
const MAX_LOGGED = 20;

/**
 * Events that may be queued when another change is pushed, and fewer at which the next ones are. The other changes wait
 * where a later one of the same key replaces them, and those of the pods of this node overtake them.
 */
const MAX_QUEUED = 50;
const FEW_QUEUED = 25;
/**
 * With more values of external configuration that wait, everything is read again, for one transaction with all of them. Only
 * this agent does: etcd is not asked by all of them.
 */
const MAX_EXTERNAL = 1000;

/** The event loop, as far as the watcher uses it. */
export interface WatchedLoop extends Pick<EventLoop, 'push'> {
  /** No event is being processed or queued. */
  readonly isIdle: boolean;
  /** Number of queued events. */
  readonly queueLength: number;
  /** Resolves when fewer events than this are queued, or none is accepted any more. */
  whenShorterThan(length: number): Promise<void>;
}

/** Precondition of the first resync. */
export interface StartGate {
  /** The key that is waited for. */
  readonly key: string;
  /** @returns why the first resync must wait */
  blocks(content: ResyncContent): Error | undefined;
}

export interface DbWatcherDeps {
  readonly loop: WatchedLoop;
  /** The store that is watched; in embedded mode the only one. */
  readonly cluster: KvStore;
  /** undefined: the first resync waits for nothing. */
  readonly startGate?: StartGate | undefined;
  readonly nodeName: string;
  /** Store of the mirror alone; undefined if the watched store is local. */
  readonly mirror: KvStore | undefined;
  /** `/vnf-agent/<label>/`; external configuration is below it. */
  readonly agentPrefix: string;
  readonly config: {
    readonly delayLocalResync: DurationValue;
    readonly remoteDBProbingInterval: DurationValue;
    readonly remoteDBCompareInterval: DurationValue;
  };
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly onExternalConfig?: ExternalConfigListener;
  /** Keys in the store of the records of the pods of this node: when many changes wait, theirs are the next. */
  readonly ownPodKeys?: () => Iterable<string>;
  /** State of the connection to the store; affects readiness, never liveness. */
  readonly reportState: ReportState;
}

export function createDbWatcher(deps: DbWatcherDeps): DbWatcher {
  return new Watcher(deps);
}

/**
 * Reads the store, follows its changes and pushes both to the event loop. One task runs at a time;
 * pending tasks are flags, so that a task that is requested twice runs once.
 *
 * A crash within a resync (read, event, watch) loses nothing: the next start reads everything again,
 * and the mirror, which is written asynchronously, contains a consistent past state.
 */
class Watcher implements DbWatcher {
  readonly #deps: DbWatcherDeps;
  readonly #keySpace: KeySpace;
  readonly #mirror: Mirror | undefined;
  readonly #probe: StoreProbe;
  readonly #retryTimer: RetryTimer;
  readonly #comparison: SnapshotComparison;
  readonly #requests = new ResyncRequests();
  readonly #retained: RetainedRecords;
  readonly #reader: ResyncReader;
  readonly #published: PublishedState;
  readonly #timers = new Map<string, Timer>();
  #session: WatchSession | undefined;
  #connected = false;
  #error: string | undefined;
  #missedChanges = 0;
  /** Why the mirror could not be read for a resync. */
  #mirrorReadError: string | undefined;
  #resyncPending = false;
  #mirrorResyncPending = false;
  #comparisonPending = false;
  #isReading = false;
  /** The event loop has much to do: it says when it has less. */
  #isLoopBusy = false;
  #closed = false;
  /** Ends the wait for a read: it may last as long as a busy etcd, and ends with the store. */
  #endRead: (reason: Error) => void = () => undefined;
  #wake: () => void = () => undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(deps: DbWatcherDeps) {
    const { loop, cluster, mirror, clock, random, log, config } = deps;
    this.#deps = deps;
    this.#keySpace = new KeySpace(deps.agentPrefix);
    this.#retained = new RetainedRecords(deps.nodeName);
    this.#mirror = mirror && new Mirror({ store: mirror, loop, clock, log });
    this.#reader = new ResyncReader({
      cluster,
      mirror: this.#mirror,
      keySpace: this.#keySpace,
      retained: this.#retained,
      clock,
      log,
    });
    this.#published = new PublishedState({
      loop: deps.loop,
      onLoopClosed: () => this.#stop(),
      onExternalConfig: deps.onExternalConfig,
      keySpace: this.#keySpace,
      retained: this.#retained,
      mirror: this.#mirror,
      clock,
      log,
    });
    this.#retryTimer = new RetryTimer(clock, random);
    this.#comparison = new SnapshotComparison(this.#keySpace, random, {
      intervalMs: durationMs(config.remoteDBCompareInterval),
      graceMs: durationMs(config.remoteDBProbingInterval),
    });
    this.#probe = new StoreProbe(cluster, clock, durationMs(config.remoteDBProbingInterval), {
      onUp: () => this.#connect(),
      onDown: (reason) => this.#disconnect(errorText(reason)),
    });
  }

  get status(): DbStatus {
    return {
      connected: this.#connected,
      source: this.#published.source,
      reading: this.#isReading,
      watching: this.#connected && this.#session !== undefined,
      error: this.#error,
      resyncs: this.#published.resyncs,
      missedChanges: this.#missedChanges,
      broken: this.#published.lastKnown.broken,
      unknownFields: this.#published.lastKnown.unknownFields.size,
      retained: this.#retained.size,
      pendingChanges: this.#session?.pending.size ?? 0,
      mirrorError: this.#mirror?.error,
    };
  }

  externalValues(): ExternalValues | undefined {
    const { source, lastKnown } = this.#published;
    return source === 'store' ? lastKnown.externalValues : undefined;
  }

  start(): void {
    this.#running = this.#run();
    this.#probe.start();
    if (this.#mirror)
      this.#timer('mirror', durationMs(this.#deps.config.delayLocalResync), () => {
        this.#mirrorResyncPending = true;
      });
  }

  async requestResync(request: ResyncRequest): Promise<void> {
    if (this.#closed) throw new ClosedWatcherError('dbWatcher was closed');
    if (!this.#connected) throw this.#unavailable();
    const ended = this.#requests.add(request);
    this.#scheduleResync('resync requested');
    await ended;
  }

  async close(): Promise<void> {
    this.#stop();
    await this.#running;
    await this.#mirror?.close();
  }

  #stop(): void {
    this.#closed = true;
    this.#endRead(new ClosedWatcherError('dbWatcher was closed'));
    this.#probe.close();
    this.#retryTimer.cancel();
    for (const timer of this.#timers.values()) timer.cancel();
    this.#closeSession();
    this.#requests.take().end(new ClosedWatcherError('dbWatcher was closed'));
    this.#wake();
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      const task = this.#nextTask();
      if (!task) await woken;
      else await task().catch((thrown) => this.#unexpected(thrown));
    }
  }

  #nextTask(): (() => Promise<void>) | undefined {
    const session = this.#session;
    const isDue = !this.#retryTimer.waiting || !this.#requests.isEmpty;
    if (this.#resyncPending && this.#connected && isDue)
      return () => this.#reading(() => this.#resync());
    if (this.#mirrorResyncPending) return () => this.#reading(() => this.#resyncFromMirror());
    if (session && this.#connected && this.#retained.isOver(this.#deps.clock.monotonic()))
      return () => this.#dropRetained();
    if (session && session.pending.size > 0 && this.#loopHasRoom())
      return () => this.#processChanges(session);
    if (session && this.#comparisonPending) return () => this.#compare(session);
    return undefined;
  }

  #loopHasRoom(): boolean {
    const { loop } = this.#deps;
    if (loop.queueLength < FEW_QUEUED) return true;
    if (this.#isLoopBusy) return false;
    this.#isLoopBusy = true;
    void loop.whenShorterThan(FEW_QUEUED).then(() => {
      this.#isLoopBusy = false;
      this.#wake();
    });
    return false;
  }

  /** A defect of the watcher must neither end the agent nor be retried without a delay. */
  #unexpected(thrown: unknown): void {
    if (this.#closed) return;
    this.#deps.log.error({ err: thrown }, 'unexpected error while watching the datastore');
    this.#fail(errorText(thrown));
    this.#reread('unexpected error');
  }

  /** Sets the flag of a task after a delay. */
  #timer(name: string, ms: number, setFlag: () => void): void {
    this.#timers.get(name)?.cancel();
    const timer = this.#deps.clock.timer(ms, () => {
      setFlag();
      this.#wake();
    });
    this.#timers.set(name, timer);
  }

  #connect(): void {
    this.#connected = true;
    this.#deps.log.info({ store: this.#deps.cluster.name }, 'connected to the datastore');
    // The watches resume where they were, or are lost: then their database or its history is another one. What
    // the database may have got back since its loss is read before the rest is given up.
    if (this.#session && this.#retained.size === 0) this.#follows();
    else this.#reread('connected', this.#spread);
  }

  #disconnect(reason: string): void {
    if (this.#connected || this.#error === undefined)
      this.#deps.log.warn({ reason }, 'datastore is unavailable');
    this.#connected = false;
    this.#fail(reason);
    // a read that has begun ends its requests itself
    this.#requests.take().end(this.#unavailable());
  }

  #unavailable(): Error {
    return new DatabaseUnavailableError(this.#error ?? 'the database has not answered yet', {
      where: this.#deps.cluster.name,
    });
  }

  /**
   * The last known state may be wrong or cannot be followed: schedules a resync with back-off.
   * @param firstMs delay of the first one; default: that of the back-off
   */
  #reread(reason: string, firstMs?: number): void {
    this.#closeSession();
    this.#scheduleResync(reason);
    this.#retryTimer.start(firstMs, () => this.#wake());
  }

  /** A random part of the time in which all agents can read: what makes one of them read makes all. */
  get #spread(): number {
    return this.#published.lastKnown.readAllMs * this.#deps.random.next();
  }

  #scheduleResync(reason: string): void {
    this.#deps.log.debug({ reason }, 'resync scheduled');
    this.#resyncPending = true;
    this.#wake();
  }

  #closeSession(): void {
    this.#session?.close();
    this.#session = undefined;
    this.#comparisonPending = false;
  }

  #fail(error: string): void {
    this.#error = error;
    this.#deps.reportState('error', error);
  }

  async #reading(read: () => Promise<void>): Promise<void> {
    this.#isReading = true;
    await read().finally(() => {
      this.#isReading = false;
    });
  }

  async #resync(): Promise<void> {
    const requests = this.#requests.take();
    this.#resyncPending = false;
    this.#closeSession();
    let failure: Error | undefined;
    try {
      failure = await this.#readAndApply(requests.acceptEmpty);
    } catch (thrown) {
      requests.end(thrown as Error);
      throw thrown;
    }
    requests.end(failure);
    const isWatching = this.#session !== undefined;
    if (failure && !isWatching && !this.#closed) this.#reread('the resync failed');
  }

  /** @returns why nothing was pushed */
  async #readAndApply(acceptEmpty: boolean): Promise<Error | undefined> {
    const { source, lastKnown } = this.#published;
    const known = source === 'none' ? undefined : lastKnown;
    let read: ReadResync;
    try {
      read = await this.#unlessClosed(this.#reader.read(known, acceptEmpty));
    } catch (thrown) {
      const error = thrown as Error;
      if (this.#closed) return error;
      if (error instanceof LostKubeStateError && this.#error !== error.message)
        this.#deps.log.error(error.message);
      this.#fail(error.message);
      return error;
    }
    if (this.#closed) return new ClosedWatcherError('dbWatcher was closed');
    const blocked = this.#startBlocked(read.decoded.content);
    if (blocked) {
      if (this.#connected) this.#watch(read.snapshots);
      return blocked;
    }
    const failure = this.#published.resync(read.decoded, 'store', read.acceptedEmpty);
    if (failure) return failure;
    read.accept();
    this.#mirror?.follow(read.decoded.known);
    this.#awaitEndOfRetention();
    if (this.#connected) this.#watch(read.snapshots);
    return undefined;
  }

  async #unlessClosed(read: Promise<ReadResync>): Promise<ReadResync> {
    const closed = Promise.withResolvers<never>();
    this.#endRead = closed.reject;
    try {
      return await Promise.race([read, closed.promise]);
    } finally {
      // it holds what was read
      this.#endRead = () => undefined;
    }
  }

  /** Until the first resync. */
  #startBlocked(content: ResyncContent): Error | undefined {
    return this.#isStarted ? undefined : this.#deps.startGate?.blocks(content);
  }

  get #isStarted(): boolean {
    return this.#published.source !== 'none';
  }

  #awaitEndOfRetention(): void {
    const { log, clock } = this.#deps;
    this.#timers.get('retention')?.cancel();
    if (this.#retained.size === 0) return;
    const ms = this.#retained.end - clock.monotonic();
    log.warn(
      { keys: this.#retained.keys().slice(0, MAX_LOGGED), count: this.#retained.size, ms },
      'the database lacks records; keeping them until the grace period is over',
    );
    this.#timer('retention', ms, () => undefined);
  }

  /** Follows the changes after the snapshots. */
  #watch(snapshots: Snapshots): void {
    const { cluster, clock, log } = this.#deps;
    const session: WatchSession = new WatchSession(cluster, snapshots, clock, {
      // not when it is published: the grace period may be over before
      onHeard: (key) => this.#retained.release(key),
      isKnown: (change) => this.#published.isKnown(change),
      isExternal: (key) => this.#keySpace.isExternal(key),
      onChanges: () => this.#wake(),
      onBroken: (reason) => {
        log.warn({ reason }, 'watch lost');
        if (session === this.#session) this.#reread(reason, this.#spread);
      },
    });
    this.#session = session;
    this.#follows();
  }

  #follows(): void {
    this.#error = undefined;
    this.#deps.reportState('ok');
    this.#comparison.reset();
    this.#compareAfter(this.#comparison.intervalMs);
  }

  /** At startup only, while the store is unavailable. */
  async #resyncFromMirror(): Promise<void> {
    this.#mirrorResyncPending = false;
    if (this.#isStarted || !this.#mirror) return;
    const { log, clock } = this.#deps;
    try {
      const entries = await this.#mirror.read();
      if (entries.length === 0) {
        log.error('local mirror is empty; waiting for the datastore');
        return;
      }
      const decoded = await decodeEntries(entries, this.#keySpace, log, clock);
      if (this.#closed || this.#startBlocked(decoded.content)) return;
      if (!this.#published.resync(decoded, 'mirror')) return;
    } catch (thrown) {
      const reason = errorText(thrown);
      if (reason !== this.#mirrorReadError)
        log.error({ reason }, 'cannot read the local mirror; retrying');
      this.#mirrorReadError = reason;
    }
    if (this.#closed) return;
    this.#timer('mirror', MIRROR_RETRY_MS, () => {
      this.#mirrorResyncPending = true;
    });
  }

  async #processChanges(session: WatchSession): Promise<void> {
    if (!this.#isStarted) {
      const { key: awaited } = this.#deps.startGate!;
      let isAwaited = false;
      for (let next = session.pending.next(); next; next = session.pending.next())
        isAwaited ||= next.key === awaited;
      if (isAwaited) this.#reread('the key that the start waits for has changed', 0);
      return;
    }
    if (session.pending.externalSize > MAX_EXTERNAL) {
      this.#reread(`changes of more than ${MAX_EXTERNAL} values of external configuration wait`, 0);
      return;
    }
    const room = MAX_QUEUED - this.#deps.loop.queueLength;
    if (session.pending.size > room) session.pending.hasten(this.#deps.ownPodKeys?.() ?? []);
    const accepted = await this.#published.change(session, room);
    if (!accepted && !this.#closed && session === this.#session)
      this.#reread('the event loop rejected an event');
  }

  /** The grace period is over: records that the database still lacks are removed. */
  async #dropRetained(): Promise<void> {
    if (!this.#published.dropRetained() && !this.#closed)
      this.#reread('the event loop rejected an event');
  }

  async #compare(session: WatchSession): Promise<void> {
    this.#comparisonPending = false;
    if (!this.#isStarted) return this.#reread('the start waits', 0);
    const { log, clock, cluster } = this.#deps;
    let part: ComparedPart;
    try {
      part = await this.#comparison.read(cluster);
    } catch (thrown) {
      log.debug({ reason: errorText(thrown) }, 'cannot compare with the datastore');
      if (session.isOpen) this.#compareAfter(this.#comparison.intervalMs);
      return;
    }
    if (!session.isOpen) return;
    const { lost, nextMs } = await this.#comparison.compare(
      part,
      this.#published.lastKnown,
      (key) => this.#retained.has(key) || session.pending.has(key),
      clock,
    );
    if (!session.isOpen) return;
    if (lost.length === 0) {
      this.#compareAfter(nextMs);
      return;
    }
    this.#missedChanges += lost.length;
    log.error({ keys: lost.slice(0, 20), count: lost.length }, 'the watch has missed changes');
    this.#reread('the watch has missed changes', 0);
  }

  #compareAfter(ms: number): void {
    this.#timer('compare', ms, () => {
      this.#comparisonPending = true;
    });
  }
}
