import type { Clock, Random, Timer } from '#infra/clock/clock.ts';
import { CodedError } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { KindHandlers, KindWatch, WatchedKind, WatchState } from './api.ts';
import type { ApiClient } from './api-client.ts';
import {
  ApiBusyError,
  ApiNotFoundError,
  ApiResponseError,
  ApiUnreachableError,
  VersionExpiredError,
} from './api-errors.ts';
import { ListReader } from './list-reader.ts';
import { RetryPolicy } from './retry-policy.ts';
import type { WatchEvent } from './watch-event.ts';
import { readWatch } from './watch-reader.ts';

/**
 * The server ends a watch after 60 to 90 s. Only the end that does not come shows that a server hangs: a
 * kube-apiserver sends no bookmarks for a kind that has not changed since its start.
 */
const SHORTEST_WATCH_S = 60;
/** A watch that ends earlier and without news counts as a failure. */
const SHORTEST_UNEVENTFUL_MS = 1000;
/** After so many watches that the server answered with something useless, objects are listed again. */
const MAX_USELESS_WATCHES = 2;
/**
 * After so long without data the server is asked whether it answers: the pause may be its own, or that of the network. If
 * it does, and still no data has come, an interrupted watch has delivered what was missed: the server sends that first. A
 * kind without new changes never reaches the version that the server names.
 */
const CAUGHT_UP_MS = 1000;
/** A connection that lasted so long works. */
const PROVEN_MS = 5000;

export interface KindWatchOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly kind: WatchedKind;
  readonly handlers: KindHandlers;
}

/**
 * Follows the objects of one kind: a list, then watches, each from the resource version at which the one
 * before it ended. A new list is read only when the server does not have the changes since then any more.
 */
export class ApiKindWatch implements KindWatch {
  readonly #options: KindWatchOptions;
  readonly #ending = new AbortController();
  /** Ends the requests of one attempt: of a list or of a watch. */
  #attempt = new AbortController();
  readonly #retry: RetryPolicy;
  #state: WatchState = 'listing';
  #since: number;
  #error: Error | undefined;
  /** Everything up to this version was handed on; undefined: a list is due. */
  #version: string | undefined;
  /** Watches in a row that the server answered with something useless. */
  #uselessWatches = 0;
  #isAbsent = false;
  /** Of the kind; another one follows when the server does not know it. */
  readonly #paths: readonly string[];
  #pathAt = 0;
  /** Paths that the server does not know, since it has answered by one. */
  #unknownPaths = 0;
  /** Whether the handlers know that the objects may be out of date. */
  #isInterrupted = false;
  /** Version of the server after the interruption: a watch that has reached it has delivered what was missed. */
  #missedUntil: string | undefined;
  #caughtUp: Timer | undefined;

  constructor(options: KindWatchOptions) {
    this.#options = options;
    this.#since = options.clock.now();
    this.#retry = new RetryPolicy(options.random);
    this.#paths = [options.kind.path, ...(options.kind.otherPaths ?? [])];
    void this.#run();
  }

  get state(): WatchState {
    return this.#state;
  }

  get since(): number {
    return this.#since;
  }

  get error(): Error | undefined {
    return this.#error;
  }

