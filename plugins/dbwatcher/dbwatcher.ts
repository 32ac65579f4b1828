import type { KvEntry, KvStore } from '#datastore/api.ts';
import type { Clock, Random, Timer } from '#infra/clock/clock.ts';
import { type DurationValue, durationMs } from '#infra/config/duration.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { ReportState } from '#infra/status/status.ts';
import { ClosedControllerError, EventLoopIsAbortingError } from '#plugins/controller/api/errors.ts';
import type { Event, EventOrigin } from '#plugins/controller/api/event.ts';
import type { EventLoop } from '#plugins/controller/api/event-handler.ts';
import {
  DATASTORE_SOURCE,
  DbResync,
  ExternalConfigChange,
  KubeStateChange,
} from '#plugins/controller/api/events.ts';
import {
  ClosedWatcherError,
  DatabaseUnavailableError,
  type DbStatus,
  type DbWatcher,
  ResyncRequestQueueFullError,
} from './api.ts';
import { KeySpace } from './key-space.ts';
import { type Difference, LastKnownState } from './last-known-state.ts';
import { Mirror } from './mirror.ts';
import { RetryTimer } from './retry-timer.ts';
import {
  decodeEntries,
  entriesOf,
  type ResyncContent,
  readSnapshots,
  type Snapshots,
} from './snapshot.ts';
import { SnapshotComparison } from './snapshot-comparison.ts';
import { StoreProbe } from './store-probe.ts';
import { WatchSession } from './watch-session.ts';

/** Maximum number of pending resync requests. */
const MAX_REQUESTS = 10;
/** Changes that are processed per slice. */
const SLICE = 64;
/** Delay before a resync from the mirror is retried that the event loop rejected. */
const MIRROR_RETRY_MS = 1_000;

export interface DbWatcherDeps {
  readonly loop: Pick<EventLoop, 'push'>;
  /** The store that is watched; in embedded mode the only one. */
  readonly cluster: KvStore;
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
  /** State of the connection to the store; affects readiness, never liveness. */
  readonly reportState: ReportState;
}

export function createDbWatcher(deps: DbWatcherDeps): DbWatcher {
  return new Watcher(deps);
}

