/**
 * Keeps the records of one prefix in the datastore equal to their table while this instance leads.
 *
 * First a sweep: the prefix is listed, and what is missing, different or stale is written. It waits
 * until the table is complete and was refreshed: with a table that is out of date, a new leader would undo what
 * the last one has written. From the revision of the list on, a watch shows what others write there.
 * What differs is written page by page, because the list takes seconds with 150,000 pods; each change of the table as it
 * comes, also meanwhile, and before what the list has shown. A sweep follows again when the table was incomplete meanwhile,
 * and when the watch is lost: etcd was replaced, restored or compacted. After a write without a reply its keys are written again, so nothing depends on
 * whether it took place. Nothing but the keys that differ is held besides the table, however long the
 * datastore is unavailable, and a crash loses nothing: the next leader begins with a sweep.
 */
import type { KvEntry, Revision, Watch } from '#datastore/api.ts';
import { StoreRefusedError } from '#datastore/api.ts';
import { type Leadership, LeadershipLostError } from '#datastore/election.ts';
import { Backoff } from '#infra/clock/backoff.ts';
import type { Clock, Random, Timer } from '#infra/clock/clock.ts';
import { defineError, errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import { Batch, MAX_OPERATIONS, MAX_RECORD_BYTES, recordBytes } from './batch.ts';
import type { RecordCounters } from './counters.ts';
import type { RecordStore } from './record-store.ts';
import { type RecordTable, UNREADABLE, type Wanted } from './record-table.ts';
import { UnexpectedChanges } from './unexpected-changes.ts';
import { type Stored, unknown, WriteQueue } from './write-queue.ts';

/** Transactions on their way at once: the disk of etcd takes them together. */
const WINDOW = 4;
const RETRY = { firstMs: 100, maxMs: 1_000 };

export const RecordTooLargeError = defineError({
  name: 'RecordTooLargeError',
  code: 'CV_KSR_RECORD_TOO_LARGE',
  remedy: 'Make the object smaller, such as a NetworkPolicy with fewer peers, or split it.',
});

/** `waiting`: for a complete table. */
export type SyncState = 'waiting' | 'sweeping' | 'synchronizing' | 'synchronized' | 'closed';

export interface RecordSyncDeps {
  readonly table: RecordTable;
  readonly store: RecordStore;
  readonly leadership: Leadership;
  readonly counters: RecordCounters;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Marks the table incomplete until it shows the state of the API server after this call. */
  readonly refresh: () => void;
  /** After each complete sweep. */
  readonly onSweep?: (seconds: number) => void;
  /** A record was in the datastore, but its object does not exist. */
  readonly onOrphan?: (key: string) => void;
}

export class RecordSync {
  readonly #deps: RecordSyncDeps;
  readonly #queue = new WriteQueue();
  readonly #inFlight = new Map<string, string | undefined>();
  readonly #backoff: Backoff;
  readonly #unexpected: UnexpectedChanges;
  /** `settling`: a sweep begins when no write is on its way. */
  #phase: 'waiting' | 'settling' | 'comparing' | 'swept' | 'closed' = 'waiting';
  /** Keys that have changed since the comparison began. */
  readonly #changedMeanwhile = new Set<string>();
  #batches = 0;
  #maxOperations = MAX_OPERATIONS;
  #isFlushing = false;
  #isIdle = Promise.withResolvers<void>();
  #retry: Timer | undefined;
  #watch: Watch | undefined;
  #problem: string | undefined;
  readonly #tooLarge = new Set<string>();

  constructor(deps: RecordSyncDeps) {
    this.#deps = deps;
    this.#backoff = new Backoff(RETRY, deps.random);
    this.#unexpected = new UnexpectedChanges({
      store: deps.store,
      clock: deps.clock,
      isPending: (key) => this.#queue.has(key) || this.#inFlight.has(key),
      isWanted: (key, text) => this.#isAsWanted(this.#deps.table.get(key), text),
      repair: (key, text) => {
        deps.log.warn({ key }, 'repairing a record that another program has changed');
        this.#queue.add(key, text);
        this.#flushSoon();
      },
    });
  }

  get state(): SyncState {
    if (this.#phase === 'settling' || this.#phase === 'comparing') return 'sweeping';
    if (this.#phase !== 'swept') return this.#phase;
    return this.pending === 0 ? 'synchronized' : 'synchronizing';
  }

  /** Keys that differ from the datastore, as far as known. */
  get pending(): number {
    return this.#queue.size + this.#inFlight.size;
  }

  /** Records that are not written because of their size. */
  get tooLarge(): number {
    return this.#tooLarge.size;
  }

  /** Why the last request failed; undefined: it did not. */
  get problem(): string | undefined {
    return this.#problem;
  }

  start(): void {
    this.#deps.table.listen(
      (key, before) => this.#changed(key, before),
      () => this.#sweepAgain(),
    );
    this.#sweepRefreshed();
  }

  /** Resolves when no request is on its way. */
  async close(): Promise<void> {
    if (this.#phase === 'closed') return;
    this.#phase = 'closed';
    this.#deps.table.listen(
      () => undefined,
      () => undefined,
    );
    this.#retry?.cancel();
    this.#watch?.close();
    this.#unexpected.close();
    this.#queue.clear();
    this.#changedMeanwhile.clear();
    await this.#idle();
  }

  #sweepIfComplete(): void {
    if (this.#phase !== 'waiting' || !this.#deps.table.isComplete) return;
    void this.#sweep();
  }

  /** A table whose watch hangs counts as complete for minutes. */
  #sweepRefreshed(): void {
    this.#deps.refresh();
    this.#sweepAgain();
  }

  #sweepAgain(): void {
    if (this.#phase === 'swept') this.#phase = 'waiting';
    this.#sweepIfComplete();
  }

  async #sweep(): Promise<void> {
    const { clock, counters, log, onSweep } = this.#deps;
    const start = clock.monotonic();
    this.#phase = 'settling';
    this.#watch?.close();
    this.#watch = undefined;
    this.#unexpected.clear();
    await this.#idle();
    if (this.#isClosed) return;
    this.#phase = 'comparing';
    this.#queue.clear();
    this.#changedMeanwhile.clear();
    this.#tooLarge.clear();
    let compared: { readonly revision: Revision; readonly differing: number } | undefined;
    counters.resyncs++;
    try {
      compared = await this.#compare();
    } catch (thrown) {
      counters.resyncErrors++;
      this.#fail(thrown, () => void this.#sweep());
      return;
    }
    if (this.#isClosed) return;
    this.#changedMeanwhile.clear();
    this.#recovered();
    if (compared === undefined) {
      this.#phase = 'waiting';
      this.#sweepIfComplete();
      return;
    }
    this.#phase = 'swept';
    this.#watchFrom(compared.revision);
    const seconds = (clock.monotonic() - start) / 1000;
    const { prefix, size } = this.#deps.table;
    const { differing } = compared;
    log.info({ prefix, records: size, differing, seconds }, 'compared the records');
    onSweep?.(seconds);
    this.#flushSoon();
  }

  /**
   * Collects the keys that differ. The table may change meanwhile: for such a key, the list counts as what a watch shows.
   * @returns undefined: the table was incomplete meanwhile
   */
  async #compare() {
    const { table, store, onOrphan } = this.#deps;
    const listed = new Set<string>();
    let differing = 0;
    const compare = (key: string, wanted: Wanted, stored: string | undefined) => {
      if (this.#changedMeanwhile.has(key)) this.#seen(key, stored);
      else if (!this.#isAsWanted(wanted, stored)) {
        differing++;
        this.#queue.add(key, stored);
      }
    };
    let isComplete = table.isComplete;
    const revision = await store.pages(table.prefix, (page: readonly KvEntry[]) => {
      isComplete &&= table.isComplete;
      for (const { key, value } of page) {
        const wanted = table.get(key);
        if (wanted === undefined && isComplete) onOrphan?.(key);
        listed.add(key);
        compare(key, wanted, value);
      }
      this.#flushSoon();
    });
    for (const key of table.keys()) if (!listed.has(key)) compare(key, table.get(key), undefined);
    return isComplete && table.isComplete ? { revision, differing } : undefined;
  }

  #watchFrom(revision: Revision): void {
    const { store, table, log } = this.#deps;
    this.#watch = store.watch(table.prefix, revision, {
      onChanges: (changes) => {
        for (const { key, value } of changes) this.#seen(key, value);
      },
      onLost: (reason) => {
        log.warn(
          { prefix: table.prefix, reason: errorText(reason) },
          'comparing all records again',
        );
        this.#sweepRefreshed();
      },
    });
  }

  /**
   * The watch shows a write, or a list does, of a key that has changed meanwhile: one of this instance, maybe an earlier
   * one, or of another program.
   */
  #seen(key: string, text: string | undefined): void {
    if (this.#inFlight.has(key)) {
      if (this.#inFlight.get(key) !== text) this.#unexpected.suspect(key);
      return;
    }
    if (this.#queue.has(key)) {
      if (this.#queue.stored(key) !== text) this.#queue.add(key, unknown);
      return;
    }
    if (!this.#isAsWanted(this.#deps.table.get(key), text)) this.#unexpected.suspect(key);
  }

  #isAsWanted(wanted: Wanted, text: string | undefined): boolean {
    // Without a complete table a missing object proves nothing.
    if (wanted === undefined && !this.#deps.table.isComplete) return true;
    return wanted === UNREADABLE || wanted === text;
  }

  #changed(key: string, before: Wanted): void {
    if (this.#phase === 'waiting') return;
    this.#tooLarge.delete(key);
    const isKnown = this.#phase === 'swept' && before !== UNREADABLE;
    // A text in flight counts as stored: if its write fails, the key becomes unknown.
    this.#queue.addChanged(key, isKnown ? before : unknown);
    if (this.#phase === 'comparing') this.#changedMeanwhile.add(key);
    this.#flushSoon();
  }

  /** Not at once: changes that come together are written together. */
  #flushSoon(): void {
    if (this.#isFlushing || !this.#mayWrite || this.#retry) return;
    this.#isFlushing = true;
    queueMicrotask(() => {
      this.#isFlushing = false;
      this.#flush();
    });
  }

  get #isClosed(): boolean {
    return this.#phase === 'closed';
  }

  get #mayWrite(): boolean {
    return this.#phase === 'comparing' || this.#phase === 'swept';
  }

  #flush(): void {
    while (this.#mayWrite && this.#batches < WINDOW && !this.#retry) {
      const batch = this.#nextBatch();
      if (batch.entries.size === 0) {
        if (this.pending === 0) this.#recovered();
        return;
      }
      void this.#write(batch.entries);
    }
  }

  #nextBatch(): Batch {
    const batch = new Batch(this.#maxOperations);
    // others must not wait for the refused ones; an etcd that is full refuses all but deletions
    const queue = this.#queue;
    if (queue.hasRefused) {
      this.#fill(batch, (key, wanted) => wanted === undefined && !queue.isRefused(key));
      if (batch.entries.size === 0) this.#fill(batch, (key) => !queue.isRefused(key));
    }
    if (batch.entries.size === 0) this.#fill(batch, () => true);
    for (const [key, text] of batch.entries) this.#inFlight.set(key, text);
    return batch;
  }

  #fill(batch: Batch, isNext: (key: string, wanted: Wanted) => boolean): void {
    const queue = this.#queue;
    for (const key of queue.keys()) {
      // the order of a key's writes is kept: one at a time
      if (this.#inFlight.has(key)) continue;
      const wanted = this.#deps.table.get(key);
      if (!isNext(key, wanted)) continue;
      const isNeedless = wanted === UNREADABLE || wanted === queue.stored(key);
      if (isNeedless || this.#isTooLarge(key, wanted)) {
        queue.drop(key);
        continue;
      }
      if (!batch.add(key, wanted)) break;
    }
  }

  #isTooLarge(key: string, text: string | undefined): boolean {
    const bytes = recordBytes(key, text);
    if (bytes <= MAX_RECORD_BYTES) return false;
    this.#tooLarge.add(key);
    const err = new RecordTooLargeError(
      `the record has ${bytes} bytes, etcd takes ${MAX_RECORD_BYTES}; its former text stays`,
      { where: key },
    );
    this.#deps.log.error({ key, err }, 'cannot write a record');
    return true;
  }

  async #write(entries: ReadonlyMap<string, string | undefined>): Promise<void> {
    this.#batches++;
    const before = new Map<string, Stored>();
    for (const key of entries.keys()) before.set(key, this.#queue.take(key));
    try {
      await this.#deps.leadership.putAll(entries);
      this.#batchEnded(entries);
      for (const key of entries.keys()) this.#queue.setAccepted(key);
      this.#count(entries, before, 'done');
      this.#maxOperations = Math.min(MAX_OPERATIONS, this.#maxOperations * 2);
      this.#recovered();
      this.#flushSoon();
    } catch (thrown) {
      this.#batchEnded(entries);
      this.#count(entries, before, 'failed');
      if (this.#phase === 'closed') return;
      for (const key of entries.keys()) this.#queue.addFailed(key);
      const isRefused = thrown instanceof StoreRefusedError;
      if (isRefused) this.#maxOperations = 1;
      const [[key, text] = []] = entries;
      // which of several records was refused shows when they are tried one by one
      const isKnown = isRefused && entries.size === 1 && key !== undefined;
      // unless it has another text meanwhile
      if (isKnown && this.#deps.table.get(key) === text) this.#queue.setRefused(key);
      // the sweep in progress writes it at its end, and retries by itself
      if (this.#phase === 'comparing') return;
      if (isRefused && !isKnown) this.#retryLater(() => this.#flushSoon());
      else this.#fail(thrown, () => this.#flushSoon(), isRefused ? key : undefined);
    }
  }

  #batchEnded(entries: ReadonlyMap<string, string | undefined>): void {
    this.#batches--;
    for (const key of entries.keys()) this.#inFlight.delete(key);
    if (this.#batches > 0) return;
    this.#isIdle.resolve();
    this.#isIdle = Promise.withResolvers<void>();
  }

  #count(
    entries: ReadonlyMap<string, string | undefined>,
    before: ReadonlyMap<string, Stored>,
    outcome: 'done' | 'failed',
  ): void {
    const { counters } = this.#deps;
    const isDone = outcome === 'done';
    for (const [key, text] of entries) {
      if (text === undefined) counters[isDone ? 'deletes' : 'deleteErrors']++;
      else if (before.get(key) === undefined) counters[isDone ? 'adds' : 'addErrors']++;
      else counters[isDone ? 'updates' : 'updateErrors']++;
    }
  }

  /**
   * Retries later; the loss of the leadership ends everything, and is handled by its owner.
   * @param key of the only record that was refused
   */
  #fail(thrown: unknown, again: () => void, key?: string): void {
    if (this.#phase === 'closed' || thrown instanceof LeadershipLostError) return;
    const { log, table } = this.#deps;
    const reason = errorText(thrown);
    if (reason !== this.#problem)
      log.warn(
        { prefix: table.prefix, ...(key !== undefined && { key }), reason },
        'cannot write records; trying again',
      );
    this.#problem = reason;
    this.#retryLater(again);
  }

  #retryLater(again: () => void): void {
    this.#retry?.cancel();
    this.#retry = this.#deps.clock.timer(this.#backoff.next(), () => {
      this.#retry = undefined;
      again();
    });
  }

  /** The problem lasts until nothing is left to write: it may concern one record of many. */
  #recovered(): void {
    if (this.pending === 0) this.#problem = undefined;
    if (!this.#retry) this.#backoff.reset();
  }

  async #idle(): Promise<void> {
    if (this.#batches > 0) await this.#isIdle.promise;
  }
}
