import type { KvEntry, KvStore } from '#datastore/api.ts';
import type { Clock, Timer } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { LastKnownState } from './last-known-state.ts';

/** Entries that are processed per slice. */
const SLICE = 1000;
/** Delay before a failed write is retried. */
const RETRY_MS = 10_000;
/** Between two writes: of the changes meanwhile each key is written once, in one batch. */
const INTERVAL_MS = 1_000;
/** How often the mirror looks whether the event loop is idle, and for how long. */
const IDLE_POLL_MS = 100;
const MAX_IDLE_POLLS = 100;

export interface MirrorDeps {
  readonly store: KvStore;
  /** A write delays its work. */
  readonly loop: { readonly isIdle: boolean };
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Copy of the cluster's store on this node, for a start while the cluster's store is unavailable.
 * It is written when the event loop is idle, and at the latest after ten seconds; changes meanwhile are
 * part of the same write or of the next one. Each write is one batch, so a crash leaves a consistent
 * past state.
 */
export class Mirror {
  readonly #store: KvStore;
  readonly #loop: MirrorDeps['loop'];
  readonly #clock: Clock;
  readonly #log: Logger;
  #lastKnown: LastKnownState | undefined;
  /** Keys that must be written. */
  #unwrittenKeys: 'all' | Set<string> = new Set();
  #writing: Promise<void> | undefined;
  #retry: Timer | undefined;
  #error: string | undefined;
  readonly #closing = new AbortController();

  constructor({ store, loop, clock, log }: MirrorDeps) {
    this.#store = store;
    this.#loop = loop;
    this.#clock = clock;
    this.#log = log;
  }

  /** Why the mirror is not up to date; undefined if it is. */
  get error(): string | undefined {
    return this.#error;
  }

  async read(): Promise<readonly KvEntry[]> {
    return (await this.#store.list('')).entries;
  }

  /** Replaces the content of the mirror with this state, and follows it. */
  follow(known: LastKnownState): void {
    this.#lastKnown = known;
    this.#unwrittenKeys = 'all';
    this.#write();
  }

  /** Schedules a write of these keys, whose last known state has changed. */
  changed(keys: Iterable<string>): void {
    if (this.#unwrittenKeys !== 'all') for (const key of keys) this.#unwrittenKeys.add(key);
    this.#write();
  }

  /** Resolves when the current write has ended. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#retry?.cancel();
    await this.#writing;
  }

  #write(): void {
    if (this.#retry) return;
    this.#writing ??= this.#catchUp().finally(() => {
      this.#writing = undefined;
    });
  }

  async #catchUp(): Promise<void> {
    while (this.#lastKnown && (this.#unwrittenKeys === 'all' || this.#unwrittenKeys.size > 0)) {
      await this.#untilLoopIsIdle();
      const behind = this.#unwrittenKeys;
      this.#unwrittenKeys = new Set();
      try {
        await this.#store.putAll(await this.#changesFor(this.#lastKnown, behind));
        if (this.#error !== undefined) this.#log.info('local mirror is up to date again');
        this.#error = undefined;
      } catch (thrown) {
        this.#failed(errorText(thrown));
        return;
      }
      await this.#clock.sleep(INTERVAL_MS, this.#closing.signal).catch(() => undefined);
    }
  }

  /** Not while the mirror is being closed: what is known has to be written then. */
  async #untilLoopIsIdle(): Promise<void> {
    const { signal } = this.#closing;
    for (let polls = 0; polls < MAX_IDLE_POLLS && !this.#loop.isIdle; polls++) {
      if (signal.aborted) return;
      await this.#clock.sleep(IDLE_POLL_MS, signal).catch(() => undefined);
    }
  }

  #failed(error: string): void {
    if (this.#error === undefined)
      this.#log.error({ error }, 'cannot write the local mirror; keeping its last content');
    this.#error = error;
    this.#unwrittenKeys = 'all';
    if (this.#closing.signal.aborted) return;
    this.#retry = this.#clock.timer(RETRY_MS, () => {
      this.#retry = undefined;
      this.#write();
    });
  }

  /** Changes to write. For a value that became invalid, the mirror has the last valid one. */
  async #changesFor(
    known: LastKnownState,
    behind: 'all' | ReadonlySet<string>,
  ): Promise<Map<string, string | undefined>> {
    const changes = new Map<string, string | undefined>();
    if (behind !== 'all') {
      for (const key of behind) {
        const entry = known.get(key);
        if (!entry) changes.set(key, undefined);
        else if (entry.validText !== undefined) changes.set(key, entry.validText);
      }
      return changes;
    }
    let count = 0;
    for (const [key, text] of known.validTexts()) {
      changes.set(key, text);
      if (++count % SLICE === 0) await this.#clock.turn();
    }
    for (const { key, value } of await this.read()) {
      if (++count % SLICE === 0) await this.#clock.turn();
      if (changes.get(key) === value) changes.delete(key);
      // no valid value is known of a key that is invalid since the start: the mirror may have one
      else if (!changes.has(key) && !known.get(key)) changes.set(key, undefined);
    }
    return changes;
  }
}