type Source = DbStatus['source'];

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
  readonly #timers = new Map<string, Timer>();
  #lastKnown: LastKnownState;
  #session: WatchSession | undefined;
  #connected = false;
  #source: Source = 'none';
  #error: string | undefined;
  #resyncs = 0;
  #missedChanges = 0;
  #resyncPending = false;
  #mirrorResyncPending = false;
  #comparisonPending = false;
  /** Number of external requests that the next resync fulfills. */
  #requests = 0;
  /** The current resync, or the one to be retried, fulfills an external request. */
  #answersRequest = false;
  #closed = false;
  #wake: () => void = () => undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(deps: DbWatcherDeps) {
    const { cluster, mirror, clock, random, log, config } = deps;
    this.#deps = deps;
    this.#keySpace = new KeySpace(deps.agentPrefix);
    this.#lastKnown = new LastKnownState(this.#keySpace, log);
    this.#mirror = mirror && new Mirror(mirror, clock, log);
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
      source: this.#source,
      watching: this.#session !== undefined,
      error: this.#error,
      resyncs: this.#resyncs,
      missedChanges: this.#missedChanges,
      broken: this.#lastKnown.broken,
      mirrorError: this.#mirror?.error,
    };
  }

  start(): void {
    this.#running = this.#run();
    this.#probe.start();
    if (this.#mirror)
      this.#timer('mirror', durationMs(this.#deps.config.delayLocalResync), () => {
        this.#mirrorResyncPending = true;
      });
  }

  requestResync(): void {
    if (this.#closed) throw new ClosedWatcherError('dbWatcher was closed');
    if (!this.#connected)
      throw new DatabaseUnavailableError(this.#error ?? 'the database has not answered yet', {
        where: this.#deps.cluster.name,
      });
    if (this.#requests >= MAX_REQUESTS)
      throw new ResyncRequestQueueFullError('queue with resync requests is full');
    this.#requests++;
    this.#retryTimer.cancel();
    this.#scheduleResync('resync requested');
  }

  async close(): Promise<void> {
    this.#stop();
    await this.#running;
    await this.#mirror?.close();
  }

  #stop(): void {
    this.#closed = true;
    this.#probe.close();
    this.#retryTimer.cancel();
    for (const timer of this.#timers.values()) timer.cancel();
    this.#closeSession();
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
    if (this.#resyncPending && this.#connected && !this.#retryTimer.waiting)
      return () => this.#resync();
    if (this.#mirrorResyncPending) return () => this.#resyncFromMirror();
    if (session?.hasChanges) return () => this.#processChanges(session);
    if (session && this.#comparisonPending) return () => this.#compare(session);
    return undefined;
  }

  /** A defect of the watcher must neither end the agent nor be retried without a delay. */
  #unexpected(thrown: unknown): void {
    if (this.#closed) return;
    this.#deps.log.error({ err: thrown }, 'unexpected error while watching the datastore');
    this.#fail(errorText(thrown));
    this.#reread('unexpected error', false);
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
    this.#reread('connected', true);
  }

  #disconnect(reason: string): void {
    if (this.#connected || this.#error === undefined)
      this.#deps.log.warn({ reason }, 'datastore is unavailable');
    this.#connected = false;
    this.#closeSession();
    this.#fail(reason);
  }

  /** The last known state may be wrong or cannot be followed: schedules a resync with back-off. */
  #reread(reason: string, immediate: boolean): void {
    this.#closeSession();
    this.#scheduleResync(reason);
    this.#retryTimer.start(immediate, () => this.#wake());
  }

  #scheduleResync(reason: string): void {
    this.#deps.log.debug({ reason }, 'resync scheduled');
    this.#resyncPending = true;
    this.#wake();
  }

  #closeSession(): void {
    this.#session?.close();
    this.#session = undefined;
  }

  #fail(error: string): void {
    this.#error = error;
    this.#deps.reportState('error', error);
  }

  /** @returns whether the event loop accepted the event */
  #push(event: Event): boolean {
    try {
      this.#deps.loop.push(event);
      return true;
    } catch (thrown) {
      if (thrown instanceof ClosedControllerError || thrown instanceof EventLoopIsAbortingError) {
        this.#deps.log.info(
          { reason: thrown.message },
          'event loop is closed; the datastore watcher stops',
        );
        this.#stop();
      } else {
        this.#deps.log.warn({ reason: errorText(thrown) }, 'event loop rejected an event');
      }
      return false;
    }
  }

  async #resync(): Promise<void> {
    this.#answersRequest ||= this.#requests > 0;
    this.#requests = 0;
    this.#resyncPending = false;
    this.#closeSession();
    if ((await this.#readAndApply()) || this.#closed) this.#answersRequest = false;
    else this.#reread('the resync failed', false);
  }

  async #readAndApply(): Promise<boolean> {
    let snapshots: Snapshots;
    try {
      snapshots = await readSnapshots(this.#deps.cluster, this.#keySpace);
    } catch (thrown) {
      if (!this.#closed) this.#fail(errorText(thrown));
      return false;
    }
    return await this.#applySnapshots(snapshots);
  }

  /** Pushes a resync with the snapshots and watches for changes after them. */
  async #applySnapshots(snapshots: Snapshots): Promise<boolean> {
    const { cluster, log, clock } = this.#deps;
    const { known, content } = await decodeEntries(
      entriesOf(snapshots),
      this.#keySpace,
      log,
      clock,
    );
    if (this.#closed) return true;
    // A cluster always has nodes and namespaces. A database without them was wiped; a resync from it
    // would disconnect every pod until the reflector has written them again.
    if (!known.hasReflectedState && this.#lastKnown.hasReflectedState && !this.#answersRequest) {
      const reason = 'the database has lost the state of Kubernetes; keeping the last known state';
      if (this.#error !== reason) log.error(reason);
      this.#fail(reason);
      return false;
    }
    if (!this.#pushResync(known, content, 'store')) return false;
    this.#mirror?.follow(known);
    if (!this.#connected) return true;
    const session: WatchSession = new WatchSession(cluster, snapshots, {
      onChanges: () => this.#wake(),
      onBroken: (reason) => {
        log.warn({ reason }, 'watch lost');
        if (session === this.#session) this.#reread(reason, true);
      },
    });
    this.#session = session;
    this.#error = undefined;
    this.#deps.reportState('ok');
    this.#comparison.reset();
    this.#compareAfter(this.#comparison.intervalMs);
    return true;
  }

  /** At startup only, while the store is unavailable. */
  async #resyncFromMirror(): Promise<void> {
    this.#mirrorResyncPending = false;
    if (this.#source !== 'none' || !this.#mirror) return;
    const { log, clock } = this.#deps;
    try {
      const entries = await this.#mirror.read();
      if (entries.length === 0) {
        log.error('local mirror is empty; waiting for the datastore');
        return;
      }
      const { known, content } = await decodeEntries(entries, this.#keySpace, log, clock);
      if (this.#closed || this.#pushResync(known, content, 'mirror') || this.#closed) return;
      this.#timer('mirror', MIRROR_RETRY_MS, () => {
        this.#mirrorResyncPending = true;
      });
    } catch (thrown) {
      log.error({ reason: errorText(thrown) }, 'cannot read the local mirror');
    }
  }

  #pushResync(known: LastKnownState, content: ResyncContent, source: Source): boolean {
    if (!this.#push(DbResync.event({ local: source === 'mirror', ...content }))) return false;
    this.#lastKnown = known;
    this.#source = source;
    this.#resyncs++;
    return true;
  }

  async #processChanges(session: WatchSession): Promise<void> {
    const changed: string[] = [];
    let count = 0;
    let rejected = false;
    const received = this.#deps.clock.now();
    for (const { key, value, revision } of session.take()) {
      if (++count % SLICE === 0) await this.#deps.clock.turn();
      // A resync in the meantime includes these changes.
      if (!session.isOpen) break;
      const { difference, accept } = this.#lastKnown.prepareChange(key, value);
      if (difference && !this.#push(eventOf(difference, { key, revision, heard: received }))) {
        rejected = true;
        break;
      }
      accept();
      changed.push(key);
    }
    this.#mirror?.changed(changed);
    if (rejected && !this.#closed && session === this.#session)
      this.#reread('the event loop rejected an event', false);
  }

  async #compare(session: WatchSession): Promise<void> {
    this.#comparisonPending = false;
    const { log, clock } = this.#deps;
    let entries: readonly KvEntry[];
    try {
      entries = entriesOf(await readSnapshots(this.#deps.cluster, this.#keySpace));
    } catch (thrown) {
      log.debug({ reason: errorText(thrown) }, 'cannot compare with the datastore');
      if (session.isOpen) this.#compareAfter(this.#comparison.intervalMs);
      return;
    }
    if (!session.isOpen) return;
    const { lost, nextMs } = await this.#comparison.compare(entries, this.#lastKnown, clock);
    if (!session.isOpen) return;
    if (lost.length === 0) {
      this.#compareAfter(nextMs);
      return;
    }
    this.#missedChanges += lost.length;
    log.error({ keys: lost.slice(0, 20), count: lost.length }, 'the watch has missed changes');
    this.#reread('the watch has missed changes', true);
  }

  #compareAfter(ms: number): void {
    this.#timer('compare', ms, () => {
      this.#comparisonPending = true;
    });
  }
}

function eventOf({ watchedKey, previous, current }: Difference, origin: EventOrigin): Event {
  const { resource, key } = watchedKey;
  if (resource !== undefined)
    return KubeStateChange.event({ resource, key, previous, current }, origin);
  const values = { [key]: current ?? null };
  return ExternalConfigChange.event({ source: DATASTORE_SOURCE, values }, origin);
}