  refresh(): void {
    if (this.#ending.signal.aborted) return;
    this.#interrupted();
    this.#attempt.abort(new Error('the watch begins again'));
  }

  close(): void {
    const reason = new Error('the watch is closed');
    this.#ending.abort(reason);
    this.#attempt.abort(reason);
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    // No handler is called from inside `watch`.
    await Promise.resolve();
    while (!signal.aborted) {
      this.#attempt = new AbortController();
      let isWatch = false;
      try {
        if (this.#isInterrupted && this.#missedUntil === undefined && this.#version !== undefined)
          await this.#verifyVersion(this.#version);
        this.#version ??= await this.#list();
        isWatch = true;
        await this.#watch(this.#version);
      } catch (thrown) {
        if (this.#attempt.signal.aborted) continue;
        const delay = this.#failed(thrown, isWatch);
        await this.#options.clock.sleep(delay, signal).catch(() => undefined);
      }
    }
  }

  #lists(): ListReader {
    return new ListReader(this.#options.client, this.#path, this.#attempt.signal);
  }

  get #path(): string {
    return this.#paths[this.#pathAt] as string;
  }

  async #list(): Promise<string> {
    const { handlers, clock, log, kind } = this.#options;
    const started = clock.monotonic();
    let count = 0;
    const version = await this.#lists().read({
      began: () => {
        this.#assertOpen();
        this.#isAbsent = false;
        this.#unknownPaths = 0;
        this.#enter('listing');
        count = 0;
        handlers.listing();
      },
      objects: (objects) => {
        this.#assertOpen();
        count += objects.length;
        handlers.changed(objects);
      },
    });
    this.#assertOpen();
    this.#isInterrupted = false;
    handlers.listed();
    const ms = Math.round(clock.monotonic() - started);
    log.info({ kind: kind.kind, objects: count, resourceVersion: version, ms }, 'list is complete');
    return version;
  }

  /** One watch, to the end that the server declares. */
  async #watch(from: string): Promise<void> {
    const { client, clock, random } = this.#options;
    const timeoutSeconds = Math.round(SHORTEST_WATCH_S * (1 + random.next() / 2));
    const request = {
      path: this.#path,
      resourceVersion: from,
      timeoutSeconds,
      signal: this.#attempt.signal,
    };
    let opened: number | undefined;
    const lasted = () => (opened === undefined ? 0 : clock.monotonic() - opened);
    const onOpen = () => {
      opened = clock.monotonic();
      this.#opened();
      this.#resumeIfCaughtUp();
    };
    try {
      await readWatch(client, request, onOpen, (events) => this.#handOn(events));
    } finally {
      this.#awaitNoSilence();
      if (lasted() >= PROVEN_MS) this.#progressed();
    }
    if (lasted() < SHORTEST_UNEVENTFUL_MS && this.#version === from)
      throw new ApiUnreachableError('the watch ended at once', { where: this.#path });
  }

  #opened(): void {
    const { log, kind } = this.#options;
    this.#assertOpen();
    if (this.#error) log.info({ kind: kind.kind }, 'watch is open again');
    this.#error = undefined;
    this.#enter('watching');
  }

  /** At once if the watch has reached the version of the server, otherwise when a server that answers sends no data. */
  #resumeIfCaughtUp(): void {
    this.#awaitNoSilence();
    if (!this.#isInterrupted || this.#attempt.signal.aborted) return;
    if (isAtLeast(this.#version, this.#missedUntil)) this.#resumed();
    else this.#caughtUp = this.#options.clock.timer(CAUGHT_UP_MS, () => this.#resumeIfAnswered());
  }

  #awaitNoSilence(): void {
    this.#caughtUp?.cancel();
    this.#caughtUp = undefined;
  }

  #resumeIfAnswered(): void {
    const { signal } = this.#attempt;
    const silent = this.#caughtUp;
    const isStillSilent = () => !signal.aborted && this.#caughtUp === silent;
    const lists = this.#lists();
    void lists.version().then(
      () => isStillSilent() && this.#resumed(),
      // the watch continues, and the next answer counts
      () => isStillSilent() && this.#resumeIfCaughtUp(),
    );
  }

  #resumed(): void {
    if (this.#attempt.signal.aborted) return;
    this.#isInterrupted = false;
    this.#options.handlers.resumed();
  }

  /** @param events may be empty, when a piece has only a part of an event */
  #handOn(events: readonly WatchEvent[]): void {
    const { handlers } = this.#options;
    const before = this.#version;
    let objects: unknown[] = [];
    const flush = () => {
      if (objects.length > 0) handlers.changed(objects);
      objects = [];
    };
    for (const event of events) {
      if (event.type === 'changed') objects.push(event.object);
      if (event.type !== 'deleted') continue;
      this.#assertOpen();
      flush();
      this.#assertOpen();
      handlers.deleted(event.name);
    }
    this.#assertOpen();
    flush();
    // Only now: events that a handler failed on would be lost.
    this.#version = events.at(-1)?.resourceVersion ?? before;
    if (this.#version !== before) this.#progressed();
    this.#resumeIfCaughtUp();
  }

  /** The API server's database may have been restored: it would report nothing up to the old version. */
  async #verifyVersion(known: string): Promise<void> {
    const present = await this.#lists().version();
    this.#missedUntil = present;
    if (isAtLeast(present, known) !== false) return;
    const { log, kind } = this.#options;
    log.warn({ kind: kind.kind, known, present }, 'resource version went back: listing again');
    this.#version = undefined;
  }

  #progressed(): void {
    this.#uselessWatches = 0;
    this.#retry.progressed();
  }

  #interrupted(): void {
    this.#missedUntil = undefined;
    if (this.#isInterrupted) return;
    this.#isInterrupted = true;
    this.#options.handlers.interrupted();
  }

  /** @returns milliseconds until the next attempt */
  #failed(thrown: unknown, isWatch: boolean): number {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    const isAbsent = error instanceof ApiNotFoundError;
    this.#interrupted();
    if (isWatch && isUseless(error)) this.#uselessWatches++;
    const isListDue =
      isAbsent ||
      error instanceof VersionExpiredError ||
      !(error instanceof CodedError) ||
      this.#uselessWatches >= MAX_USELESS_WATCHES;
    if (isListDue) {
      this.#version = undefined;
      this.#uselessWatches = 0;
    }
    if (isAbsent) this.#pathAt = (this.#pathAt + 1) % this.#paths.length;
    if (isAbsent && ++this.#unknownPaths % this.#paths.length > 0) return 0;
    const delay = this.#retry.delayAfter(error);
    // The history of the server is short: this is no failure unless it repeats.
    if (delay > 0) this.#report(error);
    if (isAbsent && !this.#isAbsent) {
      this.#isAbsent = true;
      this.#options.handlers.absent();
    }
    return delay;
  }

  /** One line for a failure, however often it repeats. */
  #report(error: Error): void {
    const { log, kind } = this.#options;
    const isNew = kindOf(error) !== kindOf(this.#error);
    this.#error = error;
    this.#enter('waiting');
    if (!isNew) return;
    if (error instanceof ApiNotFoundError) log.info({ kind: kind.kind }, 'kind is not installed');
    else log.warn({ kind: kind.kind, err: error }, 'watch is interrupted');
  }

  #enter(state: WatchState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#since = this.#options.clock.now();
  }

  /** @throws the reason of the abort; a handler may close the watch */
  #assertOpen(): void {
    this.#attempt.signal.throwIfAborted();
  }
}

/** undefined: a version is unknown or no number, so that the two cannot be compared. */
function isAtLeast(version = '', other = ''): boolean | undefined {
  const isNumber = /^\d+$/;
  if (!isNumber.test(version) || !isNumber.test(other)) return undefined;
  return BigInt(version) >= BigInt(other);
}

/** Perhaps the server cannot continue from the version. A server that is overloaded names a pause. */
function isUseless(error: Error): boolean {
  return error instanceof ApiResponseError || (error instanceof ApiBusyError && !error.pauseMs);
}

function kindOf(error: Error | undefined): string | undefined {
  return error instanceof CodedError ? error.code : error?.name;
}
